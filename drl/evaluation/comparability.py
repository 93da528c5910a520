"""Whether two runs may be compared at all: what forbids it, and what a reader should know."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from drl.errors import RunError
from drl.evaluation.run_result import RunResult
from drl.runtime.run_dir import SIDE_KEYS, differences, essence, score_of
from drl.types import JSON

MAX_UNPAIRED = 0.05
"""Share of the tasks that may lack a score in one of the runs. Dialogues do not break at random,
so what is missing could hide a difference of up to this size."""

_MAY_DIFFER = frozenset({"agent", "llm", "name", "seed", "trainer", "miner", "credit"})
"""The policy is `agent` and `llm`. The seed is chance; of the trainer only the trials count here,
which are remarked upon; rows are mined, and credit given, after the play. All else decides what is
played, how far, and how it is graded."""

_PACE = frozenset({"concurrency"})
"""Settings of how fast a run is played."""


def check_versions(runs: Sequence[RunResult]) -> None:
    """Refuse runs on different versions of data, whose numbers never stand in one table.

    Raises:
        RunError: two are known to differ.
    """
    known = [run for run in runs if run.data_version is not None]
    for run in known[1:]:
        if run.data_version != known[0].data_version:
            raise RunError(
                f"{known[0].name} was played on data {known[0].data_version}, and {run.name} on "
                f"{run.data_version}; versions never mix in one table: make both on one version"
            )


def obstacles(base: RunResult, other: RunResult, num_paired: int) -> list[str]:
    """Why a difference between these runs could come of something else than their policies.

    Args:
        num_paired: tasks that have a score in both.
    """
    found: list[str] = []
    if base.kind != other.kind:
        found.append(f"one is a {base.kind}, the other a {other.kind}")
    if base.task_ids != other.task_ids:
        shared = len(base.task_ids & other.task_ids)
        found.append(
            f"task sets differ ({len(base.task_ids)} and {len(other.task_ids)}, {shared} shared)"
        )
    if None in (base.data_version, other.data_version):
        versions = (run.data_version or "unknown" for run in (base, other))
        found.append(f"a data version is unknown ({' and '.join(versions)})")
    for group in _must_agree(base.config, other.config):
        keys = differences(_node(base.config, group), _node(other.config, group), f"{group}.")
        if keys:
            found.append(f"{group} differs ({', '.join(keys[:4])})")
    for run in (base, other):
        if run.num_missing:
            found.append(
                f"{run.name} is not finished ({run.num_missing} rollouts are missing; start its "
                "command again)"
            )
    shared = len(base.task_ids & other.task_ids)
    if shared - num_paired > MAX_UNPAIRED * shared:
        found.append(f"only {num_paired} of {shared} shared tasks have a score in both")
    return found


def remarks(base: RunResult, other: RunResult) -> list[str]:
    """What does not forbid the comparison but belongs beside it."""
    found = list(dict.fromkeys((*base.notes, *other.notes)))
    if base.kind == other.kind != "policy":
        found.append(f"each is a {base.kind}: this is not what their agents do alone")
    if base.num_trials != other.num_trials:
        found.append(f"trials a task differ: {base.num_trials} and {other.num_trials}")
    for run in (base, other):
        if run.num_broken or run.num_unscored:
            found.append(
                f"{run.name}: {run.num_broken} broken and {run.num_unscored} unscored rollouts "
                "are left out"
            )
    if base.code != other.code:
        found.append("the two were made by different code of drl")
    return found


def settings_that_differ(base: RunResult, other: RunResult) -> list[str]:
    """Dotted keys of all settings that make one run another than the other, but for its name.

    Where another plug-in was chosen, its own settings are not listed.
    """
    keys = differences(essence(base.config), essence(other.config))
    swapped = tuple(key.removesuffix("_target_") for key in keys if key.endswith("._target_"))
    return [
        key
        for key in keys
        if key != "name" and (key.endswith("._target_") or not key.startswith(swapped))
    ]


def _must_agree(*configs: Mapping[str, JSON]) -> list[str]:
    """The groups and settings of these configs that have to be the same.

    What evaluations of self-training have of their own stands in the places of other groups when
    it is played.
    """
    names = {name for config in configs for name in config} - _MAY_DIFFER - SIDE_KEYS
    return sorted(name for name in names if not name.startswith("eval_"))


def _node(config: Mapping[str, JSON], group: str) -> JSON:
    """A group's node without what makes no other result; what is not chosen has none."""
    node = essence(score_of(config) if group == "score" else config.get(group))
    if isinstance(node, Mapping):
        return {key: value for key, value in node.items() if key not in _PACE}
    return {} if node is None else node
