"""The card beside exported rows: what they are, where they come from, how they were chosen."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from drl.miner.base import Form
from drl.mining.formats import Format
from drl.mining.mine import Counts
from drl.mining.source import Source
from drl.types import JSON

_EVALUATION = ("test", "full_test")
"""Splits that policies are evaluated on."""

_FEW = 0.05
"""Share of bad rows, and of pairs to trees, below which a training of preferences learns little."""

_EXPLAINED = {
    "trees": "trees that were read",
    "broken": "of them broken, which give no rows",
    "full_success": "of them reached all goals",
    "choices": "places in the trees at which several tries were made",
    "choices_contrast": "of them where a try earned a reward and another is known to have failed",
    "choices_unresolved": "of them where cut or broken branches keep it unknown",
    "golden_paths": "dialogues clean enough to be learned whole",
    "positives": "outputs to be learned",
    "negatives": "outputs to be unlearned",
    "conflicts": "negatives that equal a positive, and pairs that another contradicts; dropped",
    "pairs": "pairs of outputs, those dropped included",
    "duplicates": "rows that were there already, and were dropped",
    "rows": "rows in the file",
    "tasks": "tasks that gave them",
}


def evaluation_tasks(counts: Counts) -> str | None:
    """What to know of rows that come of tasks to evaluate on; None where there are no such rows."""
    splits = [split for split in _EVALUATION if counts.tasks.get(split)]
    if not splits:
        return None
    num_tasks = len(set().union(*(counts.tasks[split] for split in splits)))
    return (
        f"rows of {num_tasks} tasks of the {' and '.join(splits)} split: what is learned from them "
        "cannot be evaluated there"
    )


def few_contrasts(counts: Counts, form: Form) -> str | None:
    """What to know of rows that hardly tell better from worse; None where they do, or need not."""
    num_bad = counts.rows - counts.positives
    if form == "kto" and num_bad < _FEW * counts.rows:
        few = f"only {num_bad} of {counts.rows} rows are bad"
    elif form == "dpo" and counts.rows < _FEW * counts.trees:
        few = f"only {counts.rows} pairs came of {counts.trees} trees"
    else:
        return None
    return (
        f"{few}, so there is little to learn from: of {counts.choices} places of choice "
        f"{counts.choices_contrast} have a try that is known to have failed beside a rewarded one, "
        f"and at {counts.choices_unresolved} cut branches keep it unknown; collect with "
        "rollout.resolve_censored=2, run `drl resample` and choose the miner margin (for dpo), or "
        "josh_paper (for kto), to which cut branches are failures"
    )


@dataclass(slots=True)
class Lengths:
    """Lengths of rows in characters, of whole rows: prompt and output."""

    _all: list[int] = field(default_factory=list)

    def add(self, length: int) -> None:
        """One more row."""
        self._all.append(length)

    def to_json(self) -> dict[str, JSON]:
        """The smallest, the middle one, that which 95 % do not exceed, the largest."""
        ordered = sorted(self._all)
        last = len(ordered) - 1
        named = {"min": 0, "median": last // 2, "p95": round(0.95 * last), "max": last}
        return {name: ordered[place] for name, place in named.items()}


@dataclass(frozen=True, kw_only=True)
class Card:
    """All that a card says.

    `policy` and `agent` are names of options, with `settings` the policy's node. `agent` is None
    where each source was written as its own agent writes.
    """

    file: str
    file_format: Format
    policy: str
    settings: Mapping[str, JSON]
    agent: str | None
    sources: Sequence[Source]
    command: str

    def to_markdown(self, counts: Counts, lengths: Lengths, warnings: Sequence[str]) -> str:
        """The text of the card; `warnings` are what to take care of."""
        numbers = counts.to_json()
        made = [f"| {name} | {numbers[name]} | {what} |" for name, what in _EXPLAINED.items()]
        splits = {split: len(tasks) for split, tasks in sorted(counts.tasks.items())}
        settings = {k: v for k, v in self.settings.items() if k != "_target_"}
        sizes = ", ".join(f"{name} {size}" for name, size in lengths.to_json().items())
        return "\n".join(
            [
                f"# {self.file}",
                "",
                f"Rows for fine-tuning in the format `{self.file_format}`, made by",
                "",
                f"    {self.command}",
                "",
                "| what | number | which are |",
                "|---|---:|---|",
                *made,
                "",
                f"- Policy: `{self.policy}`, {_listed(settings)}",
                f"- Written as: {self._written_as()}",
                f"- Tasks by split: {_listed(splits)}",
                *(f"- **Take care:** {warning}" for warning in warnings),
                f"- Length of a row in characters, prompt and output: {sizes}",
                "",
                "Rows of a search are not what its agent does alone: the search saw the rewards.",
                "",
                "## Sources",
                "",
                *(line for source in self.sources for line in _about(source)),
            ]
        )

    def _written_as(self) -> str:
        if self.agent is not None:
            return f"`agent={self.agent}` would have written it"
        names = sorted({type(source.agent).__name__ for source in self.sources})
        return f"its own agent wrote it ({', '.join(names)})"


def _about(source: Source) -> list[str]:
    return [
        f"### {source.name}",
        "",
        f"    {source.command}",
        "",
        f"- Data: {source.data_version}; mode: {source.mode}",
        f"- Simulator: {source.simulator}",
        f"- Model of the agent: {source.llm}",
        "",
    ]


def _listed(named: Mapping[str, JSON]) -> str:
    """Names and values; values as JSON."""
    return ", ".join(f"{k}={json.dumps(v)}" for k, v in named.items()) or "no settings"
