"""An agent that speaks through a model with native tool calls."""

from dataclasses import dataclass, replace

from drl.agent._chat import conversation
from drl.agent._native import read, read_last, rewrite, shown, spoken, text_of
from drl.agent.base import Agent, Situation
from drl.llm.base import LLM, Completion, Message, Request, Sampling
from drl.runtime.prompts import fill
from drl.runtime.settings import check_positive
from drl.runtime.surrogates import writable
from drl.types import Step, Toolbox


@dataclass(kw_only=True)
class FunctionCallingAgent(Agent):
    """Asks the model once a step and carries out all calls of its answer."""

    temperature: float
    top_p: float | None
    top_k: int | None
    max_tokens: int
    max_tool_calls: int

    uses_llm = True

    def __post_init__(self) -> None:
        """Check the settings."""
        check_positive("agent", max_tool_calls=self.max_tool_calls)
        self._sampling().check("agent")

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
        system = Message("system", fill("drl.agent", "function_calling.md"))
        return Request(
            messages=(system, *conversation(situation, shown, spoken)),
            sampling=self._sampling(),
            seeds=(situation.seed,),
            purpose="agent",
            tools=situation.toolbox.specs,
            tool_choice="none" if situation.must_reply else "auto",
            place=situation.place,
        )

    def read(self, completion: Completion, situation: Situation) -> Step:
        """The step that a model's answer stands for in a situation."""
        text = text_of(completion)
        step = read_last(text) if situation.must_reply else read(text)
        is_cut = completion.finish_reason == "length"
        return replace(step, sampled=completion.sampled, is_cut=is_cut)

    def rewrite(self, step: Step, toolbox: Toolbox) -> tuple[Step, ...]:
        """A step of whatever agent in the form of native calls."""
        return rewrite(step)

    def output(self, step: Step, number: int) -> Message:
        """The message that was sent for a step, with its calls."""
        message = shown(step, number)[0]
        return replace(message, content=writable(message.content))

    def _sampling(self) -> Sampling:
        return Sampling(
            temperature=self.temperature,
            top_p=self.top_p,
            top_k=self.top_k,
            max_tokens=self.max_tokens,
        )
