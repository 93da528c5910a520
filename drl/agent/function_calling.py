"""An agent that speaks through a model with native tool calls."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from drl.agent._chat import conversation
from drl.agent._demonstrations import demonstrated
from drl.agent._native import as_json, read, read_last, rewrite, shown, spoken, text_of
from drl.agent._policy import with_policy
from drl.agent.base import Agent, Situation
from drl.errors import ConfigError
from drl.llm.base import LLM, Completion, Message, Request, Sampling
from drl.runtime.prompts import fill
from drl.runtime.settings import check_positive
from drl.runtime.surrogates import writable
from drl.runtime.tool_results import as_text
from drl.types import Step, Toolbox


@dataclass(kw_only=True)
class FunctionCallingAgent(Agent):
    """Asks the model once a step and carries out the calls of its answer.

    `style`: desk tells it how to serve before the policy, and results in JSON; tau is tau-bench's,
    with the policy alone, where there is one, and texts as they are. `first_call_only` drops all
    calls of an answer but the first, as tau-bench does. `demonstrations` names a file of dialogues
    (`_demonstrations`), of which `num_demonstrations` are shown, drawn by `demonstrations_seed`.
    """

    style: Literal["desk", "tau"]
    temperature: float
    top_p: float | None
    top_k: int | None
    max_tokens: int
    max_tool_calls: int
    first_call_only: bool
    demonstrations: str | None
    num_demonstrations: int
    demonstrations_seed: int

    uses_llm = True

    _demonstrated: str = field(init=False, repr=False, default="")

    def __post_init__(self) -> None:
        """Check the settings and read the demonstrations."""
        if self.style not in ("desk", "tau"):
            raise ConfigError(f"agent.style={self.style} is unknown; use desk or tau")
        check_positive(
            "agent",
            max_tool_calls=self.max_tool_calls,
            num_demonstrations=self.num_demonstrations,
        )
        self._sampling().check("agent")
        if self.demonstrations is not None:
            self._demonstrated = demonstrated(
                self.demonstrations, self.num_demonstrations, self.demonstrations_seed
            )

    @property
    def explores(self) -> bool:
        """Above temperature 0."""
        return self.temperature > 0

    async def act(self, situation: Situation, llm: LLM) -> Step:
        """The next step; its text is what the model sent, in JSON.

        A malformed call, or an empty answer, gives a step that holds an error. When a reply is due
        and the model sent none, the step is without.
        """
        completions = await llm.complete(self.request(situation))
        return self.read(completions.choices[0], situation)

    def request(self, situation: Situation) -> Request:
        """What the model is asked in a situation."""
        system = Message("system", self._system(situation.toolbox))
        return Request(
            messages=(system, *conversation(situation, self._shown, spoken)),
            sampling=self._sampling(),
            seeds=(situation.seed,),
            purpose="agent",
            tools=situation.toolbox.specs,
            tool_choice="none" if situation.must_reply else "auto",
            place=situation.place,
        )

    def read(self, completion: Completion, situation: Situation) -> Step:
        """The step that a model's answer stands for in a situation."""
        if self.first_call_only:
            completion = replace(completion, tool_calls=completion.tool_calls[:1])
        text = text_of(completion)
        step = read_last(text) if situation.must_reply else read(text)
        is_cut = completion.finish_reason == "length"
        return replace(step, sampled=completion.sampled, is_cut=is_cut)

    def rewrite(self, step: Step, toolbox: Toolbox) -> tuple[Step, ...]:
        """A step of whatever agent in the form of native calls."""
        return rewrite(step, holds_several=not self.first_call_only)

    def output(self, step: Step, number: int) -> Message:
        """The message that was sent for a step, with its calls."""
        message = self._shown(step, number)[0]
        return replace(message, content=writable(message.content))

    def _shown(self, step: Step, number: int) -> Sequence[Message]:
        return shown(step, number, as_text if self.style == "tau" else as_json)

    def _system(self, toolbox: Toolbox) -> str:
        is_alone = self.style == "tau" and toolbox.policy
        instructions = fill("drl.agent", "function_calling.md")
        told = toolbox.policy if is_alone else with_policy(instructions, toolbox)
        return writable("\n\n".join(filter(None, (told, self._demonstrated))))

    def _sampling(self) -> Sampling:
        return Sampling(
            temperature=self.temperature,
            top_p=self.top_p,
            top_k=self.top_k,
            max_tokens=self.max_tokens,
        )
