"""ReAct as josh-train 0.1.4 reads and records it, so that its trees and ours mix.

Commands count wherever their keywords occur, markers, line breaks and backslashes are dropped, and
JSON runs from the first brace to the last. Unlike there, one malformed call refuses a whole
output: what ran beside it would have no place in a step.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from drl.agent._chat import seen
from drl.agent._full import system
from drl.agent._react import MARK, RETURN, parse_last, render_call, render_reply
from drl.agent._style import Style
from drl.agent._tool_list import as_json
from drl.llm.base import Message
from drl.runtime.prompts import fill
from drl.runtime.written_json import only_object, to_text
from drl.types import Step, Toolbox, ToolCall, ToolResult

OUT_OF_RETRIES = "Error: Agent ran out of retries."
"""What the customer hears when the requests of a turn are used up."""

_BAD_CALL = "FAILURE INCORRECTLY FORMATTED APICALL"
_NO_COMMAND = "ERROR: NO COMMAND FOUND"
_ONLY_PLAN = "there is only a PLAN"
_KEYWORD = re.compile(r"(PLAN|APICALL|SPEAK)")


class PaperStyle(Style):
    """PLAN, APICALL and SPEAK with josh-train's reading, error texts and messages."""

    stop = ()
    holds_several = False

    @property
    def note(self) -> str:
        """That only a reply is possible."""
        return fill("drl.agent", "react_last.md")

    def system(self, toolbox: Toolbox) -> str:
        """The rules, the tools in JSON and examples, in our words, and the policy."""
        return system(as_json(toolbox), toolbox)

    def read(self, text: str, toolbox: Toolbox) -> Step:
        """The step of an output; a call of a tool that is not on offer is malformed."""
        clean = text.replace(MARK, "").strip().replace("\n", "").replace("\\", "")
        plan = ""
        calls: list[ToolCall] = []
        reply: str | None = None
        _, *pieces = _KEYWORD.split(clean)
        for keyword, body in zip(pieces[::2], map(str.strip, pieces[1::2]), strict=True):
            if keyword == "PLAN":
                plan = body
            elif keyword == "SPEAK":
                reply = body or None
                break
            else:
                call = _call(body, toolbox)
                if call is None:
                    return _refused(text, plan, _BAD_CALL)
                calls.append(call)
        if not calls and reply is None:
            return _refused(text, plan, _ONLY_PLAN if plan else _NO_COMMAND)
        return Step(text=text, plan=plan, calls=tuple(calls), reply=reply)

    def read_last(self, text: str) -> Step:
        """The reply in an output, leniently."""
        return parse_last(text)

    def shown(self, step: Step, number: int) -> Sequence[Message]:
        """Output and result by turns; the output as it was where it holds one command."""
        if not step.calls and step.reply is None:
            return self._shown_refusal(step)
        if not step.calls:
            is_own = self.read(step.text, _NO_TOOLS).reply == step.reply
            own = step.text if is_own or step.text == step.reply else self.spoken(step.reply or "")
            return [Message("assistant", seen(own))]
        is_single = len(step.calls) == 1 and step.reply is None
        messages: list[Message] = []
        for call, result in zip(step.calls, step.results, strict=True):
            output = step.text if is_single else render_call(step.plan, call)
            value = result.value if result.error is None or result.value else result.error
            messages.append(Message("assistant", seen(output)))
            messages.append(Message("user", f"{RETURN} {to_text(value, ascii_only=True)}"))
        if step.reply is not None:
            messages.append(Message("assistant", render_reply(step.plan, step.reply)))
        return messages

    def spoken(self, text: str) -> str:
        """A SPEAK without a plan."""
        return render_reply("", text)

    def written(self, step: Step) -> str:
        """The plan, then the call or the reply."""
        if step.calls:
            return render_call(step.plan, step.calls[0])
        return render_reply(step.plan, step.reply or "")

    def output(self, step: Step, number: int) -> Message:
        """As shown; of a refusal what its author wrote, also where no prompt shows it."""
        if not step.calls and step.reply is None:
            return Message("assistant", seen(step.text))
        return super().output(step, number)

    def _shown_refusal(self, step: Step) -> Sequence[Message]:
        if not step.results:
            return [Message("assistant", seen(step.text))]  # nobody told its author anything
        error = step.results[0].error
        if error == _ONLY_PLAN:
            return []
        if error == _NO_COMMAND:
            return [Message("assistant", _NO_COMMAND)]
        told = to_text(error, ascii_only=True)
        return [Message("assistant", seen(step.text)), Message("user", f"{RETURN} {told}")]


_NO_TOOLS = Toolbox(())


def _call(body: str, toolbox: Toolbox) -> ToolCall | None:
    try:
        read = only_object(body[body.index("{") : body.rindex("}") + 1])
    except ValueError:
        return None
    name, parameters = read.get("name"), read.get("parameters")
    if not isinstance(parameters, dict) or name not in {spec.name for spec in toolbox.specs}:
        return None
    return ToolCall(str(name), parameters)


def _refused(text: str, plan: str, error: str) -> Step:
    return Step(text=text, plan=plan, results=(ToolResult(None, error=error),))
