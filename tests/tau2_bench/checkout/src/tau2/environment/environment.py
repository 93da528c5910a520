"""The tools of both sides."""

import json

from pydantic import BaseModel

from tau2.data_model.message import ToolCall, ToolMessage
from tau2.data_model.tasks import EnvFunctionCall
from tau2.environment.toolkit import Tool, Toolkit


class Environment:
    def __init__(self, policy: str, tools: Toolkit, user_tools: Toolkit | None = None) -> None:
        self.policy = policy
        self.tools = tools
        self.user_tools = user_tools
        self.sync_tools()

    def sync_tools(self) -> None:
        """Nothing to keep in step."""

    def get_policy(self) -> str:
        return self.policy

    def get_tools(self) -> list[Tool]:
        return [Tool(*named) for named in self.tools.tools.items()]

    def get_user_tools(self) -> list[Tool]:
        if self.user_tools is None:
            raise ValueError("User tools not available")
        return [Tool(*named) for named in self.user_tools.tools.items()]

    def _side(self, requestor: str) -> Toolkit:
        side = self.tools if requestor == "assistant" else self.user_tools
        if side is None:
            raise ValueError("User tools not available")
        return side

    def make_tool_call(self, tool_name: str, requestor: str = "assistant", **kwargs) -> object:
        return self._side(requestor).use_tool(tool_name, **kwargs)

    def get_response(self, message: ToolCall) -> ToolMessage:
        error = False
        try:
            said = self.make_tool_call(
                message.name, requestor=message.requestor, **message.arguments
            )
            self.sync_tools()
        except Exception as problem:
            said, error = f"Error: {problem}", True
        if isinstance(said, BaseModel):
            said = said.model_dump()
        content = said if isinstance(said, str) else json.dumps(said, default=str)
        return ToolMessage(content=content, requestor=message.requestor, error=error)

    def run_env_function_call(self, call: EnvFunctionCall) -> object:
        result = getattr(self._side(call.env_type), call.func_name)(**call.arguments)
        self.sync_tools()
        return result

    def run_env_assertion(self, assertion, raise_assertion_error: bool = True) -> bool:
        holds = self.run_env_function_call(assertion) == assertion.assert_value
        assert holds or not raise_assertion_error
        return holds

    def set_state(self, initialization_data, initialization_actions, message_history) -> None:
        for side, data in (initialization_data or {}).items():
            self._side("assistant" if side == "agent_data" else "user").update_db(data)
        for call in initialization_actions or ():
            self.run_env_function_call(call)
        answers = [message for message in message_history if message.role == "tool"]
        asked = (m.tool_calls or () for m in message_history if m.role != "tool")
        calls = [call for calls in asked for call in calls]
        for call, answer in zip(calls, answers, strict=True):
            if self.get_response(call).content != answer.content:
                raise ValueError(f"{call.name} returned something else than {answer.content}")
        self.sync_tools()

    def get_db_hash(self) -> str:
        return self.tools.get_db_hash()

    def get_user_db_hash(self) -> str | None:
        return None if self.user_tools is None else self.user_tools.get_db_hash()
