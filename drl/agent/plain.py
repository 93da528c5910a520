"""An agent that writes plain text: the model reads the chat and says what comes next."""

from dataclasses import dataclass, replace

from drl.agent._chat import conversation
from drl.agent.base import Agent, Situation
from drl.errors import ConfigError
from drl.llm.base import LLM, Completion, Message, Request, Sampling
from drl.runtime.surrogates import writable
from drl.types import Step, Toolbox


@dataclass(kw_only=True)
class PlainAgent(Agent):
    """Replies with the model's text as it is, white space included, and calls no tool.

    A reply may be empty: that is what a model says that ends its text at once. Without a
    `temperature` it speaks with the one that the task prescribes.
    """

    system: str | None
    temperature: float | None
    top_p: float | None
    top_k: int | None
    max_tokens: int
    stop: list[str]

    uses_llm = True
    max_tool_calls = 1

    def __post_init__(self) -> None:
        """Check the settings."""
        self._sampling(0.0).check("agent")

    @property
    def explores(self) -> bool:
        """Above temperature 0, and where tasks may prescribe one that is."""
        return self.temperature is None or self.temperature > 0

    async def act(self, situation: Situation, llm: LLM) -> Step:
        """The reply."""
        completions = await llm.complete(self.request(situation))
        return self.read(completions.choices[0])

    def request(self, situation: Situation) -> Request:
        """The chat so far, which opens with words of the customer, be they none."""
        system = [] if self.system is None else [Message("system", self.system)]
        chat = conversation(situation, _shown, spoken=str)
        if not chat or chat[0].role != "user":
            chat.insert(0, Message("user", ""))  # else there might be nothing to render
        return Request(
            messages=(*system, *chat),
            sampling=self._sampling(situation.temperature),
            seeds=(situation.seed,),
            purpose="agent",
            place=situation.place,
        )

    def read(self, completion: Completion) -> Step:
        """The step that a model's answer stands for."""
        text = writable(completion.text)
        is_cut = completion.finish_reason == "length"
        return Step(text, reply=text, sampled=completion.sampled, is_cut=is_cut)

    def rewrite(self, step: Step, toolbox: Toolbox) -> tuple[Step, ...]:
        """The reply alone. A step without one stays: plain text has no form for calls."""
        if step.reply is None or (step.text == step.reply and not step.calls):
            return (step,)
        return (replace(step, text=step.reply, plan="", calls=(), results=(), sampled=None),)

    def output(self, step: Step, number: int) -> Message:
        """The message of a step."""
        (message,) = _shown(step, number)
        return replace(message, content=writable(message.content))

    def _sampling(self, prescribed: float | None) -> Sampling:
        temperature = prescribed if self.temperature is None else self.temperature
        if temperature is None:
            raise ConfigError(
                "agent.temperature=null leaves it to the task, but this data set prescribes none; "
                "set agent.temperature"
            )
        return Sampling(
            temperature=temperature,
            top_p=self.top_p,
            top_k=self.top_k,
            max_tokens=self.max_tokens,
            stop=tuple(self.stop),
        )


def _shown(step: Step, number: int) -> tuple[Message]:
    """An own step as it was written."""
    return (Message("assistant", step.text),)
