"""An agent that speaks through a model which writes ReAct text: plans, calls, replies.

What the model is told stands in `prompts/`; how it is read, in the module of its style.
"""

from dataclasses import dataclass, replace
from typing import Literal

from drl.agent._chat import conversation, too_long, with_note
from drl.agent._compact import CompactStyle
from drl.agent._full import FullStyle
from drl.agent._paper import OUT_OF_RETRIES, PaperStyle
from drl.agent._style import Style
from drl.agent._tau import TauStyle
from drl.agent.base import Agent, Situation
from drl.domains.conversation import audible
from drl.errors import ConfigError
from drl.llm.base import LLM, Completion, Message, Request, Sampling
from drl.runtime.settings import check_positive
from drl.runtime.surrogates import writable
from drl.types import Step, Toolbox, ToolResult

_STYLES: dict[str, Style] = {
    "full": FullStyle(),
    "compact": CompactStyle(),
    "paper": PaperStyle(),
    "tau": TauStyle(thinks=True),
    "act": TauStyle(thinks=False),
}
_NOTHING_SAID = "Nothing was done: the reply holds nothing that can be shown"


@dataclass(kw_only=True)
class ReactAgent(Agent):
    """Asks the model once a step; output that cannot be read goes back to it as an error.

    `style`: full plans before each action, compact does not and is short, paper reads and records
    as josh-train does; tau and act are tau-bench's two. `limit_on`: `max_tool_calls` bounds tool
    calls, and then the model is asked for a reply; or it bounds requests, and then the customer
    hears an error, as in josh-train.
    """

    style: Literal["full", "compact", "paper", "tau", "act"]
    temperature: float
    top_p: float | None
    top_k: int | None
    max_tokens: int
    max_tool_calls: int
    limit_on: Literal["tool_calls", "requests"]

    uses_llm = True

    def __post_init__(self) -> None:
        """Check the settings."""
        if self.style not in _STYLES:
            raise ConfigError(
                f"agent.style={self.style} is unknown; use one of {', '.join(_STYLES)}"
            )
        if self.limit_on not in ("tool_calls", "requests"):
            raise ConfigError(
                f"agent.limit_on={self.limit_on} is unknown; use tool_calls or requests"
            )
        check_positive("agent", max_tool_calls=self.max_tool_calls)
        self._sampling().check("agent")
        self.counts_steps = self.limit_on == "requests"

    @property
    def explores(self) -> bool:
        """Above temperature 0."""
        return self.temperature > 0

    async def act(self, situation: Situation, llm: LLM) -> Step:
        """The next step: what the model wrote, read.

        Text without a call or reply gives a step that holds an error. When a reply is due and the
        text holds none, the step is without.
        """
        if situation.must_reply and self.limit_on == "requests":
            return Step(text=OUT_OF_RETRIES, reply=OUT_OF_RETRIES)
        completions = await llm.complete(self.request(situation))
        return self.read(completions.choices[0], situation)

    def request(self, situation: Situation) -> Request:
        """What the model is asked in a situation."""
        style = _STYLES[self.style]
        system = Message("system", writable(style.system(situation.toolbox)))
        messages = [system, *conversation(situation, style.shown, style.spoken)]
        if situation.must_reply:
            messages = with_note(messages, style.note)
        return Request(
            messages=tuple(messages),
            sampling=self._sampling(),
            seeds=(situation.seed,),
            purpose="agent",
            place=situation.place,
        )

    def read(self, completion: Completion, situation: Situation) -> Step:
        """The step that a model's output stands for in a situation."""
        step = self._read(writable(completion.text), situation)
        if step.reply is not None:
            heard = audible(step.reply)
            step = replace(step, reply=heard or None)
            if not heard and not situation.must_reply:
                step = replace(step, results=(ToolResult(None, error=_NOTHING_SAID),))
        is_cut = completion.finish_reason == "length"
        return replace(step, sampled=completion.sampled, is_cut=is_cut)

    def rewrite(self, step: Step, toolbox: Toolbox) -> tuple[Step, ...]:
        """A step of whatever agent in this style."""
        return _STYLES[self.style].rewrite(step, toolbox)

    def output(self, step: Step, number: int) -> Message:
        """The message that was written for a step."""
        message = _STYLES[self.style].output(step, number)
        return replace(message, content=writable(message.content))

    def _read(self, text: str, situation: Situation) -> Step:
        style = _STYLES[self.style]
        refused = too_long(text)
        if situation.must_reply:
            return Step(text=text) if refused else style.read_last(text)
        return refused or style.read(text, situation.toolbox)

    def _sampling(self) -> Sampling:
        return Sampling(
            temperature=self.temperature,
            top_p=self.top_p,
            top_k=self.top_k,
            max_tokens=self.max_tokens,
            stop=_STYLES[self.style].stop,
        )
