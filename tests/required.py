"""Settings without which an option means nothing, with values that tests can use."""

import shlex
import sys

BIKES = "examples/own_environment"

_REQUIRED = {
    ("agent", "function_calling/few_shot"): [
        "agent.demonstrations=tests/agent/demonstrations.jsonl",
        "agent.num_demonstrations=2",
    ],
    ("agent", "answers"): ["agent.path=tests/agent/answers.jsonl"],
    ("agent", "plain/mt_bench"): ["agent.temperature=1.0"],
    ("dataset", "prompts"): ["dataset.prompts=[One day, The moon, 'Tell me: why?']"],
    ("dataset", "jsonl_tasks"): [f"dataset.path={BIKES}/tasks.jsonl"],
    # the published positions need the published 1,656 conversations
    **{
        ("dataset", option): ["dataset.division.positions={train:[0,60],test:[60,120]}"]
        for option in ("candor/paper_faces", "candor/paper_policy")
    },
    ("dataset", "tau2"): ["dataset.root=tests/tau2_bench/checkout", "dataset.domain=mock"],
    ("environment", "functions"): [f"environment.tools={BIKES}/tools.py"],
    ("environment", "mcp"): [
        f"environment.server='{shlex.quote(sys.executable)} tests/environment/bike_server.py'",
        "environment.setup_tool=begin",
    ],
    # what turns earn adds up to a sum only, and the published prompts are for questions only
    ("reward", "judge"): ["reward.total=sum", "reward.prompts=own"],
    ("reward", "turn_model"): ["reward.model=tests/reward/turn_model/model"],
    ("reward", "function"): ["reward.function=tests/reward/own_rewards.py:brevity"],
    ("reward", "weighted"): [
        "+reward@reward.rewards.goals=goal_api",
        "+reward@reward.rewards.short=function",
        "reward.rewards.short.function=tests/reward/own_rewards.py:brevity",
        "+reward.weights={goals: 2.0, short: -0.5}",
    ],
    ("trainer", "tau_results"): ["trainer.file=results.json"],
    **{("trainer", name): ["trainer.source=[josh_release]"] for name in ("sft", "dpo", "kto")},
}


def settings(group: str, option: str) -> list[str]:
    """The overrides that give an option what it needs."""
    return _REQUIRED.get((group, option), _REQUIRED.get((group, option.partition("/")[0]), []))


def choice(group: str, option: str) -> list[str]:
    """The overrides that choose an option and give it what it needs."""
    return [f"{group}={option}", *settings(group, option)]
