"""josh-train's ToolWOZ builders on drl's data, environment and participants without a model.

`args` is any object with the attributes of josh-train's command line (`vars` must show them).
`task_split`, `agent_strategy`, `user_mode`, `temperature`, `josh` and `seed` are read, and
`data_dir` for where the data lies.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import cast

from drl.agent.base import Situation
from drl.agent.rule import RuleAgent
from drl.compat._coroutines import finish
from drl.compat._josh_parts import BaseJOSHAgent, BaseJOSHUser, BaseRewards
from drl.compat._toolwoz_conversation import (
    ApiIndex,
    CalledApi,
    Conversation,
    DialogueState,
    GoalKey,
    SearchedConversation,
    handle_api_calls,
)
from drl.dataset.toolwoz import ToolWOZDataset
from drl.domains.toolwoz.world import load
from drl.environment.toolwoz import ToolWOZEnvironment as Tools
from drl.errors import ConfigError
from drl.runtime.seeds import derive
from drl.types import Brief, Role, Step, Task, ToolResult, Turn
from drl.user_simulator.agenda import AgendaUserSimulator
from drl.user_simulator.base import Encounter, UserSimulator
from drl.user_simulator.script import ScriptUserSimulator

_SPLITS = ("train", "val", "test", "full_test")


_ROLES = {"assistant": Role.AGENT, "user": Role.USER}


class ToolWOZEnvironment:
    """The data set: goals of every dialogue, splits, tools; downloads the data when missing."""

    def __init__(self, args: object) -> None:
        self._root = str(_setting(args, "data_dir", "data"))
        split = str(_setting(args, "task_split", "test"))
        if split not in _SPLITS:
            raise ConfigError(f"task_split={split} is unknown; use one of {', '.join(_SPLITS)}")
        self._dataset(split).load()
        world = load(Path(self._root))
        self.apis = ApiIndex(world)
        self.tools = [spec.to_openai() for spec in world.toolbox.specs]
        self.valid_api_defs = world.definitions
        self.train_ids = list(world.splits["train"])
        self.val_ids = list(world.splits["val"])
        self.test_ids = list(world.splits["test"])
        self.test_ids_full = list(world.splits["full_test"])
        self.set_to_run = list(world.splits[split])
        self.model = None
        self.tokenizer = None
        self._split = {i: s for s in ("train", "val", "full_test") for i in world.splits[s]}

    def task(self, convo_key: str) -> Task:
        """The task that a dialogue is."""
        return self._dataset(self._split[convo_key], convo_key).load()[0]

    def _dataset(self, split: str, *ids: str) -> ToolWOZDataset:
        return ToolWOZDataset(
            root=self._root,
            split=split,
            ids=list(ids) or None,
            exclude_unwinnable=False,
            limit=None,
            shard=0,
            num_shards=1,
        )


class ToolWOZRewards(BaseRewards):
    """The goals of a searched conversation, as (domain, tool)."""

    def __init__(self, env: SearchedConversation) -> None:
        super().__init__([(goal.domain, goal.kind) for goal in env.task.goals])
        self.env = env

    def is_reward(self, agent_actions: Sequence[object]) -> tuple[bool, list[object]]:
        """Whether these calls reach an open goal, and all that they reach."""
        calls = [cast(CalledApi, action) for action in agent_actions if action]
        num_reached, _, _, keys = self.env.evaluate_apis(calls)
        return num_reached > 0, list(keys)

    def delete_reward(self, rewards_to_delete: Sequence[GoalKey]) -> None:  # pyright: ignore[reportIncompatibleMethodOverride]
        """Strike these goals, also from what later calls are judged by."""
        for domain, api in rewards_to_delete:
            self.rewards.remove((domain, api))
            del self.env.apis_for_eval[domain]["success"][api]


class RuleAgentSimulator(BaseJOSHAgent):
    """`agent=rule` as an agent of josh-train: one step is one whole turn."""

    def __init__(self, agent: RuleAgent, seed: int) -> None:
        super().__init__()
        self._agent = agent
        self._seed = seed
        self._own_steps: list[tuple[Step, ...]] = []

    def step(self, **kwargs: object) -> bool:
        """Call and speak; the calls that were made are in `recent_actions`."""
        env = kwargs["env"]
        assert isinstance(env, DialogueState), "build_convo_env made it"
        history, steps = self._history(), ()
        while not (steps and steps[-1].reply is not None):
            num_calls = sum(len(step.calls) for step in steps)
            step = finish(
                self._agent.act(
                    Situation(
                        history=history,
                        steps=steps,
                        toolbox=env.session.toolbox,
                        seed=derive(self._seed, env.convo_key, next(env.seeds)),
                        must_reply=num_calls >= self._agent.max_tool_calls,
                    )
                )
            )
            steps += (self._carry_out(step, env),)
        self._own_steps.append(steps)
        self.messages.append({"role": "assistant", "content": str(steps[-1].reply)})
        return True

    def _history(self) -> tuple[Turn, ...]:
        own = iter(self._own_steps)
        return tuple(
            Turn(Role.AGENT, str(message["content"]), next(own))
            if message["role"] == "assistant"
            else Turn(Role.USER, str(message["content"]))
            for message in self.messages
        )

    def _carry_out(self, step: Step, env: DialogueState) -> Step:
        """The step with its results; call and return are written down as josh-train does."""
        self.messages_internal.append({"role": "assistant", "content": step.text})
        results: list[ToolResult] = []
        for call in step.calls:
            value = handle_api_calls(call.name, call.arguments, env)
            self.recent_actions.append(env.called_apis[-1])
            self.messages_internal.append(
                {"role": "user", "content": f"APIRETURN {json.dumps(value)}"}
            )
            results.append(ToolResult(value))
        return Step(step.text, step.plan, step.calls, tuple(results) or step.results, step.reply)


class BriefedUser(BaseJOSHUser):
    """A customer of drl as a user of josh-train; all that it knows is its brief and the talk."""

    def __init__(self, user: UserSimulator, brief: Brief, seed: int) -> None:
        self._user = user
        self._brief = brief
        self._seed = seed

    def step(self, agent: BaseJOSHAgent, **kwargs: object) -> tuple[BaseJOSHAgent, bool]:
        """The agent with the customer's next message, and whether it hung up."""
        history = tuple(
            Turn(_ROLES[str(message["role"])], str(message["content"]))
            for message in agent.messages
        )
        seed = derive(self._seed, "user", len(history))
        turn = finish(self._user.speak(Encounter(self._brief, history, seed)))
        agent.add_message({"role": "user", "content": str(turn.text)})
        return agent, turn.hangs_up


