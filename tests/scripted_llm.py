"""A model of the tests: answers as a function says, and remembers what it was asked."""

import random
from collections.abc import Callable, Mapping, Sequence

from drl.llm.base import LLM, Completion, Completions, Message, Request, ToolUse, Usage

Answer = Completion | str
ANYTHING = ("Which area?", "What about the train?", "Anything will do.", "And the price?")


class ScriptedLLM(LLM):
    """`answer` gets the request and the seed of one sample, and gives its completion."""

    def __init__(self, answer: Callable[[Request, int], Answer]) -> None:
        self._answer = answer
        self.requests: list[Request] = []

    @property
    def model(self) -> str:
        return "scripted"

    @property
    def identity(self) -> Mapping[str, str]:
        return {}

    async def complete(self, request: Request) -> Completions:
        self.requests.append(request)
        choices = tuple(_completion(self._answer(request, seed)) for seed in request.seeds)
        return Completions(choices, Usage(0, 0, 0), 0.0)

    async def close(self) -> None:
        """Nothing is open."""


def says(*answers: Answer) -> ScriptedLLM:
    """A model that gives these answers one after the other, and then the last again and again."""
    queue = list(answers)
    return ScriptedLLM(lambda request, seed: queue.pop(0) if len(queue) > 1 else queue[0])


def uses(*calls: tuple[str, str], text: str = "") -> Completion:
    """A completion with native tool calls, given as names and raw arguments."""
    return Completion(
        text,
        "tool_calls",
        tuple(ToolUse(f"id{n}", name, raw) for n, (name, raw) in enumerate(calls)),
    )


def polite() -> ScriptedLLM:
    """A model that answers whatever option asks it in the form its prompt wants.

    Above temperature 0 the seed chooses the words. A customer hangs up after ten turns, if anyone
    has answered.
    """
    return ScriptedLLM(_politely)


def _politely(request: Request, seed: int) -> str:
    chooses = request.sampling.temperature != 0
    words = random.Random(seed).choice(ANYTHING) if chooses else ANYTHING[0]
    told = request.messages[0].content
    if told.endswith("Classification:"):
        return "true"
    if request.purpose == "user":
        has_enough = _turns(request.messages) >= 10 and _is_answered(request.messages)
        end = "###STOP###" if "###STOP###" in told else "END_CONVERSATION"
        words = end if has_enough else "I need a place to stay."
        if "User Response:" in told:
            return f"Thought:\nStay on course.\n\nUser Response:\n{words}"
        return f'Stay on course.\nSuggested quote: "{words}"' if "quote" in told else words
    if "<COMMAND_END>" in told:
        return f"PLAN I reply. <COMMAND_END> SPEAK {words} <COMMAND_END>"
    return f"SAY {words}" if "SAY" in told else words


def _is_answered(messages: Sequence[Message]) -> bool:
    """Whether a user's prompt shows words of an agent."""
    in_chat = sum(message.role == "user" for message in messages) > 1  # the first asks to begin
    return in_chat or "\nagent: " in messages[0].content


def _turns(messages: Sequence[Message]) -> int:
    """Customer turns that a user's prompt shows, as messages or as lines of a transcript."""
    as_messages = sum(message.role == "assistant" for message in messages)
    return as_messages or sum(message.content.count("\ncustomer: ") for message in messages)


def _completion(answer: Answer) -> Completion:
    return answer if isinstance(answer, Completion) else Completion(answer, "stop")
