"""Who plays, in which world, for which rewards."""

from __future__ import annotations

from asyncio import Semaphore
from dataclasses import dataclass

from drl.agent.base import Agent
from drl.environment.base import Environment
from drl.llm.base import LLM
from drl.reward.base import Reward
from drl.user_simulator.base import UserSimulator


@dataclass(frozen=True, slots=True)
class Cast:
    """Who plays, in which world, for which rewards, under which run seed.

    `reward` steers a search; `score` grades what came of it. `limit` bounds the participants'
    moves that are in flight at once, over all running tasks; those of models are bounded where
    they are asked (`drl.calls`), so that siblings meet there. `llm` is the agent's, `judge_llm`
    that of rewards.
    """

    agent: Agent
    user_simulator: UserSimulator
    environment: Environment
    reward: Reward
    score: Reward
    seed: int
    limit: Semaphore
    llm: LLM
    user_llm: LLM
    judge_llm: LLM
