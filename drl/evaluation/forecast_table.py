"""A forecast as JSON, and as a table on the terminal."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table

from drl.evaluation.forecast import Forecast, Predicted
from drl.types import JSON

UNKNOWN = "unknown"
_UNITS = ((86400.0, "days"), (3600.0, "hours"), (60.0, "minutes"), (1.0, "seconds"))


def to_json(found: Forecast, unknown: Sequence[str]) -> dict[str, JSON]:
    """The forecast as `estimate.json` holds it; dollars are "unknown" where a price is not known.

    Args:
        found: the forecast.
        unknown: models without a known price.
    """
    calls: dict[str, JSON] = {}
    for (purpose, model), counts in found.counts.items():
        row = {name: _interval(predicted) for name, predicted in counts.items()}
        calls[f"{purpose}: {model}"] = {**row, "usd": _usd(found.usd_by_use[purpose, model])}
    used = {model for _, model in found.counts}
    return {
        "calls": calls,
        "usd": _usd(found.usd),
        "unknown_prices": sorted(used & set(unknown)),
        "spent_usd": UNKNOWN if found.spent_usd is None else round(found.spent_usd, 6),
        "seconds": _interval(found.seconds),
    }


def print_forecast(estimate: Mapping[str, JSON], folder: Path) -> None:
    """The estimate as a table, with what it rests on."""
    table = Table(show_edge=False)
    for column, side in ((str(estimate["name"]), "left"), ("whole run", "right")):
        table.add_column(column, justify=side)  # pyright: ignore[reportArgumentType]
    table.add_column("95 % interval", justify="right")
    for name, row in _items(estimate["calls"]):
        table.add_section()
        for what, value in _items(row):
            _add(table, f"{name}: {what.replace('_', ' ').replace('usd', 'dollars')}", value)
    table.add_section()
    if estimate["calls"]:
        _add(table, "dollars in all", estimate["usd"])
    _add(table, "time", estimate["seconds"], spoken=_duration)
    console = Console(highlight=False, soft_wrap=True)
    console.print(table)
    for line in _remarks(estimate):
        console.print(line, markup=False)
    console.print(f"Estimate: {folder / 'estimate.json'}", markup=False)


def _remarks(estimate: Mapping[str, JSON]) -> list[str]:
    n, num_drawn = _number(estimate["n"]), _number(estimate["n_drawn"])
    lines = [
        f"From n={n:.0f} of {_number(estimate['num_rollouts']):,.0f} rollouts, at "
        f"{_number(estimate['concurrency']):.0f} moves in flight."
    ]
    if n == 1 and estimate["num_rollouts"] != 1:
        lines.append("One task shows no spread, so there is no interval; use --tasks 2 or more.")
    if n < num_drawn:
        lines.append(f"{num_drawn - n:.0f} of the drawn tasks are not in it: broken or not run.")
    if not estimate["calls"]:
        lines.append("No model is asked: 0 requests, no cost but time.")
    unknown = estimate["unknown_prices"]
    if isinstance(unknown, list) and unknown:
        lines.append(
            f"The price of {', '.join(map(str, unknown))} is unknown; say it with "
            f"'+calls.prices={{{unknown[0]}: {{input: DOLLARS, output: DOLLARS}}}}' (per million "
            "tokens)."
        )
    elif estimate["calls"]:
        lines.append(
            f"{_dollars(_number(estimate['spent_usd']))} dollars of it are answered and in the "
            "response cache; the run will not pay them again."
        )
    return lines + _over_budget(estimate)


def _over_budget(estimate: Mapping[str, JSON]) -> list[str]:
    """Whether a budget in the config ends the run before it is done."""
    usd, calls = estimate["usd"], dict(_items(estimate["calls"]))
    tokens = sum(
        _number(_field(row, name, "value"))
        for row in calls.values()
        for name in ("tokens_in", "tokens_out")
    )
    lines = []
    for name, limit, needed in (
        ("usd", estimate["budget_usd"], None if usd == UNKNOWN else _field(usd, "value")),
        ("tokens", estimate["budget_tokens"], tokens),
    ):
        if limit is not None and needed is not None and _number(needed) > _number(limit):
            share = _number(limit) / _number(needed)
            lines.append(f"calls.budget_{name}={limit} ends the run after about {share:.0%} of it.")
    return lines


def _interval(predicted: Predicted) -> JSON:
    bounds = {"value": predicted.value, "low": predicted.low, "high": predicted.high}
    return {name: None if bound is None else round(bound, 6) for name, bound in bounds.items()}


def _usd(predicted: Predicted | None) -> JSON:
    return UNKNOWN if predicted is None else _interval(predicted)


def _add(
    table: Table, name: str, value: JSON, spoken: Callable[[float], str] | None = None
) -> None:
    if value == UNKNOWN:
        table.add_row(name, UNKNOWN, "")
        return
    say = spoken or (_dollars if name.endswith(("dollars", "in all")) else _count)
    low, high = _field(value, "low"), _field(value, "high")
    bounds = "" if low is None else f"{say(_number(low))} to {say(_number(high))}"
    table.add_row(name, say(_number(_field(value, "value"))), bounds)


def _count(number: float) -> str:
    return f"{number:,.0f}"


def _dollars(number: float) -> str:
    return f"{number:,.2f}" if number >= 1 or number == 0 else f"{number:.2g}"


def _duration(seconds: float) -> str:
    """'2.5 hours': the largest unit that is reached twice."""
    for size, unit in _UNITS:
        if seconds >= 2 * size:
            return f"{seconds / size:.1f} {unit}"
    return f"{seconds:.2f} seconds"


def _items(section: JSON) -> list[tuple[str, JSON]]:
    return list(section.items()) if isinstance(section, Mapping) else []


def _field(value: JSON, *path: str) -> JSON:
    for name in path:
        assert isinstance(value, Mapping), "estimate.json has this form"
        value = value[name]
    return value


def _number(value: JSON) -> float:
    return float(str(value))
