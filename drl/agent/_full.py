"""ReAct with a plan before each action; see `_react` for the grammar."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from drl.agent._chat import NOT_CARRIED_OUT, seen
from drl.agent._policy import with_policy
from drl.agent._react import MARK, RETURN, parse, parse_last, read, render_call, render_reply
from drl.agent._style import Style
from drl.agent._tool_list import described
from drl.domains.conversation import audible
from drl.llm.base import Message
from drl.runtime.prompts import fill
from drl.runtime.tool_results import value_of
from drl.runtime.written_json import to_text
from drl.types import Step, Toolbox

_TOOL = re.compile(r'APICALL \{"name": "(\w+)"')


class FullStyle(Style):
    """PLAN, then APICALL or SPEAK; results come as a user's message that begins with APIRETURN."""

    stop = (f"\n{RETURN}", f"{MARK} {RETURN}")
    holds_several = True

    @property
    def note(self) -> str:
        """That only a reply is possible."""
        return fill("drl.agent", "react_last.md")

    def system(self, toolbox: Toolbox) -> str:
        """The rules, the tools, examples, and the policy."""
        return system(described(toolbox), toolbox)

    def read(self, text: str, toolbox: Toolbox) -> Step:
        """The step by the anchored grammar."""
        return parse(text)

    def read_last(self, text: str) -> Step:
        """The reply in an output, leniently."""
        return parse_last(text)

    def shown(self, step: Step, number: int) -> Sequence[Message]:
        """The output as it was, without what its author made up; then all results in one."""
        reading = read(step.text)
        own = step.text[: reading.end]
        if step.reply is not None:
            is_own = audible(reading.step.reply or "") == step.reply
            return [Message("assistant", seen(own if is_own else self.spoken(step.reply)))]
        output = Message("assistant", seen(own))
        gave = [value_of(result) for result in step.results]
        if step.calls:
            gave += [{"error": NOT_CARRIED_OUT}] * (len(reading.step.calls) - len(step.calls))
        if not gave:
            return [output]
        return [output, Message("user", "\n".join(f"{RETURN} {to_text(value)}" for value in gave))]

    def spoken(self, text: str) -> str:
        """A SPEAK without a plan."""
        return render_reply("", text)

    def written(self, step: Step) -> str:
        """The plan, then all calls or the reply."""
        if not step.calls:
            return render_reply(step.plan, step.reply or "")
        first, *others = step.calls
        return " ".join([render_call(step.plan, first), *(render_call("", c) for c in others)])


def system(tools: str, toolbox: Toolbox) -> str:
    """The prompt with this list of tools; its examples are of the same tools where they can be."""
    names = {spec.name for spec in toolbox.specs}
    travel = fill("drl.agent", "react_examples.md")
    fits = _tools_of(travel) <= names
    examples = travel if fits else fill("drl.agent", "react_examples_elsewhere.md")
    prompt = fill("drl.agent", "react.md", tools=tools, examples=examples)
    return with_policy(prompt, toolbox)


@lru_cache(maxsize=4)
def _tools_of(examples: str) -> frozenset[str]:
    return frozenset(_TOOL.findall(examples))
