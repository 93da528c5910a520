"""Tasks and how they are evaluated."""

from enum import Enum

from pydantic import BaseModel

from tau2.data_model.message import Message, Requestor, ToolCall, ToolMessage


class RewardType(str, Enum):  # noqa: UP042 (as the package has it)
    DB = "DB"
    ENV_ASSERTION = "ENV_ASSERTION"
    NL_ASSERTION = "NL_ASSERTION"
    ACTION = "ACTION"
    COMMUNICATE = "COMMUNICATE"
    VOICE = "VOICE"


class Action(BaseModel):
    action_id: str
    requestor: Requestor = "assistant"
    name: str
    arguments: dict
    compare_args: list[str] | None = None

    def compare_with_tool_call(self, tool_call: ToolCall) -> bool:
        if self.name != tool_call.name:
            return False
        names = tool_call.arguments if self.compare_args is None else self.compare_args
        given = {name: value for name, value in tool_call.arguments.items() if name in names}
        return given == {name: value for name, value in self.arguments.items() if name in names}


class EnvFunctionCall(BaseModel):
    env_type: Requestor
    func_name: str
    arguments: dict = {}


class EnvAssertion(EnvFunctionCall):
    assert_value: bool = True


class InitialState(BaseModel):
    initialization_data: dict[str, dict] | None = None
    initialization_actions: list[EnvFunctionCall] | None = None
    message_history: list[Message | ToolMessage] | None = None


class Criteria(BaseModel):
    actions: list[Action] | None = None
    env_assertions: list[EnvAssertion] | None = None
    communicate_info: list[str] | None = None
    nl_assertions: list[str] | None = None
    reward_basis: list[RewardType] = [RewardType.DB, RewardType.COMMUNICATE]


class Scenario(BaseModel):
    persona: str | None = None
    instructions: str

    def __str__(self) -> str:
        return f"Persona: {self.persona}\nInstructions: {self.instructions}"


class Task(BaseModel):
    id: str
    user_scenario: Scenario
    initial_state: InitialState | None = None
    evaluation_criteria: Criteria | None = None
    user_tools: list[str] | None = None
