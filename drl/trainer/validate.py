"""What a benchmark allows at most: replays every task's goal calls, without any model."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rich.table import Table

from drl.evaluation.ceiling import Ceiling, Replay, replay
from drl.evaluation.console import print_summary
from drl.evaluation.intervals import mean_over_tasks, to_json
from drl.runtime.progress import progress_bar
from drl.runtime.run_dir import RunDir
from drl.runtime.table_console import table_console
from drl.trainer._tasks import claim_tasks, data_version
from drl.trainer.base import Parts, Trainer, chosen
from drl.types import JSON


@dataclass(kw_only=True)
class ValidateTrainer(Trainer):
    """Reports the ceiling and every goal that cannot be won, with its cause."""

    needs = ("dataset", "environment")

    def run(self, parts: Parts, run_dir: RunDir) -> Mapping[str, JSON]:
        """Replay all tasks; `unwinnable.json` lists what is missed, task by task."""
        tasks = claim_tasks(parts, run_dir)
        environment = chosen(parts.environment)
        started = time.perf_counter()

        async def replay_all() -> Sequence[Replay]:
            with progress_bar(f"{parts.name}: replays", len(tasks)) as bar:
                replays = []
                for task in tasks:
                    replays.append(await replay(task, environment))
                    bar.advance(note=task.id)
                return replays

        ceiling = Ceiling(tuple(asyncio.run(replay_all())))
        summary = _summarise(parts, ceiling) | {"seconds": round(time.perf_counter() - started, 2)}
        run_dir.write_json("summary.json", summary)
        run_dir.write_json("unwinnable.json", _unwinnable(ceiling))
        print_summary(summary, run_dir.path, details=False)
        _print_missed(ceiling)
        return summary


def _summarise(parts: Parts, ceiling: Ceiling) -> dict[str, JSON]:
    rewards = {r.task_id: [r.reward] for r in ceiling.replays if r.reward is not None}
    full = {task: [float(reward == 1) for reward in trials] for task, trials in rewards.items()}
    return {
        "name": parts.name,
        "n_tasks": len(ceiling.replays),
        "n_scored": len(rewards),
        "n_errors": 0,
        "n_unscored": len(ceiling.replays) - len(rewards),
        "mean_reward": to_json(mean_over_tasks(rewards)),
        "full_success": to_json(mean_over_tasks(full)),
        "missed": {f"{kind}: {cause}": n for (kind, cause), n in ceiling.missed().items()},
        "label": "Ceiling: the goals' own calls, replayed without a model.",
        "modes": {"environment": chosen(parts.environment).mode},
        "data_version": data_version(parts),
    }


def _unwinnable(ceiling: Ceiling) -> dict[str, JSON]:
    return {
        replay.task_id: [{"goal": m.goal, "kind": m.kind, "cause": m.cause} for m in replay.missed]
        for replay in ceiling.replays
        if replay.missed
    }


def _print_missed(ceiling: Ceiling) -> None:
    table = Table("goal", "why it cannot be won", "tasks", show_edge=False)
    for (kind, cause), count in ceiling.missed().items():
        table.add_row(kind, cause, str(count))
    if table.row_count:
        table_console().print(table)
