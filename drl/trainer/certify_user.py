"""Whether a user simulator is fit for use: it talks to two agents that need no model.

The oracle calls every goal whatever the customer says, so all that is missing is the customer's
fault; the rule agent asks, offers and refuses as agents do. Each gets a run folder of its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from drl.agent.base import Agent
from drl.calls.ledger import FILE_NAME as LEDGER
from drl.calls.ledger import Entry, read_entries
from drl.calls.prices import Price, price_of
from drl.calls.settings import CallSettings
from drl.errors import ConfigError, RunError
from drl.evaluation.certificate import Row, broken_rules, print_certificate, print_place, rows
from drl.evaluation.user_fidelity import MEASURES
from drl.llm.base import Usage
from drl.rollout.base import Rollout
from drl.runtime.run_dir import ROLLOUTS, RunDir
from drl.runtime.settings import check_positive
from drl.trainer._drawn import draw
from drl.trainer._rollouts import modes, roll_out
from drl.trainer.base import Parts, Trainer, chosen
from drl.tree.store import read_trees
from drl.types import JSON, Task


@dataclass(kw_only=True)
class CertifyUserTrainer(Trainer):
    """Holds the dialogues of a user with `oracle` and `rule` against limits.

    The limits are for means over tasks, as `drl.evaluation.user_fidelity` defines the measures.
    """

    needs = ("dataset", "environment", "user_simulator", "reward")

    oracle: Agent
    rule: Agent
    rollout: Rollout
    num_tasks: int
    min_goal_coverage: float
    max_leakage: float
    max_role_flips: float
    max_premature_stops: float
    max_endless_talk: float
    max_repetitions: float
    max_broken_turns: float

    def __post_init__(self) -> None:
        """Check the settings."""
        check_positive("trainer", num_tasks=self.num_tasks)
        for measure, limit in self._limits().items():
            if not 0 <= limit <= 1:
                bound = "min" if measure == "goal_coverage" else "max"
                raise ConfigError(
                    f"trainer.{bound}_{measure}={limit} is a share; it must lie in [0, 1]"
                )

    def run(self, parts: Parts, run_dir: RunDir) -> Mapping[str, JSON]:
        """Let it talk, then write what came of it into `summary.json` and print it."""
        dataset, _ = draw(chosen(parts.dataset), self.num_tasks, parts.seed)
        tasks = {task.id: task for task in dataset.tasks}
        agents = {"oracle": self.oracle, "rule": self.rule}
        found: dict[str, list[Row]] = {}
        runs: dict[str, Mapping[str, JSON]] = {}
        for name, agent in agents.items():
            calls = _left(parts, run_dir, [other for other in agents if other != name])
            its = replace(
                parts,
                agent=agent,
                llm=None,
                rollout=self.rollout,
                dataset=dataset,
                calls=calls,
                config=_config(parts, name),
            )
            with RunDir(run_dir.path / name) as folder:
                folder.claim(its.config)
                runs[name] = roll_out(its, folder, trials=1)
            found[name] = self._judge(tasks, run_dir, name)
        summary = self._summarise(parts, found, runs)
        run_dir.write_json("summary.json", summary)
        print_certificate(summary, found)
        print_place(run_dir.path)
        return summary

    def _judge(self, tasks: Mapping[str, Task], run_dir: RunDir, agent: str) -> list[Row]:
        trees = read_trees(run_dir.path / agent / ROLLOUTS)
        return rows(tasks, trees, self._limits())

    def _limits(self) -> dict[str, float]:
        limits = (
            self.min_goal_coverage,
            self.max_leakage,
            self.max_role_flips,
            self.max_premature_stops,
            self.max_endless_talk,
            self.max_repetitions,
            self.max_broken_turns,
        )
        return dict(zip(MEASURES, limits, strict=True))

    def _summarise(
        self,
        parts: Parts,
        found: Mapping[str, Sequence[Row]],
        runs: Mapping[str, Mapping[str, JSON]],
    ) -> dict[str, JSON]:
        broken = [line for agent, its in found.items() for line in broken_rules(agent, its)]
        described = modes(parts)
        first = next(iter(runs.values()))
        return {
            "name": parts.name,
            "user": described["user_simulator"],
            "passed": not broken,
            "broken_rules": broken,
            "agents": {a: {row.measure: row.to_json() for row in its} for a, its in found.items()},
            "n_tasks": first["n_tasks"],
            "n_errors": {agent: run["n_errors"] for agent, run in runs.items()},
            "calls": {agent: run.get("calls", {}) for agent, run in runs.items()},
            "seconds": round(sum(float(str(run["seconds"])) for run in runs.values()), 2),
            "label": "Certificate: how true a simulated user stays to its part.",
            "modes": described,
            "data_version": first["data_version"],
            "seed": parts.seed,
        }


def _config(parts: Parts, agent: str) -> dict[str, JSON]:
    """The config of the run with one agent, as its folder keeps it."""
    trainer = parts.config["trainer"]
    assert isinstance(trainer, Mapping), "this trainer was built from it"
    return {**parts.config, "agent": trainer[agent], "rollout": trainer["rollout"]}


def _left(parts: Parts, run_dir: RunDir, others: Sequence[str]) -> CallSettings:
    """What the runs with the other agents leave of the budgets.

    Requests whose price was not known then count at the price that is known now.

    Raises:
        RunError: nothing.
    """
    calls, llm = parts.calls, parts.user_llm
    price = None if llm is None else price_of(llm, calls.prices)
    ledgers = [run_dir.path / other / LEDGER for other in others]
    entries = [entry for path in ledgers if path.exists() for entry in read_entries(path)]
    paid = [entry for entry in entries if not entry.from_cache]
    usd, tokens = calls.budget_usd, calls.budget_tokens
    if usd is not None:
        usd -= sum(_paid(entry, price) for entry in paid)
    if tokens is not None:
        tokens -= sum(entry.tokens_in + entry.tokens_out for entry in paid)
    for name, left in (("usd", usd), ("tokens", tokens)):
        if left is not None and left <= 0:
            raise RunError(
                f"calls.budget_{name} is used up by the dialogues with the other agent; raise it "
                "and start the same command again"
            )
    return replace(calls, budget_usd=usd, budget_tokens=tokens)


def _paid(entry: Entry, price: Price | None) -> float:
    if entry.usd is not None:
        return entry.usd
    assert price is not None, "launch refuses a dollar budget without a price"
    return price.of(Usage(entry.tokens_in, entry.tokens_cached, entry.tokens_out))
