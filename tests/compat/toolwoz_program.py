"""A program that was written for josh-train: its options and its two loops."""

import os
from argparse import Namespace

from drl.compat.josh import (
    JOSH,
    ToolWOZEnvironment,
    ToolWOZRewards,
    build_agent,
    build_convo_env,
    build_user,
)


def options(**settings: object) -> Namespace:
    usual = {
        "data_dir": os.environ.get("DRL_DATA", "data"),
        "task_split": "val",
        "agent_strategy": "rule",
        "user_mode": "agenda",
        "temperature": 1.0,
    }
    return Namespace(**usual | settings)


def search(toolwoz: ToolWOZEnvironment, key: str, **settings: object):
    """A rollout that has ended, and its conversation."""
    args = options(josh=True, **settings)
    env = build_convo_env(args, key, toolwoz)
    user, agent = build_user(args, toolwoz, env), build_agent(args, toolwoz)
    agent, _ = user.step(agent)

    def step_agent(agent, **kwargs):
        agent.step(**kwargs)
        return agent, True

    josh = JOSH(
        rewards=ToolWOZRewards(env),
        agent_step=step_agent,
        user_step=lambda user, agent: user.step(agent),
        add_error_message=lambda agent: agent,
        root_agent=agent,
        user=user,
        agent_model=toolwoz.model,
        agent_tokenizer=toolwoz.tokenizer,
        agent_env=env,
        beam_size=8,
    )
    for _ in range(15):
        _, all_done = josh.step()
        if all_done:
            break
    return josh, env


def converse(toolwoz: ToolWOZEnvironment, key: str, **settings: object):
    """The agent after one dialogue without a search, and its conversation."""
    args = options(**settings)
    env = build_convo_env(args, key, toolwoz)
    user, agent = build_user(args, toolwoz, env), build_agent(args, toolwoz)
    while len(agent.messages) < 40:
        agent, is_over = user.step(agent)
        if is_over:
            break
        agent.step(model=toolwoz.model, tokenizer=toolwoz.tokenizer, env=env)
    return agent, env
