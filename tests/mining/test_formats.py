"""Rows as TRL and OpenAI read them."""

import pytest
from mining.forest import ListedMiner

from drl.errors import ConfigError
from drl.llm.base import Message, ToolUse
from drl.miner.base import DPORow, KTORow, Miner, Origin, SFTRow
from drl.mining.formats import form_of, to_openai, to_trl
from drl.types import RewardEvent, ToolSpec

TOOLS = (ToolSpec("find", "finds", {"type": "object", "properties": {}}),)
FUNCTION = {
    "type": "function",
    "function": {
        "name": "find",
        "description": "finds",
        "parameters": {"type": "object", "properties": {}},
    },
}
ORIGIN = Origin(
    run="run/1", task_id="a", trial=0, nodes=(1, 3), step=2, events=(RewardEvent(0.5, "goal"),)
)
WRITTEN_ORIGIN = {
    "run": "run/1",
    "task_id": "a",
    "trial": 0,
    "nodes": (1, 3),
    "step": 2,
    "events": ({"amount": 0.5, "source": "goal", "detail": {}},),
}
ASKED = Message("user", "a room")
CALL = Message("assistant", "", (ToolUse("c1", "find", '{"area": "north"}'),))
GAVE = Message("tool", "[]", tool_call_id="c1")
SAID = Message("assistant", "none")


def called(arguments: object) -> list[dict[str, object]]:
    function = {"name": "find", "arguments": arguments}
    return [{"id": "c1", "type": "function", "function": function}]


def test_trl_gets_arguments_as_objects_and_the_origin():
    row = to_trl(KTORow(prompt=(ASKED,), completion=CALL, label=True, tools=TOOLS, origin=ORIGIN))
    assert row == {
        "prompt": [{"role": "user", "content": "a room"}],
        "completion": [
            {"role": "assistant", "content": "", "tool_calls": called({"area": "north"})}
        ],
        "label": True,
        "tools": [FUNCTION],
        "origin": WRITTEN_ORIGIN,
    }


def test_trl_gets_pairs_with_weights_and_both_origins():
    row = to_trl(
        DPORow(
            prompt=(ASKED,),
            chosen=CALL,
            rejected=SAID,
            weight=0.9,
            origin=ORIGIN,
            rejected_origin=ORIGIN,
        )
    )
    assert row["rejected"] == [{"role": "assistant", "content": "none"}]
    assert row["weight"] == 0.9
    assert "tools" not in row
    assert row["rejected_origin"] == WRITTEN_ORIGIN


def test_openai_gets_arguments_as_text_weights_and_an_output_last():
    row = SFTRow(
        messages=(ASKED, CALL, GAVE, SAID, ASKED), trained=(3,), tools=TOOLS, origin=ORIGIN
    )
    assert to_openai(row) == {
        "messages": [
            {"role": "user", "content": "a room"},
            {"role": "assistant", "tool_calls": called('{"area": "north"}'), "weight": 0},
            {"role": "tool", "content": "[]", "tool_call_id": "c1"},
            {"role": "assistant", "content": "none", "weight": 1},
        ],
        "tools": [FUNCTION],
    }


def test_openai_gets_pairs_in_its_preference_format():
    row = DPORow(
        prompt=(ASKED,),
        chosen=CALL,
        rejected=SAID,
        tools=TOOLS,
        origin=ORIGIN,
        rejected_origin=ORIGIN,
    )
    assert to_openai(row) == {
        "input": {"messages": [{"role": "user", "content": "a room"}], "tools": [FUNCTION]},
        "preferred_output": [{"role": "assistant", "tool_calls": called('{"area": "north"}')}],
        "non_preferred_output": [{"role": "assistant", "content": "none"}],
    }
    # "a room" is 6 characters; the longer half is "find" with its 17 characters of arguments
    assert row.num_characters == 6 + 4 + 17


class PairMiner(ListedMiner):
    forms = ("dpo",)


class LabelMiner(ListedMiner):
    forms = ("kto",)


@pytest.mark.parametrize(
    ("miner", "form"), [(ListedMiner({}), "sft"), (PairMiner({}), "dpo")], ids=["sft", "dpo"]
)
def test_openai_gets_dialogues_where_there_are_some_else_pairs(miner: Miner, form: str):
    assert form_of("openai", miner) == form


def test_labels_are_nothing_for_openai():
    with pytest.raises(ConfigError, match="neither sft nor dpo rows"):
        form_of("openai", LabelMiner({}))
