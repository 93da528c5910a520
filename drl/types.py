"""The nouns that every part shares: tasks, turns, tool calls, reward events.

All of them are frozen values. A branch of a dialogue shares its past with its siblings, so
nothing here may change after it is built; mappings are read-only by agreement.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

if TYPE_CHECKING:
    JSON: TypeAlias = "str | int | float | bool | Sequence[JSON] | Mapping[str, JSON] | None"
else:  # whatever reads types at run time passes JSON values through as they are
    JSON = Any


class Role(StrEnum):
    """The two sides of a dialogue."""

    AGENT = "agent"
    USER = "user"


class StopReason(StrEnum):
    """Why a branch has no further turns."""

    GOALS_REACHED = "goals_reached"
    USER_ENDED = "user_ended"
    AGENT_ENDED = "agent_ended"
    """With a call after which there is nothing more to say, such as a transfer to a human."""
    MAX_TURNS = "max_turns"
    COLLAPSED = "collapsed"
    """Cut because a sibling earned a reward: censored, neither success nor failure."""
    BUDGET = "budget"
    """Cut because the budget was spent: censored."""
    CONTEXT_OVERFLOW = "context_overflow"
    """The dialogue outgrew a model's context; graded as far as it went."""
    ERROR = "error"
    """Broke for a technical reason: counted, never scored."""


class Outcome(StrEnum):
    """What a finished branch turned out to be."""

    GOLDEN = "golden"
    """The branch the search went on with."""
    SUCCESSFUL = "successful"
    """Earned a reward, or was graded in full, but the search did not go on with it."""
    FAILED = "failed"
    """Came to its own end without earning a reward, or alone and was graded 0."""
    CENSORED = "censored"
    """Was cut before it could succeed or fail."""
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """One tool as a model is told about it; `parameters` is a JSON schema."""

    name: str
    description: str
    parameters: Mapping[str, JSON]

    def to_openai(self) -> dict[str, JSON]:
        """The OpenAI function format."""
        function = {
            "name": self.name,
            "description": self.description,
            "parameters": dict(self.parameters),
        }
        return {"type": "function", "function": function}


@dataclass(frozen=True, slots=True)
class Toolbox:
    """The tools on offer, and the values that are known to exist for their parameters.

    `values` maps tool name -> parameter -> values; open sets (times, numbers) are left out.
    `policy` is what whoever uses them has to keep to, as text for a model.
    """

    specs: tuple[ToolSpec, ...]
    values: Mapping[str, Mapping[str, tuple[str, ...]]] = field(default_factory=dict)
    policy: str = ""


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A tool and the arguments it is called with."""

    name: str
    arguments: Mapping[str, JSON]


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What a tool gave back; `error` is set when the call could not be carried out at all.

    `fulfilled` names the checks of the task that hold after the call. It is for the environment
    that judges goals, and shown to no participant. `ends` says that the dialogue is over with the
    call.
    """

    value: JSON
    error: str | None = None
    fulfilled: tuple[str, ...] = ()
    ends: bool = False


@dataclass(frozen=True, slots=True)
class Place:
    """Where in a run a model is asked: the task and trial, and the node that the turn follows."""

    task_id: str
    trial: int
    node: int | None


@dataclass(frozen=True, slots=True)
class Sampled:
    """The exact tokens of one model call, for training; nothing sampled is ever re-tokenised.

    `log_probs` are natural logarithms under the distribution that was sampled from, one per token.
    """

    prompt_ids: tuple[int, ...]
    token_ids: tuple[int, ...]
    log_probs: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Step:
    """One decision of a participant: what it wrote, the calls in it, and what they returned.

    `text` is exactly what the participant produced (ReAct text or a model's reply) and is private.
    A step with a `reply` ends the turn. `results` pairs up with `calls` once they have run; text
    that could not be read is a step without calls whose one result says why.
    """

    text: str
    plan: str = ""
    calls: tuple[ToolCall, ...] = ()
    results: tuple[ToolResult, ...] = ()
    reply: str | None = None
    sampled: Sampled | None = field(default=None, compare=False, repr=False)
    """The tokens behind the text, where a model wrote it; kept in memory only."""
    is_cut: bool = False
    """Whether a limit of tokens ended the text, and not who wrote it."""


class Executed(NamedTuple):
    """A call that ran: the step it stands in, its place in that step, and what it gave."""

    step: int
    position: int
    call: ToolCall
    result: ToolResult


@dataclass(frozen=True, slots=True)
class Failure:
    """Where and why a dialogue broke; a broken dialogue is data, not a failed one."""

    stage: str
    cause: str


@dataclass(frozen=True, slots=True)
class Turn:
    """What one side does until it hands over; `text` is public, the steps are private.

    `text` is None while the turn goes on (a search that branches inside a turn stores it in
    several nodes).
    """

    role: Role
    text: str | None
    steps: tuple[Step, ...] = ()
    hangs_up: bool = False
    failure: Failure | None = None

    def public(self) -> Turn:
        """The turn as the other side sees it."""
        return Turn(role=self.role, text=self.text, hangs_up=self.hangs_up)

    def executed(self) -> Iterator[Executed]:
        """The calls of the turn with their results, in order."""
        for number, step in enumerate(self.steps):
            if step.calls:
                pairs = zip(step.calls, step.results, strict=True)
                for position, (call, result) in enumerate(pairs):
                    yield Executed(number, position, call, result)


@dataclass(frozen=True, slots=True)
class Goal:
    """Something that earns a sparse reward when the agent does it; `kind` is a tool name.

    `details` belongs to the environment that judges the goal (a booked entity, say).
    """

    kind: str
    domain: str
    arguments: Mapping[str, JSON]
    details: Mapping[str, JSON] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Wish:
    """What a customer wants in one domain, as an agenda-based simulator needs it.

    `first_constraints` and `first_booking` are tried before the final ones and expected to fail.
    """

    domain: str
    constraints: Mapping[str, str]
    first_constraints: Mapping[str, str]
    booking: Mapping[str, str]
    first_booking: Mapping[str, str]
    requests: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Brief:
    """All that the customer knows; it holds no answer (no booked entity, no reference number)."""

    instructions: tuple[str, ...]
    wishes: tuple[Wish, ...] = ()
    human_turns: tuple[str, ...] = ()
    """What a human customer said in this task, in order."""
    human_replies: tuple[str, ...] = ()
    """What a human agent answered to each, where that is known. They may name what was booked, so
    they are for a simulator that keeps to the human dialogue, and never for the agent."""


@dataclass(frozen=True, slots=True)
class Task:
    """One goal for one simulated user. `world` is what its environment opens it in.

    `opening` was said before a rollout starts, by whomever: whoever did not speak last speaks
    first. It earns nothing and is not learned from; its turns have one step each, the reply.
    `groups` (kind of group -> group) are those whose results are reported apart. `temperature` is
    what a benchmark prescribes; agents that leave theirs open speak with it.
    """

    id: str
    split: str
    brief: Brief
    goals: tuple[Goal, ...]
    world: object = field(repr=False, compare=False, default=None)
    opening: tuple[Turn, ...] = ()
    groups: Mapping[str, str] = field(default_factory=dict)
    temperature: float | None = None


@dataclass(frozen=True, slots=True)
class RewardEvent:
    """A reward that a turn earned. The rewards of a dialogue add up to its session total.

    `detail` names the cause: for a goal its position, the call that reached it and its step.
    """

    amount: float
    source: str
    detail: Mapping[str, JSON] = field(default_factory=dict)
