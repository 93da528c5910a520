"""Rows from all trees of all sources: equal ones once, and none that another contradicts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field

from drl.agent.base import Agent
from drl.errors import ConfigError, DataError
from drl.miner.base import DPORow, Form, Harvest, Miner, Row, SFTRow
from drl.mining.choices import lessons
from drl.mining.source import Source
from drl.tree.dialogue_tree import FULL_SCORE, DialogueTree
from drl.types import JSON


@dataclass(slots=True)
class Counts:
    """What was mined.

    `full_success`: trees whose best dialogue reached all goals. `golden_paths`: dialogues that are
    clean enough to be learned whole. `positives` and `negatives`: outputs that are learned and
    unlearned, each once. `pairs`: of outputs, each once. `conflicts` give no row: negatives that
    equal a positive, and pairs that are there the other way round too. `duplicates`: rows that were
    there already. `tasks`: those that gave rows, by split. `choices`: places at which several tries
    were made; in `choices_contrast` one is known to be better than another, and
    `choices_unresolved` are those where cut or broken branches keep it unknown.
    """

    trees: int = 0
    broken: int = 0
    full_success: int = 0
    choices: int = 0
    choices_contrast: int = 0
    choices_unresolved: int = 0
    golden_paths: int = 0
    positives: int = 0
    negatives: int = 0
    conflicts: int = 0
    pairs: int = 0
    duplicates: int = 0
    rows: int = 0
    tasks: dict[str, set[str]] = field(default_factory=dict)

    def to_json(self) -> dict[str, JSON]:
        """The numbers, for people and programs."""
        return asdict(self) | {"tasks": sum(map(len, self.tasks.values()))}


class Mined:
    """The rows, streamed; memory holds hashes only. `counts` are whole once all were seen.

    Each iteration mines anew and gives equal rows in equal order, whatever order the sources have.
    For labels and pairs the trees are read twice, since a later tree may contradict an earlier one.
    """

    def __init__(
        self, miner: Miner, sources: Sequence[Source], agent: Agent | None, form: Form
    ) -> None:
        self.counts = Counts()
        self._miner = miner
        self._sources = sorted(sources, key=lambda source: source.name)
        self._agent = agent
        self.form: Form = form

    def __iter__(self) -> Iterator[Row]:
        """All rows.

        Raises:
            DataError: there is not one, with the reason; a source's trees cannot be read.
        """
        counts = self.counts = Counts()
        all_digests = self._all_digests()
        seen: set[bytes] = set()
        for source, harvest in self._harvests():
            self._count_tree(counts, harvest)
            for row in self._miner.mine(harvest, self.form):
                counts.golden_paths += self.form == "sft"
                digest = row.digest()
                if digest in seen:
                    counts.duplicates += 1
                    continue
                seen.add(digest)
                _count_outputs(counts, row)
                if row.contrary() in all_digests:
                    counts.conflicts += 1
                    continue
                counts.rows += 1
                task_id = row.origin.task_id
                counts.tasks.setdefault(source.split(task_id), set()).add(task_id)
                yield row
        if not counts.rows:
            raise DataError(self._why_none(counts))

    def _harvests(self) -> Iterator[tuple[Source, Harvest]]:
        for source in self._sources:
            for tree in source.trees():
                harvest = Harvest(
                    run=source.name,
                    tree=tree,
                    toolbox=source.toolbox(tree.task_id),
                    agent=self._agent or source.agent,
                    chances=source.chances(tree.task_id, tree.trial),
                )
                yield source, harvest

    def _all_digests(self) -> frozenset[bytes]:
        """Those of all rows, where some may contradict others."""
        if self.form == "sft":
            return frozenset()
        return frozenset(
            row.digest()
            for _, harvest in self._harvests()
            for row in self._miner.mine(harvest, self.form)
        )

    def _count_tree(self, counts: Counts, harvest: Harvest) -> None:
        counts.trees += 1
        counts.broken += harvest.tree.is_broken
        counts.full_success += _is_full(harvest.tree)
        found = lessons(harvest.tree)
        counts.choices += found.total()
        counts.choices_contrast += found["contrast"]
        counts.choices_unresolved += found["unresolved"]
        if self.form != "sft" and "sft" in self._miner.forms:
            counts.golden_paths += sum(1 for _ in self._miner.mine(harvest, "sft"))

    def _why_none(self, counts: Counts) -> str:
        names = ", ".join(source.place for source in self._sources)
        policy = type(self._miner).__name__
        if not counts.full_success:
            return (
                f"{names}: {policy} finds nothing in {counts.trees} trees, none of which reached "
                "all goals; collect more trees, or with an agent or a search that succeeds"
            )
        return (
            f"{names}: {policy} finds no {self.form} rows in {counts.trees} trees, "
            f"{counts.full_success} of which reached all goals; its limits leave nothing, or no "
            "branch beside the golden ones was played to its end: collect with "
            "rollout.resolve_censored=2, or run `drl resample`, or choose another policy"
        )


def mine(miner: Miner, sources: Sequence[Source], agent: Agent | None, form: Form) -> Mined:
    """The rows that a miner finds, written as `agent` writes; None: as each source's own does.

    Raises:
        ConfigError: as `check_mining`.
    """
    check_mining(miner, [agent] if agent else [source.agent for source in sources], form)
    return Mined(miner, sources, agent, form)


def check_mining(miner: Miner, writers: Sequence[Agent], form: Form) -> None:
    """Refuse what gives no rows, whatever the trees.

    Raises:
        ConfigError: the miner does not give this form, or a writer speaks through no model.
    """
    if form not in miner.forms:
        raise ConfigError(
            f"miner: {type(miner).__name__} gives no {form} rows, only {', '.join(miner.forms)}; "
            "choose another policy or form"
        )
    for writer in writers:
        if not writer.uses_llm:
            raise ConfigError(
                f"agent: {type(writer).__name__}, which is to write the rows, speaks through no "
                "model, so none can learn to write as it does; choose the form to write in, such "
                "as agent=react/compact (drl export: --agent react/compact)"
            )


def _is_full(tree: DialogueTree) -> bool:
    best = tree.best_leaf()
    return best is not None and best.score is not None and best.score >= FULL_SCORE


def _count_outputs(counts: Counts, row: Row) -> None:
    if isinstance(row, SFTRow):
        counts.positives += len(row.trained)
    elif isinstance(row, DPORow):
        counts.pairs += 1
    else:
        counts.positives += row.label
        counts.negatives += not row.label
