"""Result files of tau-bench as runs of ours: replayed without a model, and graded by our rules.

`drl import tau FILE` starts it. The other parts say who played, as far as that is known; the agent,
its model and the customer are not asked for anything.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from drl.domains.tau.result_file import Result, read_results
from drl.domains.tau.trajectory import turns_of
from drl.domains.tau.world import Scene
from drl.environment.base import Mode
from drl.errors import DataError
from drl.evaluation.console import print_summary
from drl.evaluation.regrading import OtherResult, Published, regrade
from drl.evaluation.regrading_console import print_regrading
from drl.report.html import write_report
from drl.runtime.run_dir import ROLLOUTS, RunDir
from drl.trainer._recorded_rollout import Recorded, RecordedRollout
from drl.trainer._rollouts import NEEDS, cards, roll_out
from drl.trainer.base import Parts, Trainer, chosen
from drl.tree.store import read_trees
from drl.types import JSON, Task

_EXPECTED = "gt_data_hash"
"""Where tau-bench puts the hash of the database that ought to come out."""

_OTHER_RESULTS = "tool_calls_that_differ.jsonl"
_OLDER_DATA = "Where josh-train's code made the file, import it with --data tau1_old."

_Tries = Mapping[tuple[str, int], Result]


@dataclass(kw_only=True)
class TauResultsTrainer(Trainer):
    """Replays the dialogues of a file, and says how often our grade is the published one.

    With `sha256` another file in its place is refused.
    """

    needs = NEEDS
    keeps_trees = True

    file: str
    sha256: str | None

    def run(self, parts: Parts, run_dir: RunDir) -> Mapping[str, JSON]:
        """Replay, grade and compare.

        Raises:
            DataError: the file is damaged, another one, or of other tasks.
        """
        tasks = {task.id: task for task in chosen(parts.dataset).load()}
        tries = by_task(Path(self.file), self._results(), tuple(tasks.values()))
        recorded = {key: _recorded(self.file, result) for key, result in tries.items()}
        trials = 1 + max(trial for _, trial in tries)
        summary = roll_out(replace(parts, rollout=RecordedRollout(recorded)), run_dir, trials)
        mode = chosen(parts.environment).mode
        found = asyncio.run(
            regrade(
                tasks,
                read_trees(run_dir.path / ROLLOUTS),
                {key: _published(result, tasks[key[0]], mode) for key, result in tries.items()},
                chosen(parts.environment),
                chosen(parts.score),
            )
        )
        summary["regrading"] = found.to_json()
        run_dir.write_json("summary.json", summary)
        shown = cards(tuple(tasks.values()), run_dir)
        write_report(run_dir.path / "report.html", parts.name, summary, shown)
        print_summary(summary, run_dir.path, details=True)
        is_older = chosen(parts.dataset).version.startswith("tau1_old")
        file = _keep(found.other_results, run_dir)
        print_regrading(found, file, None if is_older else _OLDER_DATA)
        return summary

    def _results(self) -> list[Result]:
        file = Path(self.file)
        results = read_results(file)
        found = hashlib.sha256(file.read_bytes()).hexdigest()
        if self.sha256 not in (None, found):
            raise DataError(
                f"{file}: is another file than this run began with; bring the old one back, or "
                "import it anew"
            )
        return results


def by_task(file: Path, results: Sequence[Result], tasks: Sequence[Task]) -> _Tries:
    """The results by task id and trial; trials are counted from 0, in the order of their numbers.

    Raises:
        DataError: a result is of no task of these, or of a task of another customer.
    """
    known = {scene.index: (task.id, scene) for task in tasks if (scene := _scene(task))}
    numbers = {trial: n for n, trial in enumerate(sorted({result.trial for result in results}))}
    tries: dict[tuple[str, int], Result] = {}
    for number, result in enumerate(results):
        if result.task_index not in known:
            raise DataError(
                f"{file}: result {number} has task_id {result.task_index}, and the tasks chosen "
                f"are {min(known, default=0)} to {max(known, default=0)}, {len(known)} of them; "
                "name the domain and the split that it was made on"
            )
        task_id, scene = known[result.task_index]
        played = result.info.get("task")
        user = played.get("user_id") if isinstance(played, Mapping) else None
        if user not in (None, scene.user_id):
            raise DataError(
                f"{file}: result {number} is of customer {user}, and task {task_id} is of "
                f"{scene.user_id}; name the domain and the split that it was made on"
            )
        tries[task_id, numbers[result.trial]] = result
    return tries


def _keep(other_results: Sequence[OtherResult], run_dir: RunDir) -> Path | None:
    """The file of calls that give something else here, one a line; None if there is none."""
    if not other_results:
        return None
    lines = (json.dumps(asdict(one), ensure_ascii=False) + "\n" for one in other_results)
    return run_dir.write(_OTHER_RESULTS, "".join(lines))


def _scene(task: Task) -> Scene | None:
    return task.world if isinstance(task.world, Scene) else None


def _recorded(file: str, result: Result) -> Recorded:
    if result.lack is not None:
        return Recorded((), result.lack)
    try:
        turns = turns_of(result.messages)
    except DataError as error:
        where = f"task_id {result.task_index}, trial {result.trial}"
        raise DataError(f"{file}: {where}: {error}") from error
    return Recorded(turns) if turns else Recorded((), "its dialogue holds no turn")


def _published(result: Result, task: Task, mode: Mode) -> Published:
    """The grade, and what tau-bench says of it where it does."""
    reward_info = result.info.get("reward_info")
    info = reward_info.get("info") if isinstance(reward_info, Mapping) else None
    if not isinstance(info, Mapping):
        return Published(result.reward)
    why = {key: value for key, value in info.items() if key != _EXPECTED}
    scene, expected = _scene(task), info.get(_EXPECTED)
    if scene is not None and expected not in (None, scene.gold(mode).digest):
        why["expected_another_database"] = True
    return Published(result.reward, why)
