"""josh-train's way into ToolWOZ: an environment, and functions that build what a dialogue needs.

`args` is a namespace. Read from it, with the values that hold where it lacks them:

    data_dir="data"     where the data is kept; fetched the first time
    task_split="test"   train, val, test or full_test
    josh=False          whether conversations are searched or judged at their end
    seed=10             of participants; one seed gives one dialogue
    temperature=0.0     of the agent
    agent_strategy="rule"   rule, react or function_calling
    model               of the agent, where it needs one: as `drl.compat._toolwoz_models` reads it
    peft_dir=None       adapter for a local model of the agent
    user_mode="agenda"  agenda, script, goal or guide
    user_model          of the customer, where it needs one
"""

from collections.abc import Callable
from pathlib import Path
from typing import Final

from drl.agent.base import Agent
from drl.agent.function_calling import FunctionCallingAgent
from drl.agent.react import ReactAgent
from drl.agent.rule import RuleAgent
from drl.compat._toolwoz_apis import ApiIndex, definitions, examples, wishes
from drl.compat._toolwoz_conversation import (
    Conversation,
    ConversationState,
    SearchedConversation,
)
from drl.compat._toolwoz_models import Models
from drl.compat._toolwoz_participants import ToolWOZAgent, ToolWOZUser
from drl.domains.toolwoz import world
from drl.domains.toolwoz.brief import brief
from drl.domains.toolwoz.fetch import fetch
from drl.environment import toolwoz
from drl.errors import ConfigError
from drl.llm.base import LLM, NoLLM
from drl.types import Task
from drl.user_simulator.agenda import AgendaUserSimulator
from drl.user_simulator.base import UserSimulator
from drl.user_simulator.goal import GoalUserSimulator
from drl.user_simulator.guide import GuideUserSimulator
from drl.user_simulator.script import ScriptUserSimulator

_SPLITS: Final = ("train", "val", "test", "full_test")


class ToolWOZEnvironment:
    """The data of ToolWOZ and the dialogues to run; calls are served as josh-train serves them.

    `model` and `tokenizer` are None: participants ask `models`, which loads each model once.
    """

    def __init__(self, args: object) -> None:
        """Load the data, and fetch it first where it is missing.

        Raises:
            ConfigError: there is no such split.
            DataError: the data cannot be fetched or read.
        """
        split = _choice(args, "task_split", "test", _SPLITS)
        root = Path(str(vars(args).get("data_dir", "data")))
        fetch(root)
        self.world: Final = world.load(root)
        self.tools: Final = toolwoz.ToolWOZEnvironment(mode="faithful")
        self.apis = ApiIndex(self.world)
        self.api_examples = examples(self.world)
        self.valid_api_defs = definitions(self.world)
        ids = {name: list(self.world.splits[name]) for name in _SPLITS}
        self.train_ids = ids["train"]
        self.val_ids = ids["val"]
        self.test_ids = ids["test"]
        self.test_ids_full = ids["full_test"]
        self.set_to_run = list(ids[split])
        self.models = Models(root)
        self.model = None
        self.tokenizer = None

    def task(self, convo_key: str) -> Task:
        """One dialogue as the rest of drl sees it.

        Raises:
            KeyError: there is none of this id.
        """
        scene = self.world.scene(convo_key)
        return Task(
            id=convo_key,
            split=next(name for name in _SPLITS if convo_key in self.world.splits[name]),
            brief=brief(scene.record, self.world.definitions),
            goals=scene.derived.goals,
            world=scene,
        )


def build_convo_env(
    args: object, convo_key: str, toolwoz_env: ToolWOZEnvironment
) -> Conversation | SearchedConversation:
    """A fresh conversation, searched with `args.josh` and otherwise judged at its end.

    Raises:
        KeyError: there is no dialogue of this id.
    """
    form = SearchedConversation if vars(args).get("josh", False) else Conversation
    task = toolwoz_env.task(convo_key)
    goals = wishes(toolwoz_env.world.scene(convo_key).record)
    seed = int(vars(args).get("seed", 10))
    return form(task, toolwoz_env.apis[convo_key], goals, toolwoz_env.tools, seed)


def build_user(
    args: object, toolwoz_env: ToolWOZEnvironment, conversation_env: ConversationState
) -> ToolWOZUser:
    """The customer of a conversation.

    Raises:
        ConfigError: there is no such `args.user_mode`, or it needs an `args.user_model`.
    """
    # as josh-train's customers speak, at conf/user_simulator's other values
    sampling = {"temperature": 0.0, "top_p": None, "top_k": None, "max_tokens": 256}
    modes: dict[str, Callable[[], UserSimulator]] = {
        "agenda": lambda: AgendaUserSimulator(first_wish="tentative", phrasing="train", patience=3),
        "script": ScriptUserSimulator,
        "goal": lambda: GoalUserSimulator(
            **sampling, fidelity=False, retries=0, reminder_role="system"
        ),
        "guide": lambda: GuideUserSimulator(**sampling, fidelity=False, retries=0),
    }
    simulator = modes[_choice(args, "user_mode", "agenda", tuple(modes))]()
    return ToolWOZUser(
        simulator,
        _model(args, "user_model", toolwoz_env, None) if simulator.uses_llm else NoLLM("user_llm"),
        conversation_env.task.brief,
        conversation_env.convo_key,
        conversation_env.seed,
    )


def build_agent(args: object, toolwoz_env: ToolWOZEnvironment) -> ToolWOZAgent:
    """An agent that has not spoken yet.

    Raises:
        ConfigError: there is no such `args.agent_strategy`, it needs an `args.model`, or
            `args.temperature` is out of range.
    """
    temperature = float(vars(args).get("temperature", 0.0))
    # three tries a turn and 256 tokens each, as josh-train's agents have
    asking = {"temperature": temperature, "max_tokens": 256, "max_tool_calls": 3}
    strategies: dict[str, Callable[[], Agent]] = {
        "rule": lambda: RuleAgent(temperature=temperature, max_tool_calls=3),
        "react": lambda: ReactAgent(
            **asking, top_p=None, top_k=None, style="paper", limit_on="requests"
        ),
        "function_calling": lambda: FunctionCallingAgent(
            **asking,
            top_p=None,
            top_k=None,
            style="desk",
            first_call_only=False,
            demonstrations=None,
            num_demonstrations=1,
            demonstrations_seed=0,
        ),
    }
    agent = strategies[_choice(args, "agent_strategy", "rule", tuple(strategies))]()
    adapter = vars(args).get("peft_dir")
    llm = _model(args, "model", toolwoz_env, adapter) if agent.uses_llm else NoLLM("llm")
    return ToolWOZAgent(agent, llm)


def _model(args: object, key: str, toolwoz_env: ToolWOZEnvironment, adapter: str | None) -> LLM:
    name = vars(args).get(key)
    if not name:
        raise ConfigError(f"args.{key} is not set, but this participant speaks through a model")
    return toolwoz_env.models.get(str(name), adapter)


def _choice(args: object, name: str, default: str, known: tuple[str, ...]) -> str:
    chosen = vars(args).get(name, default)
    if chosen not in known:
        raise ConfigError(f"args.{name}={chosen} is not built here; known: {', '.join(known)}")
    return chosen
