"""The figures of the study as the tables that README shows, and what of the paper's order appears.

A figure is that of one arm of one run: {"value", "low", "high"} by measure. `results` holds them as
results[run][arm][measure].
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, TypeAlias

Figure: TypeAlias = Mapping[str, float]
Results: TypeAlias = Mapping[str, Mapping[str, Mapping[str, Figure]]]

MEASURES: Final = {
    "spearman_hidden": "hidden rewards, within conversations",
    "auroc_positive_within": "AUROC of smiles, within conversations",
    "local_difference_sd": "smiled at less others (sd)",
    "spearman_session": "order of sessions",
    "global_mse": "error of the score",
}
METHODS: Final = ("uniform", "ircr", "rudder", "sum", "rrd", "li", "geli")
FLOORS: Final = ("constant", "turn_length", "turn_index")


def tables(results: Results) -> str:
    """All tables in Markdown."""
    main = results["main"]
    weights = [name for name in main if name.startswith("geli session_weight")]
    return "\n\n".join(
        [
            _table(
                "method", [(name, "main", name) for name in (*FLOORS, *METHODS, "oracle")], results
            ),
            _table("weight of the scores in GELI", _weights(weights), results),
            _table("turns K in one update of RRD", _draws(results), results),
            _table("what reads the turns", _readings(results), results),
            _table("control", _controls(results), results),
            _table("conversations to learn from", _sizes(results), results),
            _order_table(order(results)),
        ]
    )


def order(results: Results) -> list[dict[str, object]]:
    """Which of the paper's order of methods appears; see README.

    `appears`: by the figures. `is_clear`: and no two of the intervals that it is about overlap.
    """
    main = results["main"]
    rrd, geli, li = main["rrd"], main["geli"], main["li"]
    told, local = "global_mse", "local_difference_sd"
    lower = [(rrd[told], main[name][told]) for name in ("ircr", "rudder")]
    others = [main[name][local] for name in METHODS if name != "li"]
    kept = geli[told]["value"] <= 1.05 * rrd[told]["value"]
    poor = li[told], main["constant"][told]
    return [
        _claim("(a) RRD tells scores no worse than IRCR and RUDDER", lower),
        {
            **_claim(
                "(b) GELI smiles with the listener more than RRD", [(rrd[local], geli[local])]
            ),
            "keeps_score_error": kept,
        },
        {
            **_claim("(c) LI does so most", [(other, li[local]) for other in others]),
            "score_error_above_constant": poor[0]["value"] > poor[1]["value"],
        },
    ]


def _claim(words: str, pairs: Sequence[tuple[Figure, Figure]]) -> dict[str, object]:
    """That in each pair the first figure is at most the second."""
    return {
        "claim": words,
        "appears": all(low["value"] <= high["value"] for low, high in pairs),
        "is_clear": all(low["high"] < high["low"] for low, high in pairs),
    }


def _weights(names: Sequence[str]) -> list[tuple[str, str, str]]:
    told = {float(name.partition("=")[2]): name for name in names} | {
        0.0: "li",
        0.5: "geli",
        1.0: "rrd",
    }
    return [(f"{weight:g}", "main", told[weight]) for weight in sorted(told)]


def _draws(results: Results) -> list[tuple[str, str, str]]:
    found = [
        (run.removeprefix("rrd_").replace("_", " "), run, "rrd")
        for run in results
        if run.startswith("rrd_") and run != "rrd_alone"
    ]
    return [*found, ("8", "main", "rrd"), ("all, plain sum", "main", "sum")]


def _readings(results: Results) -> list[tuple[str, str, str]]:
    words = {
        "main": "frozen encoder, 2 turns before",
        "reading": "frozen encoder, 20 turns before, as by default",
        "on_tuned": "encoder that faces trained",
        "on_tuned_started": "and heads that begin with its head",
    }
    arms = ("rrd", "li", "geli")
    rows = [(f"{said}: {arm}", run, arm) for run, said in words.items() for arm in arms]
    return [*rows, ("encoder and head that faces trained: li", "tuned", "li")]


def _controls(results: Results) -> list[tuple[str, str, str]]:
    shuffled = [
        (arm.replace("_", " "), run, arm)
        for run in ("main", "rrd_alone", "li_alone")
        for arm in results[run]
        if "shuffled" in arm
    ]
    words = {
        "no_scores": "no signal in scores",
        "no_faces": "no signal in faces",
        "no_text": "no signal in words",
        "none": "no signal at all",
    }
    arms = ("constant", "rrd", "li", "geli")
    cut = [(f"{said}: {arm}", run, arm) for run, said in words.items() for arm in arms]
    return [*shuffled, *cut]


def _sizes(results: Results) -> list[tuple[str, str, str]]:
    sizes = sorted(int(run.removeprefix("size_")) for run in results if run.startswith("size_"))
    runs = {str(size): f"size_{size}" for size in sizes} | {"all": "main"}
    return [
        (f"{size}: {arm}", run, arm) for size, run in runs.items() for arm in ("rrd", "li", "geli")
    ]


def _table(what: str, rows: Sequence[tuple[str, str, str]], results: Results) -> str:
    lines = [f"| {what} | {' | '.join(MEASURES.values())} |", "|---" * (len(MEASURES) + 1) + "|"]
    for words, run, arm in rows:
        figures = results[run][arm]
        cells = [_cell(figures.get(measure)) for measure in MEASURES]
        lines.append(f"| {words} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _order_table(found: Sequence[Mapping[str, object]]) -> str:
    lines = ["| of the paper's order | appears | clearly | else |", "|---|---|---|---|"]
    for each in found:
        more = [
            f"{key.replace('_', ' ')}: {_yes(value)}"
            for key, value in each.items()
            if key not in ("claim", "appears", "is_clear")
        ]
        cells = [each["claim"], _yes(each["appears"]), _yes(each["is_clear"]), ", ".join(more)]
        lines.append(f"| {' | '.join(map(str, cells))} |")
    return "\n".join(lines)


def _cell(figure: Figure | None) -> str:
    if figure is None:
        return ""
    return f"{figure['value']:.3f} ({figure['low']:.3f} to {figure['high']:.3f})"


def _yes(value: object) -> str:
    return "yes" if value else "no"
