"""The chance of success behind saved branches of a search: plays them on with fresh customers.

It runs in a folder inside of the run whose trees it reads, with that run's own config but for the
trainer; `drl resample RUN` sees to both. The trees stay as they are.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from drl.calls.switchboard import Switchboard
from drl.errors import ConfigError, RunError
from drl.evaluation.label_error import Branch, Sibling, branches, summarise
from drl.evaluation.label_error_console import print_label_error
from drl.play.cast import Cast
from drl.play.moves import Branch as LiveBranch
from drl.play.moves import together
from drl.runtime.progress import ProgressBar, progress_bar
from drl.runtime.run_dir import ROLLOUTS, RunDir, differences, essence
from drl.runtime.seeds import derive
from drl.runtime.stored_run import StoredRun
from drl.trainer._cast import open_switchboard, playing
from drl.trainer._continuations import FILE_NAME as CONTINUATIONS
from drl.trainer._continuations import ContinuationStore, Replayer
from drl.trainer._rollouts import NEEDS, modes
from drl.trainer._survey import Survey, survey
from drl.trainer._tasks import claim_tasks, data_version
from drl.trainer._workers import work_through
from drl.trainer.base import Parts, Trainer, chosen
from drl.tree.store import read_trees
from drl.types import JSON, Failure, Task

Job = tuple[Replayer, list[int]]
"""A saved branch, and the numbers of the continuations that it lacks."""


@dataclass(kw_only=True)
class ResampleTrainer(Trainer):
    """Plays `continuations` dialogues from each of the agent's tries at places of choice.

    Of each tree `max_nodes` places are drawn, or all. Customers and agents are seeded by `seed`:
    none of them as in the run, and no two continuations alike.
    """

    needs = NEEDS

    continuations: int
    max_nodes: int | None
    seed: int

    def __post_init__(self) -> None:
        """Check the settings."""
        for name, value in (
            ("continuations", self.continuations),
            ("max_nodes", self.max_nodes),
        ):
            if value is not None and value < 1:
                raise ConfigError(f"trainer.{name}={value} must be at least 1; raise it")

    def run(self, parts: Parts, run_dir: RunDir) -> Mapping[str, JSON]:
        """Play what is not yet stored, then say what the labels of the search are worth."""
        source = run_dir.path.resolve().parent
        check_source(source, parts.config)
        _check_data(source, data_version(parts))
        tasks = {task.id: task for task in claim_tasks(parts, run_dir)}
        found = self._survey(source, parts)
        started = time.perf_counter()
        stopped: RunError | None = None
        with (
            ContinuationStore(run_dir.path) as store,
            open_switchboard(parts, run_dir.path) as board,
        ):
            run_dir.warn_of_other_code(store.num_done)
            jobs = self._jobs(parts, source, found, tasks, store)
            todo = sum(not sibling.over for sibling in found.siblings) * self.continuations
            with progress_bar(f"{parts.name}: continuations", todo, store.num_done) as bar:
                try:
                    asyncio.run(_play_all(parts, board, jobs, store, bar))
                except RunError as error:
                    stopped = error  # what is finished is summed up all the same
            known = branches(found.siblings, store.all)
        summary = self._summarise(parts, run_dir, found, known)
        summary["seconds"] = round(run_dir.seconds_so_far() + time.perf_counter() - started, 2)
        if board.ledger.totals:
            summary["calls"] = board.ledger.to_json()
        if stopped is not None:
            summary["stopped"] = str(stopped)
        lines = [json.dumps(branch.to_json(), ensure_ascii=False) + "\n" for branch in known]
        run_dir.write("branches.jsonl", "".join(lines))
        run_dir.write_json("summary.json", summary)
        if stopped is not None:
            raise stopped
        _check_some_played(known, run_dir)
        print_label_error(summary, run_dir.path)
        return summary

    def _survey(self, source: Path, parts: Parts) -> Survey:
        found = survey(
            read_trees(source / ROLLOUTS),
            max_steps=chosen(parts.rollout).max_steps,
            max_nodes=self.max_nodes,
            seed=self.seed,
        )
        if not found.siblings:
            raise RunError(
                f"{source}: none of its {found.num_trees} trees has a place at which the agent was "
                "tried more than once; resample a run that branches, such as one of rollout=josh"
            )
        return found

    def _jobs(
        self,
        parts: Parts,
        source: Path,
        found: Survey,
        tasks: Mapping[str, Task],
        store: ContinuationStore,
    ) -> Iterator[Job]:
        """What is still to be played; trees are read one at a time, when it is their turn."""
        of_tree: dict[tuple[str, int], list[Sibling]] = defaultdict(list)
        for sibling in found.siblings:
            of_tree[sibling.task_id, sibling.trial].append(sibling)
        for tree in read_trees(source / ROLLOUTS):
            for sibling in of_tree[tree.task_id, tree.trial]:
                missing = store.missing(sibling, self.continuations)
                if missing and not sibling.over:
                    replayer = Replayer(
                        tasks[tree.task_id],
                        tree,
                        sibling,
                        seed=derive("resample", parts.seed, self.seed),
                        max_steps=chosen(parts.rollout).max_steps,
                    )
                    yield replayer, missing

    def _summarise(
        self, parts: Parts, run_dir: RunDir, found: Survey, known: Sequence[Branch]
    ) -> dict[str, JSON]:
        """The numbers, with all that a reader needs to know what they are of."""
        return {
            "name": parts.name,
            "n_tasks": len({sibling.task_id for sibling in found.siblings}),
            "n_trees": found.num_trees,
            "n_places": found.num_decisions,
            "n_places_drawn": found.num_drawn,
            "n_tries_broken": found.num_broke,
            "continuations": self.continuations,
            **summarise(known),
            "label": "Search, resampled: saved branches played on with customers and agents that "
            "are seeded anew; success is one more goal reached.",
            "modes": modes(parts),
            "data_version": data_version(parts),
            "seed": parts.seed,
            "command": run_dir.provenance()["command"],
        }


async def _play_all(
    parts: Parts,
    board: Switchboard,
    jobs: Iterator[Job],
    store: ContinuationStore,
    bar: ProgressBar,
) -> None:
    """Branches side by side, and the continuations of each side by side.

    Raises:
        RunError: so many branches in a row were lost to outages that going on is vain.
    """
    concurrency = chosen(parts.rollout).concurrency
    async with playing(parts, board, concurrency) as cast:

        async def do(job: Job) -> Failure | None:
            replayer, numbers = job
            branch = await replayer.rebuild(cast)
            results = await together(
                _finish(replayer, branch, number, cast, store) for number in numbers
            )
            bar.advance(len(numbers))
            failures = [failure for failure in results if failure is not None]
            return failures[0] if len(failures) == len(results) else None

        await work_through(jobs, do, concurrency)


async def _finish(
    replayer: Replayer,
    branch: LiveBranch | Failure,
    number: int,
    cast: Cast,
    store: ContinuationStore,
) -> Failure | None:
    """Play and store one continuation; why it broke, if it did."""
    result = branch if isinstance(branch, Failure) else await replayer.play_on(branch, number, cast)
    if isinstance(result, Failure):
        store.append(replayer.broken(number, result))
        return result
    store.append(result)
    return None


def check_source(source: Path, config: Mapping[str, JSON]) -> None:
    """Refuse a folder that does not hold a run of this config, whatever its trainer.

    Raises:
        RunError: there are no trees, or they were made by others than those who would play on.
    """
    stored = StoredRun(source)
    if stored.lack:
        raise RunError(
            f"{source}: {stored.lack}; resampling runs inside of the run whose trees it plays on: "
            "start it with `drl resample RUN`"
        )
    changed = [
        key
        for key in differences(essence(stored.config), essence(config))
        if key.partition(".")[0] != "trainer"
    ]
    if changed:
        raise RunError(
            f"{source}: was made with another config ({', '.join(changed[:5])} differ), so its "
            "branches cannot be played on as they were; leave those settings as they are there"
        )


def _check_data(source: Path, now: str) -> None:
    before = StoredRun(source).data_version
    if before != now:
        raise RunError(
            f"{source}: was made on data {before}, but {now} is there now; bring the old data back"
        )


def _check_some_played(known: Sequence[Branch], run_dir: RunDir) -> None:
    """Refuse to call it a result if every continuation broke."""
    num_broken = sum(branch.num_broken for branch in known)
    if num_broken and not any(branch.hits for branch in known):
        raise RunError(
            f"all {num_broken} continuations broke; {run_dir.path / CONTINUATIONS} says why; mend "
            "it and start the same command again"
        )
