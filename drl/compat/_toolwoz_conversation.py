"""One ToolWOZ dialogue as josh-train's programs see it: goals, calls so far, and their verdict.

All calls of a dialogue go through one conversation, whatever branch they come from. That is safe
here because nothing that is called changes what a later call returns.
"""

import copy
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, Required, TypedDict

from drl.compat._coroutines import finish
from drl.domains.toolwoz.world import Scene, World
from drl.environment.base import Environment, Session
from drl.types import JSON, Goal, Task, ToolCall, ToolResult

_SPLITS: Final = ("train", "val", "full_test")
"""Those that share no dialogue and together hold all."""


class GoalApi(TypedDict, total=False):
    """What one goal asks for. Bookings also have `returns` and the booked entity's `unique_id`."""

    parameters: Required[dict[str, JSON]]
    returns: JSON
    unique_id: JSON


class DomainApis(TypedDict):
    """The goals of one domain, calls that are expected to fail, and what the customer asks."""

    success: dict[str, GoalApi]
    failure: dict[str, GoalApi]
    requests: list[str]


class CalledApi(TypedDict):
    """A call that was made; for a search `returned` is the entity itself, or None."""

    name: str
    parameters: Mapping[str, JSON]
    returned: JSON


Apis = dict[str, DomainApis]
"""The goals of one dialogue by domain, in josh-train's layout."""


class ApiIndex(Mapping[str, Apis]):
    """The goals of every dialogue by its id, derived when asked for."""

    def __init__(self, world: World) -> None:
        self._world = world

    def __getitem__(self, convo_key: str) -> Apis:
        return _apis(self._world.scene(convo_key), self._world)

    def __iter__(self) -> Iterator[str]:
        return (convo_key for split in _SPLITS for convo_key in self._world.splits[split])

    def __len__(self) -> int:
        return sum(len(self._world.splits[split]) for split in _SPLITS)


class ToolWOZDialogue:
    """What both kinds of conversation share: the goals, the tools and the record of calls.

    `goals` holds the `message` lines that the customer was told.
    """

    def __init__(self, task: Task, apis: Apis, messages: Sequence[str], tools: Environment) -> None:
        self.task: Final = task
        self.convo_key: Final = task.id
        self.apis: Final = apis
        self.goals: Final = {"message": list(messages)}
        self.session: Final[Session] = tools.open(task)
        self.called_apis: list[CalledApi] = []
        self._tools = tools

    def add_api_call(self, api_name: str, api_args: Mapping[str, JSON], returned: JSON) -> None:
        """Record a call with what it returned."""
        self.called_apis.append(called_api(api_name, api_args, returned))

    def close_convos(self) -> None:
        """Does nothing: the tables are shared by all conversations, so there is nothing to free."""

    def judge(
        self, called_apis: Sequence[CalledApi], apis: Apis
    ) -> tuple[list[Goal], list[dict[str, GoalApi]]]:
        """Of the goals that stand in `apis`: those reached, and those missed in its layout."""
        standing = [goal for goal in self.task.goals if goal.kind in apis[goal.domain]["success"]]
        made = [(ToolCall(c["name"], c["parameters"]), _result(c)) for c in called_apis]
        reached: list[Goal] = []
        missed: list[dict[str, GoalApi]] = []
        for goal in standing:
            if any(self._tools.achieves(goal, call, result, standing) for call, result in made):
                reached.append(goal)
            else:
                missed.append({goal.kind: apis[goal.domain]["success"][goal.kind]})
        return reached, missed


class Conversation(ToolWOZDialogue):
    """A dialogue that is judged at its end, by all calls that were made in it."""

    def evaluate_apis(self) -> tuple[float, list[dict[str, dict[str, JSON]]]]:
        """Share of the goals reached so far, and the parameters of those missed by tool."""
        reached, missed = self.judge(self.called_apis, self.apis)
        return len(reached) / (len(reached) + len(missed)), _parameters(missed)


class SearchedConversation(ToolWOZDialogue):
    """A dialogue that is searched: goals are struck off `apis_for_eval` as branches reach them."""

    def __init__(self, task: Task, apis: Apis, messages: Sequence[str], tools: Environment) -> None:
        super().__init__(task, apis, messages, tools)
        self.apis_for_eval = copy.deepcopy(apis)

    def evaluate_apis(
        self, called_apis: Sequence[CalledApi]
    ) -> tuple[int, int, list[dict[str, dict[str, JSON]]], list[tuple[str, str]]]:
        """What these calls reach of the goals that still stand.

        Returns how many they reach, how many stand, the parameters of those missed by tool, and
        those reached as (domain, tool).
        """
        reached, missed = self.judge(called_apis, self.apis_for_eval)
        hit = [(goal.domain, goal.kind) for goal in reached]
        return len(hit), len(hit) + len(missed), _parameters(missed), hit


def handle_api_calls(
    api_name: str, api_args: Mapping[str, JSON], conversation_state: ToolWOZDialogue
) -> JSON:
    """What a call returns; it is recorded in the conversation.

    A list of at most one entity for a search; success and booking for a booking; a text that
    begins with "ERROR: INVALID API CALL!" where the call cannot be carried out.
    """
    # rows of the tables are shared by all dialogues, so the caller gets a copy
    value = copy.deepcopy(finish(conversation_state.session.call(ToolCall(api_name, api_args))))
    conversation_state.add_api_call(api_name, api_args, value.value)
    return value.value


def called_api(api_name: str, api_args: Mapping[str, JSON], returned: JSON) -> CalledApi:
    """A call in the layout in which conversations are judged."""
    if api_name.startswith("search_") and isinstance(returned, list):
        returned = returned[0] if returned else None
    return {"name": api_name, "parameters": api_args, "returned": returned}


def _result(call: CalledApi) -> ToolResult:
    """What the call returned, as the environment's own sessions return it."""
    returned = call["returned"]
    is_entity = call["name"].startswith("search_") and isinstance(returned, Mapping)
    return ToolResult([returned] if is_entity else returned)


def _parameters(missed: Sequence[Mapping[str, GoalApi]]) -> list[dict[str, dict[str, JSON]]]:
    return [{kind: api["parameters"] for kind, api in goal.items()} for goal in missed]


def _apis(scene: Scene, world: World) -> Apis:
    derived = scene.derived
    apis: Apis = {
        domain: {"success": {}, "failure": {}, "requests": list(requests)}
        for domain, requests in derived.requests.items()
    }
    for goal in derived.goals:
        apis[goal.domain]["success"][goal.kind] = _goal_api(goal, world)
    for failing in derived.failures:
        apis[failing.domain]["failure"][failing.kind] = _goal_api(failing, world)
    return apis


def _goal_api(goal: Goal, world: World) -> GoalApi:
    """A goal in josh-train's layout, where a parameter that sets no constraint is empty."""
    names = (*world.definitions[goal.kind].parameters, *goal.arguments)
    api: GoalApi = {"parameters": {name: goal.arguments.get(name, "") for name in names}}
    if "booking" in goal.details:
        api["returns"] = copy.deepcopy(goal.details["booking"])
        api["unique_id"] = goal.details["entity"]
    return api
