"""A run whose agent says what a model of the tests says, in a world without a past."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Mapping
from pathlib import Path

from scripted import ScriptedUser, hit, say
from trainer.small_runs import NumberedTasks, small_parts

from drl.agent.base import Agent, Situation
from drl.calls.settings import CallSettings
from drl.llm.base import LLM, Completion, Completions, Message, Request, Sampling, Usage
from drl.rollout.base import Rollout
from drl.rollout.single import SingleRollout
from drl.trainer.base import Parts
from drl.tree.store import read_trees
from drl.types import Role, Step

Fault = Callable[[Request], Exception | None]


class TalkingLLM(LLM):
    """Writes "call" or "talk" by the seed; takes 30 tokens a request and 10 a sample."""

    def __init__(
        self, *, model: str = "talker", fault: Fault = lambda request: None, seconds: float = 0.0
    ) -> None:
        self._model = model
        self._fault = fault
        self._seconds = seconds
        self.asked: list[Request] = []

    @property
    def model(self) -> str:
        return self._model

    @property
    def identity(self) -> Mapping[str, str]:
        return {"model": self._model}

    async def complete(self, request: Request) -> Completions:
        self.asked.append(request)
        await asyncio.sleep(self._seconds)
        if (fault := self._fault(request)) is not None:
            raise fault
        words = [random.Random(seed).choice(["call", "talk"]) for seed in request.seeds]
        usage = Usage(30, 0, 10 * len(words))
        return Completions(tuple(Completion(w, "stop") for w in words), usage, self._seconds)

    async def close(self) -> None:
        """Nothing is open."""


class TalkingAgent(Agent):
    """Asks its model at every step, and shows it how many turns there were."""

    uses_llm = True
    max_tool_calls = 1

    @property
    def explores(self) -> bool:
        return True

    async def act(self, situation: Situation, llm: LLM) -> Step:
        assert situation.place is not None
        shown = f"{situation.place.task_id} {len(situation.history)} {len(situation.steps)}"
        request = Request(
            messages=(Message("user", shown),),
            sampling=Sampling(temperature=1.0, max_tokens=10),
            seeds=(situation.seed,),
            purpose="agent",
            place=situation.place,
        )
        (choice,) = (await llm.complete(request)).choices
        calls = choice.text == "call" and not situation.must_reply
        return hit("a") if calls else say(choice.text)


class PatientUser(ScriptedUser):
    """Stays for as many turns as the number in the task's id, plus one."""

    async def speak(self, encounter, llm):
        index = sum(turn.role is Role.USER for turn in encounter.history)
        assert encounter.place is not None
        self._ends_at = 1 + int(encounter.place.task_id) if index else None
        return await super().speak(encounter, llm)


def parts_of(
    folder: Path,
    llm: LLM,
    *,
    num_tasks: int = 12,
    rollout: Rollout | None = None,
    budget_usd: float | None = None,
    budget_tokens: int | None = None,
    prices: Mapping[str, Mapping[str, float]] | None = None,
) -> Parts:
    """The parts of such a run; its cache lies in `folder`."""
    return small_parts(
        TalkingAgent(),
        rollout or SingleRollout(max_steps=20, max_calls=None, concurrency=3),
        NumberedTasks(num_tasks, ("a", "b")),
        user=PatientUser(),
        folder=folder,
        calls=CallSettings(
            budget_usd=budget_usd, budget_tokens=budget_tokens, cache=True, prices=prices or {}
        ),
        llm=llm,
    )


def trees(folder: Path) -> dict:
    """What is stored, by task and trial."""
    return {(t.task_id, t.trial): t for t in read_trees(folder / "rollouts.jsonl")}
