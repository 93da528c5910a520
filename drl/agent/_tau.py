"""ReAct and Act as tau-bench writes them, so that models trained in that form understand it.

    Thought:
    <one line>
    Action:
    {"name": ..., "arguments": {...}}

The text after the last "Action:" counts, and what is no JSON object there is said to the user as
it stands. `respond` with `content` speaks. What a tool gave comes as a user's message that begins
with "API output: ". The format is that of Yao et al. 2024 (arXiv:2406.12045); the instruction is
ours, and unlike theirs quotes the name `respond` in its example.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from drl.agent._chat import seen
from drl.agent._style import Style
from drl.domains.conversation import audible
from drl.domains.tau.marks import ACTION, CONTENT, OUTPUT, RESPOND, THOUGHT
from drl.llm.base import Message
from drl.runtime.prompts import fill
from drl.runtime.tool_results import as_text
from drl.runtime.written_json import only_object, to_text
from drl.types import JSON, Step, Toolbox, ToolCall, ToolResult

_ACTION_IN_JSON = "Action\\u003a"  # the mark inside a JSON string, where it begins nothing
_NO_TOOLS = Toolbox(())


class TauStyle(Style):
    """One action an output, after a thought (react) or without one (act)."""

    stop = ()  # as in tau-bench: of what a model makes up, the last action counts
    holds_several = False

    def __init__(self, *, thinks: bool) -> None:
        self._thinks = thinks

    @property
    def note(self) -> str:
        """That only respond is possible."""
        return fill("drl.agent", "tau_last.md")

    def system(self, toolbox: Toolbox) -> str:
        """The policy, the tools in JSON on one line, and the form of an output."""
        tools = to_text([spec.to_openai() for spec in toolbox.specs], ascii_only=True)
        name = "tau_react.md" if self._thinks else "tau_act.md"
        return "\n\n".join(filter(None, (toolbox.policy, fill("drl.agent", name, tools=tools))))

    def read(self, text: str, toolbox: Toolbox) -> Step:
        """The call or the reply; an object that is neither is refused."""
        before, _, after = text.rpartition(ACTION)
        action = after.strip()
        plan = before.replace(THOUGHT, "").strip()
        if not action:
            return _refused(text, plan, "there is no action")
        try:
            read = only_object(action)
        except ValueError:
            return Step(text=text, plan=plan, reply=action)
        name, arguments = read.get("name"), read.get("arguments")
        if not isinstance(name, str) or not isinstance(arguments, dict):
            return _refused(text, plan, 'an action has a "name" and an object "arguments"')
        if name != RESPOND:
            return Step(text=text, plan=plan, calls=(ToolCall(name, arguments),))
        content = arguments.get(CONTENT)
        if not isinstance(content, str) or not content.strip():
            return _refused(text, plan, f"{RESPOND} needs a text as {CONTENT}")
        return Step(text=text, plan=plan, reply=content)

    def read_last(self, text: str) -> Step:
        """The reply; a call says nothing."""
        step = self.read(text, _NO_TOOLS)
        return Step(text=text, plan=step.plan, reply=step.reply)

    def shown(self, step: Step, number: int) -> Sequence[Message]:
        """The output as it was, then what it gave."""
        if step.reply is not None:
            is_own = audible(self.read(step.text, _NO_TOOLS).reply or "") == step.reply
            return [Message("assistant", seen(step.text if is_own else self.spoken(step.reply)))]
        output = Message("assistant", seen(step.text))
        gave = "\n".join(f"{OUTPUT}{as_text(result)}" for result in step.results)
        return [output, Message("user", gave)] if gave else [output]

    def spoken(self, text: str) -> str:
        """The action respond, without a thought."""
        return self._output("", RESPOND, {CONTENT: text})

    def written(self, step: Step) -> str:
        """The plan as one line, then the call or the reply."""
        if step.calls:
            return self._output(step.plan, step.calls[0].name, step.calls[0].arguments)
        return self._output(step.plan, RESPOND, {CONTENT: step.reply or ""})

    def _output(self, plan: str, name: str, arguments: Mapping[str, JSON]) -> str:
        action = to_text({"name": name, "arguments": dict(arguments)})
        written = f"{ACTION}\n{action.replace(ACTION, _ACTION_IN_JSON)}"
        thought = " ".join(plan.split()) if self._thinks else ""
        return f"{THOUGHT}\n{thought}\n{written}" if thought else written


def _refused(text: str, plan: str, cause: str) -> Step:
    result = ToolResult(None, error=f"nothing was done: {cause}")
    return Step(text=text, plan=plan, results=(result,))
