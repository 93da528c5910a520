"""drl's participants in the roles of josh-train: an agent and a customer."""

import copy
import json
from dataclasses import replace

from drl.agent.base import Agent, Situation
from drl.compat._coroutines import finish, wait
from drl.compat._josh_parts import BaseJOSHAgent, BaseJOSHUser
from drl.compat._toolwoz_conversation import ConversationState, handle_api_calls
from drl.llm.base import LLM
from drl.play.moves import OUT_OF_CALLS
from drl.runtime.seeds import derive
from drl.types import JSON, Brief, Role, Step, ToolCall, ToolResult, Turn
from drl.user_simulator.base import Encounter, UserSimulator

_ROLES = {"user": Role.USER, "assistant": Role.AGENT}


class ToolWOZAgent(BaseJOSHAgent):
    """Plays one whole turn a step.

    `messages_internal` holds its output as it is, and what a call gave as a user's message that
    begins with APIRETURN; so does what was wrong with an output. `recent_actions` are the calls
    of the turn. Copies share the agent and its model, which hold nothing of the dialogue.
    """

    def __init__(self, agent: Agent, llm: LLM) -> None:
        super().__init__()
        self.agent = agent
        self.llm = llm
        self._steps: dict[int, tuple[Step, ...]] = {}
        """The private steps behind a reply, by its place in `messages`."""

    def __deepcopy__(self, memo: dict[int, object]) -> "ToolWOZAgent":
        twin = type(self)(self.agent, self.llm)
        memo[id(self)] = twin
        for name, value in vars(self).items():
            if name not in ("agent", "llm"):
                setattr(twin, name, copy.deepcopy(value, memo))
        return twin

    def step(self, **kwargs: object) -> bool:
        """Call tools and reply; `env` is the conversation. Always hands over.

        Raises:
            TypeError: `env` is none that `build_convo_env` built.
        """
        conversation = kwargs["env"]
        if not isinstance(conversation, ConversationState):
            raise TypeError(f"env must come from build_convo_env, not {conversation!r}")
        self.recent_actions = []
        steps: tuple[Step, ...] = ()
        reply = None
        while reply is None:
            step = self._next(conversation, steps)
            steps, reply = (*steps, step), step.reply
        self._steps[len(self.messages)] = steps
        self.messages.append({"role": "assistant", "content": reply})
        return True

    def _next(self, conversation: ConversationState, steps: tuple[Step, ...]) -> Step:
        calls_left = self.agent.calls_left(steps)
        situation = Situation(
            history=self._history(),
            steps=steps,
            toolbox=conversation.session.toolbox,
            seed=conversation.decision_seed(),
            must_reply=not calls_left,
        )
        move = self.agent.act(situation, self.llm)
        step = wait(move) if self.agent.uses_llm else finish(move)
        if step.reply is None and not calls_left:
            step = replace(step, calls=(), results=(), reply=OUT_OF_CALLS)
        self.messages_internal.append({"role": "assistant", "content": step.text})
        if not step.calls:
            for result in step.results:
                self._tell(result.error)
            return step
        calls = step.calls if self.agent.counts_steps else step.calls[:calls_left]
        results = tuple(self._carry_out(call, conversation) for call in calls)
        return replace(step, calls=calls, results=results)

    def _tell(self, value: JSON) -> None:
        self.messages_internal.append({"role": "user", "content": f"APIRETURN {json.dumps(value)}"})

    def _carry_out(self, call: ToolCall, conversation: ConversationState) -> ToolResult:
        parameters = dict(call.arguments)
        value = handle_api_calls(call.name, parameters, conversation)
        returned: JSON = value[0] if isinstance(value, list) and value else value
        self.recent_actions.append(
            {"name": call.name, "parameters": parameters, "returned": returned}
        )
        self._tell(value)
        return ToolResult(value, error=value if isinstance(value, str) else None)

    def _history(self) -> tuple[Turn, ...]:
        """The dialogue as it stands in `messages`, whoever wrote it."""
        return tuple(
            Turn(_ROLES[str(message["role"])], str(message["content"]), self._steps.get(place, ()))
            for place, message in enumerate(self.messages)
            if message["role"] in _ROLES
        )


class ToolWOZUser(BaseJOSHUser):
    """Says what a simulator says; it sees the public messages only.

    At one turn of a dialogue it has one seed, so that all branches meet the same customer.
    """

    def __init__(
        self, simulator: UserSimulator, llm: LLM, brief: Brief, convo_key: str, seed: int
    ) -> None:
        self.simulator = simulator
        self.llm = llm
        self._brief = brief
        self._convo_key = convo_key
        self._seed = seed

    def step(self, agent: BaseJOSHAgent, **kwargs: object) -> tuple[BaseJOSHAgent, bool]:
        """The agent with the customer's next message, and whether the customer hung up."""
        history = tuple(
            Turn(_ROLES[str(message["role"])], str(message["content"]))
            for message in agent.messages
            if message["role"] in _ROLES
        )
        seed = derive(self._seed, self._convo_key, "user", len(history))
        move = self.simulator.speak(Encounter(self._brief, history, seed), self.llm)
        turn = wait(move) if self.simulator.uses_llm else finish(move)
        agent.add_message({"role": "user", "content": turn.text})
        return agent, turn.hangs_up