def build_convo_env(
    args: object, convo_key: str, toolwoz_env: ToolWOZEnvironment
) -> Conversation | SearchedConversation:
    """A fresh conversation; with `args.josh` one whose goals are struck off as they are hit."""
    kind = SearchedConversation if _setting(args, "josh", False) else Conversation
    return kind(toolwoz_env.task(convo_key), toolwoz_env.apis[convo_key], Tools(mode="faithful"))


def build_user(
    args: object, toolwoz_env: ToolWOZEnvironment, conversation_env: DialogueState
) -> BriefedUser:
    """A customer for this conversation: `args.user_mode` agenda or script."""
    users: dict[str, UserSimulator] = {
        "agenda": AgendaUserSimulator(phrasing="train", first_wish="tentative", patience=3),
        "script": ScriptUserSimulator(),
    }
    mode = str(_setting(args, "user_mode", "agenda"))
    if mode not in users:
        raise ConfigError(f"user_mode={mode} is not built here; known: {', '.join(users)}")
    return BriefedUser(users[mode], conversation_env.task.brief, _seed(args))


def build_agent(args: object, toolwoz_env: ToolWOZEnvironment) -> RuleAgentSimulator:
    """An agent: `args.agent_strategy` rule, erring with `args.temperature`."""
    strategy = str(_setting(args, "agent_strategy", "rule"))
    if strategy != "rule":
        raise ConfigError(f"agent_strategy={strategy} is not built here; known: rule")
    temperature = float(str(_setting(args, "temperature", 0.0)))
    return RuleAgentSimulator(RuleAgent(temperature=temperature, max_tool_calls=3), _seed(args))


def _setting(args: object, name: str, otherwise: object) -> object:
    """An attribute of `args`; programs need not set those that they do not care about."""
    return vars(args).get(name, otherwise)


def _seed(args: object) -> int:
    return int(str(_setting(args, "seed", 10)))
