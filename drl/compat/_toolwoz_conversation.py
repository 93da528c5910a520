"""One ToolWOZ dialogue as josh-train's programs see it: goals, calls so far, and their verdict.

All calls of a dialogue go through one conversation, whatever branch they come from. That is safe
here because nothing that is called changes what a later call returns.
"""

import copy
from collections.abc import Iterable, Mapping, Sequence
from itertools import count
from typing import TypedDict, cast

from drl.compat._coroutines import finish
from drl.compat._josh_parts import BaseRewards
from drl.compat._toolwoz_apis import Apis
from drl.environment.base import Environment
from drl.runtime.seeds import derive
from drl.types import JSON, Goal, Task, ToolCall, ToolResult


class CalledApi(TypedDict):
    """A call that was made; for a search `returned` is the entity itself, if there was one."""

    name: str
    parameters: Mapping[str, JSON]
    returned: JSON


class ConversationState:
    """A dialogue, its goals and the calls that were made in it."""

    def __init__(
        self, task: Task, apis: Apis, goals: Mapping[str, JSON], tools: Environment, seed: int
    ) -> None:
        self.task = task
        self.convo_key = task.id
        self.apis = apis
        self.goals = goals
        self.called_apis: list[CalledApi] = []
        self.session = tools.open(task)
        self.seed = seed
        self._tools = tools
        self._num_decisions = count()

    def call(self, api_name: str, api_args: Mapping[str, JSON]) -> ToolResult:
        """Carry out a call and record it."""
        # rows of the tables are shared by all dialogues, so the caller gets a copy
        result = copy.deepcopy(finish(self.session.call(ToolCall(api_name, api_args))))
        self.add_api_call(api_name, api_args, result.value)
        return result

    def add_api_call(self, api_name: str, api_args: Mapping[str, JSON], returned: JSON) -> None:
        """Record a call with what it returned."""
        if api_name.startswith("search_") and isinstance(returned, list):
            returned = returned[0] if returned else None
        self.called_apis.append({"name": api_name, "parameters": api_args, "returned": returned})

    def close_convos(self) -> None:
        """Does nothing: the tables are shared by all conversations, so there is nothing to free."""

    def decision_seed(self) -> int:
        """Another seed at each call, so that copies of one agent go different ways."""
        return derive(self.seed, self.convo_key, "agent", next(self._num_decisions))

    def _judge(self, called_apis: Sequence[CalledApi], apis: Apis) -> tuple[list[Goal], list[Goal]]:
        """The goals that still stand in `apis`: those reached and those missed."""
        standing = [
            goal
            for goal in self.task.goals
            if goal.domain in apis and goal.kind in apis[goal.domain]["success"]
        ]
        reached = [
            goal
            for goal in standing
            if any(
                self._tools.achieves(
                    goal, ToolCall(called["name"], called["parameters"]), _result(called), standing
                )
                for called in called_apis
            )
        ]
        return reached, [goal for goal in standing if goal not in reached]


class Conversation(ConversationState):
    """A dialogue that is judged at its end, by all calls that were made in it."""

    def evaluate_apis(self) -> tuple[float, list[dict[str, dict[str, JSON]]]]:
        """Share of the goals reached so far, and those missed with their parameters.

        A dialogue without goals has a share of 0.0.
        """
        reached, missed = self._judge(self.called_apis, self.apis)
        num_goals = len(reached) + len(missed)
        return (len(reached) / num_goals if num_goals else 0.0), _described(missed, self.apis)


class SearchedConversation(ConversationState):
    """A dialogue that is searched: goals are struck off `apis_for_eval` as branches hit them.

    Once a booking is struck off, the search of its domain need not return the booked entity.
    """

    def __init__(
        self, task: Task, apis: Apis, goals: Mapping[str, JSON], tools: Environment, seed: int
    ) -> None:
        super().__init__(task, apis, goals, tools, seed)
        self.apis_for_eval = copy.deepcopy(apis)

    def evaluate_apis(
        self, called_apis: Sequence[CalledApi]
    ) -> tuple[int, int, list[dict[str, dict[str, JSON]]], list[tuple[str, str]]]:
        """How many open goals these calls reach, how many are open, those missed, those reached.

        Goals reached come as (domain, tool); those missed with their parameters.
        """
        reached, missed = self._judge(called_apis, self.apis_for_eval)
        return (
            len(reached),
            len(reached) + len(missed),
            _described(missed, self.apis_for_eval),
            [(goal.domain, goal.kind) for goal in reached],
        )


class ToolWOZRewards(BaseRewards):
    """The open goals of a searched conversation, as (domain, tool)."""

    def __init__(self, env: SearchedConversation) -> None:
        self.env = env
        super().__init__(
            (domain, api) for domain, apis in env.apis_for_eval.items() for api in apis["success"]
        )

    def is_reward(self, agent_actions: Sequence[object]) -> tuple[bool, list[object]]:
        """Whether the calls (in the form of `CalledApi`, or None) reach open goals, and which."""
        called_apis = [cast(CalledApi, action) for action in agent_actions if action]
        num_reached, _, _, reached = self.env.evaluate_apis(called_apis)
        return num_reached > 0, list(reached)

    def delete_reward(self, rewards_to_delete: Iterable[object]) -> None:
        """Close these goals, here and in the conversation; one closed before is passed over."""
        closed = list(rewards_to_delete)
        super().delete_reward(closed)
        for domain, apis in self.env.apis_for_eval.items():
            for api in list(apis["success"]):
                if (domain, api) in closed:
                    del apis["success"][api]


def handle_api_calls(
    api_name: str, api_args: Mapping[str, JSON], conversation_state: ConversationState
) -> JSON:
    """Carry out a call, record it in the conversation, and return what the tool gives.

    A search gives a list of at most one entity; a booking whether it succeeded, and a reference.
    A call that cannot be carried out gives a text that begins with "ERROR: INVALID API CALL!".
    """
    result = finish(conversation_state.session.call(ToolCall(api_name, api_args)))
    returned = copy.deepcopy(result.value)  # the row itself belongs to all conversations
    conversation_state.add_api_call(api_name, api_args, returned)
    return returned


def _result(called: CalledApi) -> ToolResult:
    """What the tool gave, from the form in which calls are recorded."""
    returned = called["returned"]
    if called["name"].startswith("search_") and isinstance(returned, Mapping):
        return ToolResult([returned])
    return ToolResult(returned)


def _described(goals: Sequence[Goal], apis: Apis) -> list[dict[str, dict[str, JSON]]]:
    return [{goal.kind: apis[goal.domain]["success"][goal.kind]["parameters"]} for goal in goals]
