"""Search beside its baselines: the rule agent on the ToolWOZ test split (see README.md here).

    python -m experiments.toolwoz_josh.study

Runs every arm through `run.py` below outputs/, writes `results.json` beside this file and prints
the table. A second start goes on; another commit starts anew.
"""

import json
import platform
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from drl.errors import BenchmarkError

HERE: Final = Path(__file__).parent
ROOT: Final = HERE.parents[1]
ERRING: Final = "agent=rule/erring"
STEADY: Final = "agent=rule"
BUDGET_FACTORS: Final = (1.5, 2.0, 2.25, 2.5, 3.0, 4.0, 6.0, 8.0)
"""Budgets tried for best-of-n, over the mean calls of josh: it spends less than it may, since it
stops once every goal is reached."""

Summary = dict[str, object]


def main() -> None:
    """Run all arms, then write and print what they gave."""
    arms = {
        "josh, erring agent": run("josh", ERRING),
        "single, erring agent": run("single", ERRING, "rollout=single"),
        "josh, steady agent": run("josh_steady", STEADY, "rollout.allow_greedy=true"),
        "single, steady agent": run("single_steady", STEADY, "rollout=single"),
        "floor: silent agent": run("silent", "agent=silent", "rollout=single"),
        "floor: spray agent": run("spray", "agent=spray", "rollout=single"),
        "ceiling: goals' own calls": run_ceiling(),
    }
    calls = _number(arms["josh, erring agent"], "agent_calls")
    arms["best of n, erring agent, each task up to josh's mean"] = best_of_n(round(calls))
    arms["best of n, erring agent, josh's mean spent on average"] = equal_spending(calls)
    arms = dict(sorted(arms.items(), key=lambda arm: "erring" not in arm[0]))
    record = {"machine": machine(), "arms": arms}
    (HERE / "results.json").write_text(json.dumps(record, indent=2) + "\n")
    print(table(arms))


def run(arm: str, *overrides: str) -> Summary:
    """The summary of one arm on the whole test split."""
    return _launch("toolwoz_josh", arm, *overrides)


def run_ceiling() -> Summary:
    """What an agent earns that calls exactly what every goal asks for."""
    return _launch("toolwoz_validate", "ceiling")


def best_of_n(budget: int) -> Summary:
    """Independent dialogues with at most so many agent calls per task."""
    by_budget = ("rollout=best_of_n/budget", f"rollout.agent_calls={budget}")
    return run(f"best_of_n_{budget}", ERRING, *by_budget)


def equal_spending(calls: float) -> Summary:
    """Best of n under the smallest budget with which it spends that many calls on average."""
    for factor in BUDGET_FACTORS:
        summary = best_of_n(round(calls * factor))
        if _number(summary, "agent_calls") >= calls:
            return summary
    raise BenchmarkError(f"best of n never spends {calls:.1f} calls; add a larger budget factor")


def table(arms: Mapping[str, Summary]) -> str:
    """The arms as a table in Markdown."""
    rows = ["| arm | mean reward | full success | agent calls per task |", "|---|---|---|---|"]
    for name, summary in arms.items():
        cells = [_cell(summary.get(key)) for key in ("mean_reward", "full_success")]
        calls = _number(summary, "agent_calls") if "agent_calls" in summary else None
        rows.append(
            f"| {name} | {' | '.join(cells)} | {'-' if calls is None else f'{calls:.1f}'} |"
        )
    return "\n".join(rows)


def machine() -> str:
    """The kind of machine, for the record."""
    return f"{platform.machine()}, Python {platform.python_version()}"


def _launch(experiment: str, arm: str, *overrides: str) -> Summary:
    commit = subprocess.check_output(["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, text=True)
    folder = ROOT / "outputs" / "toolwoz_josh_study" / commit.strip() / arm
    command = ["run.py", f"+experiment={experiment}", *overrides, f"hydra.run.dir={folder}"]
    subprocess.run([sys.executable, *command], cwd=ROOT, check=True)
    kept = json.loads((folder / "summary.json").read_text())
    kept["command"] = " ".join(["python", *command[:-1]])
    return kept


def _number(summary: Summary, key: str) -> float:
    estimate = summary[key]
    assert isinstance(estimate, dict)
    return float(estimate["value"])


def _cell(estimate: object) -> str:
    assert isinstance(estimate, dict)
    return f"{estimate['value']:.3f} ({estimate['low']:.3f} to {estimate['high']:.3f})"


if __name__ == "__main__":
    main()
