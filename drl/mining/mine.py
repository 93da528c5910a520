"""Rows from all trees of all sources: equal ones once, and no output both good and bad."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from hashlib import blake2b

from drl.agent.base import Agent
from drl.errors import ConfigError, DataError
from drl.llm.base import Message
from drl.miner.base import DPORow, Form, Harvest, KTORow, Miner, Row, SFTRow
from drl.mining.source import Source
from drl.tree.dialogue_tree import FULL_SCORE, DialogueTree
from drl.types import JSON


@dataclass(slots=True)
class Counts:
    """What was mined.

    `full_success`: trees whose best dialogue reached all goals. `golden_paths`: dialogues that are
    clean enough to be learned whole. `positives` and `negatives`: outputs that are learned and
    unlearned, each once; of the negatives `conflicts` equal a positive and give no row.
    `duplicates`: rows that were there already. `tasks`: those that gave rows, by split.
    """

    trees: int = 0
    broken: int = 0
    full_success: int = 0
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

    Each iteration mines anew and gives equal rows in equal order. For labels the trees are read
    twice, since a later tree may contradict an earlier one.
    """

    def __init__(
        self, miner: Miner, sources: Sequence[Source], agent: Agent | None, form: Form
    ) -> None:
        self.counts = Counts()
        self._miner = miner
        self._sources = sources
        self._agent = agent
        self._form: Form = form

    def __iter__(self) -> Iterator[Row]:
        """All rows.

        Raises:
            DataError: there is not one, with the reason; a source's trees cannot be read.
        """
        counts = self.counts = Counts()
        good = self._good() if self._form == "kto" else frozenset()
        seen: set[bytes] = set()
        for source, harvest in self._harvests():
            self._count_tree(counts, harvest)
            for row in self._miner.mine(harvest, self._form):
                digest = _digest(row)
                if digest in seen:
                    counts.duplicates += 1
                    continue
                seen.add(digest)
                if _contradicts(row, good):
                    counts.negatives += 1
                    counts.conflicts += 1
                    continue
                _count_row(counts, row)
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

    def _good(self) -> frozenset[bytes]:
        """The hashes of all outputs with their prompts that are labelled good somewhere."""
        rows = (
            row for _, harvest in self._harvests() for row in self._miner.mine(harvest, self._form)
        )
        return frozenset(_digest_output(row) for row in rows if _label(row))

    def _count_tree(self, counts: Counts, harvest: Harvest) -> None:
        counts.trees += 1
        counts.broken += harvest.tree.is_broken
        counts.full_success += _is_full(harvest.tree)
        if "sft" in self._miner.forms:
            counts.golden_paths += sum(1 for _ in self._miner.mine(harvest, "sft"))

    def _why_none(self, counts: Counts) -> str:
        names = ", ".join(source.name for source in self._sources)
        policy = type(self._miner).__name__
        if not counts.full_success:
            return (
                f"{names}: {policy} finds nothing in {counts.trees} trees, none of which reached "
                "all goals; collect more trees, or with an agent or a search that succeeds"
            )
        return (
            f"{names}: {policy} finds no {self._form} rows in {counts.trees} trees, "
            f"{counts.full_success} of which reached all goals; its limits leave nothing, or no "
            "branch beside the golden ones was played to its end: collect with "
            "rollout.resolve_censored=2, or run `drl resample`, or choose another policy"
        )


def mine(miner: Miner, sources: Sequence[Source], agent: Agent | None, form: Form) -> Mined:
    """The rows that a miner finds, written as `agent` writes; None: as each source's own does.

    Raises:
        ConfigError: the miner does not give this form, or the agent speaks through no model.
    """
    if form not in miner.forms:
        raise ConfigError(
            f"miner: {type(miner).__name__} gives no {form} rows, only {', '.join(miner.forms)}; "
            "choose another policy or form"
        )
    for source in sources:
        writer = agent or source.agent
        if not writer.uses_llm:
            raise ConfigError(
                f"agent: {type(writer).__name__}, which is to write the rows of {source.name}, "
                "speaks through no model, so none can learn to write as it does; choose the form "
                "to write in, such as agent=react/compact (drl export: --agent react/compact)"
            )
    return Mined(miner, sources, agent, form)


def _is_full(tree: DialogueTree) -> bool:
    best = tree.best_leaf()
    return best is not None and best.score is not None and best.score >= FULL_SCORE


def _count_row(counts: Counts, row: Row) -> None:
    counts.rows += 1
    if isinstance(row, SFTRow):
        counts.positives += len(row.trained)
    elif isinstance(row, DPORow):
        counts.pairs += 1
    else:
        counts.positives += row.label
        counts.negatives += not row.label


def _label(row: Row) -> bool:
    return isinstance(row, KTORow) and row.label


def _contradicts(row: Row, good: frozenset[bytes]) -> bool:
    """Whether a negative is a positive elsewhere."""
    return isinstance(row, KTORow) and not row.label and _digest_output(row) in good


def _digest(row: Row) -> bytes:
    """What makes a row the same as another: its messages and label, not where it comes from."""
    if isinstance(row, SFTRow):
        return _hash([*row.messages], row.trained)
    if isinstance(row, DPORow):
        return _hash([*row.prompt, row.chosen, row.rejected])
    return _hash([*row.prompt, row.completion], row.label)


def _digest_output(row: Row) -> bytes:
    assert isinstance(row, KTORow), "only these have labels"
    return _hash([*row.prompt, row.completion])


def _hash(messages: Sequence[Message], *more: object) -> bytes:
    text = json.dumps([[message.plain() for message in messages], *more], sort_keys=True)
    return blake2b(text.encode(errors="surrogatepass"), digest_size=16).digest()
