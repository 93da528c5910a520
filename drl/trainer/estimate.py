"""What a run will cost: rolls out a handful of its tasks as it will, and foretells the rest.

The rollouts are the run's own (same seeds), so the run finds their answers in the response cache
and does not pay for them again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from drl.calls.ledger import FILE_NAME as LEDGER
from drl.calls.ledger import Entry, read_entries
from drl.calls.prices import price_of
from drl.errors import RunError
from drl.evaluation.forecast import Forecast, Plan, costs, forecast
from drl.evaluation.forecast_table import print_forecast, to_json
from drl.runtime.lines import LineFile
from drl.runtime.run_dir import ROLLOUTS, RunDir
from drl.runtime.settings import check_positive
from drl.trainer._drawn import draw
from drl.trainer._rollouts import NEEDS, roll_out
from drl.trainer._timed import FILE_NAME as TIMINGS
from drl.trainer._timed import TimedRollout, read_timings
from drl.trainer.base import Parts, Trainer, chosen
from drl.tree.store import read_trees
from drl.types import JSON


@dataclass(kw_only=True)
class EstimateTrainer(Trainer):
    """Foretells a run of `trials` rollouts per task from one rollout of `num_tasks` tasks."""

    needs = NEEDS

    num_tasks: int
    trials: int

    def __post_init__(self) -> None:
        """Check the settings."""
        check_positive("trainer", num_tasks=self.num_tasks, trials=self.trials)

    def run(self, parts: Parts, run_dir: RunDir) -> Mapping[str, JSON]:
        """Roll out the handful, then write `estimate.json` and print it.

        Raises:
            RunError: a budget or an outage ended it; what was finished is foretold from all the
                same, if anything was.
        """
        dataset, num_all = draw(chosen(parts.dataset), self.num_tasks, parts.seed)
        rollout = chosen(parts.rollout)
        stopped: RunError | None = None
        with LineFile(run_dir.path / TIMINGS) as lines:
            # without models nothing waits: side by side, a rollout's time would be that of all
            concurrency = rollout.concurrency if _models(parts) else 1
            timed = TimedRollout(rollout, lines, concurrency)
            try:
                roll_out(replace(parts, dataset=dataset, rollout=timed), run_dir, trials=1)
            except RunError as error:
                stopped = error
        times = _times_of_finished(run_dir)
        if not times:
            raise stopped or RunError(f"{run_dir.path}: no rollout was finished")
        plan = _plan(parts, num_all * self.trials)
        found = forecast(costs(_entries(run_dir), times), plan)
        estimate = self._describe(parts, plan, found, len(times), len(dataset.tasks))
        estimate["stopped"] = None if stopped is None else str(stopped)
        run_dir.write_json("estimate.json", estimate)
        print_forecast(estimate, run_dir.path)
        if stopped is not None:
            raise stopped
        return estimate

    def _describe(
        self, parts: Parts, plan: Plan, found: Forecast, num_done: int, num_drawn: int
    ) -> dict[str, JSON]:
        """The estimate with all that it rests on."""
        return {
            "name": parts.name,
            "n": num_done,
            "n_drawn": num_drawn,
            "num_rollouts": plan.num_rollouts,
            "trials": self.trials,
            "concurrency": plan.concurrency,
            **to_json(found, unknown=[m for m, price in plan.prices.items() if price is None]),
            "budget_usd": parts.calls.budget_usd,
            "budget_tokens": parts.calls.budget_tokens,
        }


def _models(parts: Parts) -> Sequence[str]:
    """Names of the models that participants speak through."""
    pairs = ((parts.agent, parts.llm), (parts.user_simulator, parts.user_llm))
    return [llm.model for who, llm in pairs if who is not None and llm is not None and who.uses_llm]


def _plan(parts: Parts, num_rollouts: int) -> Plan:
    llms = [llm for llm in (parts.llm, parts.user_llm, parts.judge_llm) if llm is not None]
    return Plan(
        num_rollouts=num_rollouts,
        concurrency=chosen(parts.rollout).concurrency,
        prices={llm.model: price_of(llm, parts.calls.prices) for llm in llms},
        computing=frozenset(llm.model for llm in llms if llm.computes),
    )


def _times_of_finished(run_dir: RunDir) -> dict[str, tuple[float, float]]:
    """Times of the rollouts that came to an end; what broke says nothing of the others."""
    times = read_timings(run_dir.path)
    trees = read_trees(run_dir.path / ROLLOUTS)
    done = [tree.task_id for tree in trees if not tree.is_broken]
    return {task_id: times.get(task_id, (0.0, 0.0)) for task_id in done}


def _entries(run_dir: RunDir) -> Iterable[Entry]:
    ledger = run_dir.path / LEDGER
    return read_entries(ledger) if ledger.exists() else ()
