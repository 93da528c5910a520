"""All tasks of a run rolled out side by side into its store, and summed up."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator, Mapping, Sequence

from drl.calls.switchboard import Switchboard
from drl.errors import DataError, RunError
from drl.evaluation.summary import tally
from drl.play.cast import Cast
from drl.report.html import write_report
from drl.report.task_card import TaskCard, card_of
from drl.rollout.base import Rollout
from drl.runtime.config import described
from drl.runtime.progress import ProgressBar, progress_bar
from drl.runtime.run_dir import ROLLOUTS, RunDir, score_of
from drl.trainer._cast import open_switchboard, playing
from drl.trainer._tasks import claim_tasks, data_version
from drl.trainer._workers import attempt, failure_of, work_through
from drl.trainer.base import Parts, chosen
from drl.tree.dialogue_tree import DialogueTree
from drl.tree.store import RolloutStore, read_trees
from drl.types import JSON, Failure, Role, StopReason, Task, Turn

NEEDS = ("dataset", "environment", "agent", "user_simulator", "reward", "rollout")


def roll_out(parts: Parts, run_dir: RunDir, trials: int) -> dict[str, JSON]:
    """Run what is not yet stored, then write `summary.json` and `report.html`; returns the summary.

    Rollouts finish in any order; nothing in a tree depends on that order.
    """
    tasks = claim_tasks(parts, run_dir)
    started = time.perf_counter()
    stopped: RunError | None = None
    with RolloutStore(run_dir.path) as store, open_switchboard(parts, run_dir.path) as board:
        wanted = [(task, trial) for trial in range(trials) for task in tasks]
        missing = [(task, trial) for task, trial in wanted if (task.id, trial) not in store.done]
        run_dir.warn_of_other_code(len(wanted) - len(missing))
        title = f"{parts.name}: rollouts"
        with progress_bar(title, len(wanted), len(wanted) - len(missing)) as bar:
            try:
                asyncio.run(_run_all(parts, missing, store, board, bar))
            except RunError as error:
                stopped = error  # what is finished is summed up all the same
    seconds = time.perf_counter() - started
    summary = _summarise(parts, run_dir, tasks)
    summary["seconds"] = round(run_dir.seconds_so_far() + seconds, 2)
    if board.ledger.totals:
        summary["calls"] = board.ledger.to_json()
    if stopped is not None:
        summary["stopped"] = str(stopped)
    run_dir.write_json("summary.json", summary)
    write_report(run_dir.path / "report.html", parts.name, summary, cards(tasks, run_dir))
    if stopped is not None:
        raise stopped
    causes = summary["error_causes"]
    if summary["n_errors"] == len(wanted) and isinstance(causes, Mapping):
        raise RunError(
            f"all {len(wanted)} rollouts broke, most often so: {next(iter(causes))}; see "
            f"{run_dir.path / 'report.html'}, mend it and start the same command again"
        )
    return summary


async def _run_all(
    parts: Parts,
    missing: Sequence[tuple[Task, int]],
    store: RolloutStore,
    board: Switchboard,
    bar: ProgressBar,
) -> None:
    concurrency = chosen(parts.rollout).concurrency
    async with playing(parts, board, concurrency) as cast:
        await play_all(chosen(parts.rollout), missing, cast, store.append, bar)


async def play_all(
    rollout: Rollout,
    wanted: Sequence[tuple[Task, int]],
    cast: Cast,
    keep: Callable[[DialogueTree], None],
    bar: ProgressBar,
) -> None:
    """Workers take one rollout after the other; as many as moves may be in flight.

    Args:
        rollout: how each (task, trial) is played.
        wanted: those to be played.
        cast: who plays.
        keep: takes each tree when it is there, also one that holds nothing but why it broke.
        bar: is told of each.

    Raises:
        RunError: so many rollouts in a row were lost to outages that going on is vain.
    """

    async def do(job: tuple[Task, int]) -> Failure | None:
        task, trial = job
        result = await attempt(rollout.run(task, trial, cast), "rollout")
        failure = result if isinstance(result, Failure) else None
        tree = _broken(task, trial, result) if isinstance(result, Failure) else result
        try:
            keep(tree)
        except DataError as error:
            keep(_broken(task, trial, failure_of("rollout", error)))
        bar.advance(note=task.id)
        return failure

    await work_through(wanted, do, min(rollout.concurrency, len(wanted)))


def _broken(task: Task, trial: int, failure: Failure) -> DialogueTree:
    """A tree that holds nothing but why there is none."""
    tree = DialogueTree.of(task, trial)
    tree.add(None, Turn(Role.AGENT, "", failure=failure), ()).stop = StopReason.ERROR
    return tree


def _summarise(parts: Parts, run_dir: RunDir, tasks: Sequence[Task]) -> dict[str, JSON]:
    """The tally of the store, with all that a reader needs to compare it with another."""
    is_search = chosen(parts.rollout).is_search
    label = (
        "Search: the best of several dialogues, chosen by looking at the reward; not what the "
        "agent does alone."
        if is_search
        else "Ceiling: the agent is told the goals."
        if chosen(parts.agent).sees_goals
        else "Policy: every task was tried without looking at the reward."
    )
    counts_goals = chosen(parts.reward).closes_goals
    trees = read_trees(run_dir.path / ROLLOUTS)
    return {
        "name": parts.name,
        **tally(tasks, trees, counts_goals=counts_goals).to_json(),
        "floor": chosen(parts.score).floor(tasks, chosen(parts.environment)),
        "search": is_search,
        "label": label,
        "modes": modes(parts),
        "data_version": data_version(parts),
        "seed": parts.seed,
        "command": run_dir.provenance()["command"],
    }


def modes(parts: Parts) -> dict[str, JSON]:
    """The plug-in behind each group, with the settings that decide how it plays."""
    found: dict[str, JSON] = {"environment": chosen(parts.environment).mode}
    groups = ("agent", "user_simulator", "reward", "score", "rollout", "llm", "user_llm")
    for group in groups:
        node = score_of(parts.config) if group == "score" else parts.config.get(group)
        if node is not None:
            found[group] = described(node)
    return found


def cards(tasks: Sequence[Task], run_dir: RunDir) -> Iterator[tuple[TaskCard, DialogueTree]]:
    """What the report shows of every tree that is stored."""
    by_id = {task.id: task for task in tasks}
    for tree in read_trees(run_dir.path / ROLLOUTS):
        yield card_of(by_id[tree.task_id], tree), tree
