"""Result files of tau-bench: written of our trees, read back as turns, and graded anew."""

import asyncio
import json
from dataclasses import replace
from pathlib import Path

import pytest
from mining.forest import agent_of, source_of
from scripted import josh, lucky
from tau.serving import (
    CANCEL,
    ENVIRONMENT,
    LOOK,
    SCORE,
    TRANSFER,
    Customer,
    agent,
    cast,
    does,
    native,
    played,
    playing,
    says,
    shop,
)

from drl.calls.ledger import Entry
from drl.domains.tau.result_file import Result, lines_of, origin_of, read_results
from drl.domains.tau.trajectory import turns_of
from drl.errors import ConfigError, DataError, RunError
from drl.evaluation.regrading import Published, regrade
from drl.evaluation.regrading_console import print_regrading
from drl.mining.tau_results import TauExport, user_costs, write_results
from drl.trainer._recorded_rollout import Recorded, RecordedRollout
from drl.trainer.tau_results import by_task
from drl.tree.codec import from_line, to_line
from drl.tree.dialogue_tree import DialogueTree
from drl.types import Role, StopReason, Task, Turn

TASK = shop(CANCEL, outputs=("20.50",))
SERVED = agent(does(LOOK), says("Shall I?"), does(CANCEL), says("You get $20.50."))
FORMS = ("function_calling/tau", "react/tau", "react/act")
SYSTEM = {"role": "system", "content": "The policy."}
HELLO = {"role": "user", "content": "Hello, #W1 please."}
STOP = {"role": "user", "content": "###STOP###"}


def exported(tree: DialogueTree, task: Task = TASK, form: str = FORMS[0], **changes) -> Result:
    source = replace(
        source_of(tree, agent=agent_of(form)), tasks={task.id: task}, environment=ENVIRONMENT
    )
    export = TauExport(
        source=source, agent=agent_of(form), score=SCORE, is_search=changes.pop("search", False)
    )
    (result,) = replace(export, **changes).results()
    return result


def replayed(task: Task, *turns: Turn) -> DialogueTree:
    recorded = {(task.id, 0): Recorded(turns)}
    return played(task, cast(agent()), RecordedRollout(recorded))


def written(tmp_path: Path, *results: Result) -> Path:
    file = tmp_path / "results.json"
    file.write_text("".join(lines_of(results)))
    return file


def deeds(turns) -> list:
    """What is said, called and returned, whatever the form it is written in."""
    return [
        (turn.role, turn.text, turn.hangs_up, [(d.call, d.result) for d in turn.executed()])
        for turn in turns
    ]


@pytest.mark.parametrize("form", FORMS)
def test_a_dialogue_comes_back_as_it_was_and_with_its_grade(form, tmp_path):
    tree = played(TASK, cast(SERVED, Customer(2)))
    (leaf,) = tree.leaves()
    (result,) = read_results(written(tmp_path, exported(tree, form=form)))
    assert (result.task_index, result.trial, result.reward) == (0, 0, 1.0)
    assert deeds(turns_of(result.messages)) == deeds(tree.dialogue(leaf.id))
    again = replayed(TASK, *turns_of(result.messages))
    (same,) = again.leaves()
    assert (same.stop, same.score) == (leaf.stop, leaf.score) == (StopReason.USER_ENDED, 1.0)
    assert again.num_agent_calls == tree.num_agent_calls == 4
    # and once more, from the replayed tree
    (once_more,) = read_results(written(tmp_path, exported(again, form=form)))
    assert once_more == result


def test_a_result_has_the_schema_of_tau_bench():
    result = exported(played(TASK, cast(SERVED, Customer(2))), user_costs={(TASK.id, 0): 0.25})
    row = result.to_json()
    assert list(row) == ["task_id", "reward", "info", "traj", "trial"]
    info = result.info
    assert info["task"]["outputs"] == ("20.50",)
    assert info["task"]["actions"] == [{"name": CANCEL.name, "kwargs": CANCEL.arguments}]
    assert (info["source"], info["user_cost"]) == ("user", 0.25)
    assert info["reward_info"] == {
        "reward": 1.0,
        "info": {"r_outputs": 1.0, "outputs": {"20.50": True}},
        "actions": [
            {"name": LOOK.name, "kwargs": LOOK.arguments},
            {"name": "respond", "kwargs": {"content": "Shall I?"}},
            {"name": CANCEL.name, "kwargs": CANCEL.arguments},
            {"name": "respond", "kwargs": {"content": "You get $20.50."}},
        ],
    }
    call, answer = result.messages[2:4]
    (use,) = call["tool_calls"]
    assert (use["type"], use["function"]["name"]) == ("function", LOOK.name)
    assert json.loads(use["function"]["arguments"]) == LOOK.arguments
    assert (answer["role"], answer["name"]) == ("tool", LOOK.name)
    assert answer["tool_call_id"] == use["id"]


def test_without_outputs_the_database_is_told_and_a_dialogue_nobody_ended_has_no_grade_to_tell():
    done = exported(played(shop(CANCEL), cast(agent(does(CANCEL)))), shop(CANCEL))
    gold = shop(CANCEL).world.gold("faithful").digest
    assert done.info["reward_info"]["info"] == {"r_actions": 1.0, "gt_data_hash": gold}
    endless = exported(played(TASK, cast(SERVED, Customer(99))))
    assert (endless.reward, endless.info["reward_info"]) == (0.0, None)


def test_a_transfer_is_the_last_that_stands_in_a_file():
    tree = played(TASK, cast(agent(does(TRANSFER, CANCEL))))
    result = exported(tree)
    assert result.messages[-1]["content"] == "Transfer successful"
    assert result.info["source"] == TRANSFER.name
    (last,) = turns_of(result.messages)[1:]
    assert (last.text, last.hangs_up) == ("", True)
    assert [done.call.name for done in last.executed()] == [TRANSFER.name]


def test_a_search_gives_training_examples_as_josh_train_does():
    task = shop(CANCEL)

    def act(situation):
        # lucky calls the goal of a counting world; here its luck decides on the shop's
        is_lucky = bool(lucky(0.5)(situation).calls)
        return does(CANCEL) if is_lucky else says("Hm.")

    tree = played(task, cast(playing(act), Customer(9)), josh(beam_size=4, max_steps=6))
    result = exported(tree, task, search=True)
    assert result.to_json()["traj"] == [{}]
    examples = result.info["training_examples"]
    of_agent = [node for node in tree.nodes if node.turn.role is Role.AGENT]
    assert [flags for _, *flags in examples] == [[n.successful, n.golden] for n in of_agent]
    assert [True, True] in [flags for _, *flags in examples]
    for example, _, _ in examples:
        assert example["messages"][0]["role"] == "system"
        assert example["messages"][-1]["role"] == "assistant"
        assert [tool["function"]["name"] for tool in example["tools"]] == ["think"]


def test_a_broken_dialogue_is_an_error_there_too_and_comes_back_as_one():
    broken = asyncio.run(RecordedRollout({}).run(TASK, 1, cast(agent())))
    trees = [played(TASK, cast(SERVED)), broken]
    source = replace(
        source_of(*trees, agent=agent_of(FORMS[0])), tasks={TASK.id: TASK}, environment=ENVIRONMENT
    )
    export = TauExport(source=source, agent=source.agent, score=SCORE, is_search=False)
    _, result = export.results()
    assert (result.reward, result.messages) == (0.0, ())
    assert result.info["error"] == "it is not in the file"
    assert result.lack == "it is not in the file"


def test_what_customers_cost_is_added_up_by_try_and_unknown_where_a_price_is():
    def call(purpose, trial, usd):
        return Entry(purpose, "t", trial, 0, "m", 1, usd=usd)

    entries = [call("user", 0, 0.5), call("user", 0, 0.25), call("agent", 0, 9.0)]
    entries += [call("user", 1, 0.5), call("user", 1, None)]
    assert user_costs(iter(entries)) == {("t", 0): 0.75, ("t", 1): None}


def test_a_file_is_not_replaced_unless_it_is_said_and_needs_a_model_to_write_for(tmp_path):
    tree = played(TASK, cast(SERVED))
    source = replace(
        source_of(tree, agent=agent_of(FORMS[0])),
        tasks={TASK.id: TASK},
        environment=ENVIRONMENT,
    )
    export = TauExport(source=source, agent=source.agent, score=SCORE, is_search=False)
    file = tmp_path / "new" / "results.json"
    assert write_results(export, file, force=False) == 1
    with pytest.raises(RunError, match="is there already; add --force"):
        write_results(export, file, force=False)
    assert write_results(export, file, force=True) == 1
    with pytest.raises(ConfigError, match="speaks through no model"):
        write_results(replace(export, agent=agent_of("oracle")), tmp_path / "x.json", force=False)
    assert not (tmp_path / "x.json").exists()


def test_native_calls_are_read_with_what_they_gave():
    turns = turns_of(
        [
            SYSTEM,
            HELLO,
            native("get_order_details", '{"order_id": "#W9"}'),
            {"role": "tool", "tool_call_id": "call_0", "content": "Error: order not found"},
            native("think", "{no json"),
            {"role": "tool", "tool_call_id": "call_0", "content": "Error: arguments"},
            {"role": "assistant", "content": "Which order?"},
            STOP,
        ]
    )
    assert [turn.text for turn in turns] == ["Hello, #W1 please.", "Which order?", "###STOP###"]
    assert turns[-1].hangs_up
    (done,) = turns[1].executed()
    assert done.call.arguments == {"order_id": "#W9"}
    assert done.result.error == "Error: order not found"


def test_actions_in_text_are_read_and_what_is_no_json_is_said():
    turns = turns_of(
        [
            SYSTEM,
            HELLO,
            {
                "role": "assistant",
                "content": "Thought:\nLook.\nAction:\n"
                '{"name": "think", "arguments": {"thought": "x"}}',
            },
            {"role": "user", "content": "API output: "},
            {
                "role": "assistant",
                "content": 'Action:\n{"name": "respond", "arguments": {"content": "Yes?"}}',
            },
            {"role": "user", "content": "API output: is what I want to know about"},
            {"role": "assistant", "content": 'Thought:\nHm.\nAction:\n{"name": respond}'},
            STOP,
        ]
    )
    said = [turn.text for turn in turns]
    assert said[1:4] == ["Yes?", "API output: is what I want to know about", '{"name": respond}']
    (done,) = turns[1].executed()
    assert (done.call.name, done.result.value) == ("think", "")


@pytest.mark.parametrize("thought", ["\\ud800", "x"])
def test_a_call_that_no_file_can_hold_was_none(thought):
    output = {"role": "tool", "tool_call_id": "call_0", "content": ""}
    made = native("think", f'{{"thought": "{thought}"}}')
    tree = replayed(TASK, *turns_of([HELLO, made, output, STOP]))
    assert from_line(to_line(tree)) == tree
    num_calls = sum(len(list(node.turn.executed())) for node in tree.nodes)
    assert num_calls == (1 if thought == "x" else 0)


def test_a_dialogue_may_end_in_the_middle_of_a_turn():
    output = {"role": "tool", "tool_call_id": "call_0", "content": "{}"}
    turns = turns_of([HELLO, native("get_order_details", '{"order_id": "#W1"}'), output])
    assert turns[-1].text is None
    (leaf,) = replayed(TASK, *turns).leaves()
    assert (leaf.stop, leaf.score) == (StopReason.MAX_TURNS, 0.0)


@pytest.mark.parametrize(
    ("messages", "reason"),
    [
        ([HELLO, {"role": "narrator"}], "message 1 cannot be read .its role is narrator"),
        ([HELLO, {"role": "tool", "content": "x"}], "message 1 .*no call precedes it"),
        ([HELLO, HELLO | {"role": "system"}], "message 1 .*its role is system"),
        ([{"role": "assistant", "tool_calls": [{}]}], "message 0 .*without function"),
        ([{"role": "assistant", "tool_calls": "x"}], "message 0 .*are no list"),
    ],
)
def test_messages_that_are_no_dialogue_are_refused_with_their_place(messages, reason):
    with pytest.raises(DataError, match=reason):
        turns_of(messages)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("{", "not a result file"),
        ("{}", "not a result file"),
        ('[{"task_id": 0, "reward": 1.0, "info": {}, "traj": []}]', "0.trial: "),
        ('[{"task_id": 0, "reward": "x", "info": {}, "traj": [], "trial": 0}]', "0.reward: "),
        ('[{"task_id": 0, "reward": NaN, "info": {}, "traj": [], "trial": 0}]', "0.reward: "),
        ("[]", "holds no results"),
        (json.dumps([Result(0, 0, 1.0, {}, ()).to_json()] * 2), "task 0, trial 0, which stands"),
    ],
)
def test_a_damaged_file_is_one_clear_error(tmp_path, text, reason):
    file = tmp_path / "x.json"
    file.write_text(text)
    with pytest.raises(DataError, match=reason) as raised:
        read_results(file)
    assert str(file) in str(raised.value)
    with pytest.raises(DataError, match="cannot be read"):
        read_results(tmp_path / "none.json")


def test_a_byte_order_mark_before_a_result_file_means_nothing(tmp_path):
    row = '[{"task_id": 0, "reward": 1.0, "info": {}, "traj": [{}], "trial": 0}]'
    file = tmp_path / "marked.json"
    file.write_text(row, encoding="utf-8-sig")
    assert [result.task_index for result in read_results(file)] == [0]


def test_results_of_other_tasks_are_refused():
    good = Result(0, 7, 1.0, {"task": {"user_id": "ann_lee_1"}}, (HELLO, STOP))
    file, tasks = Path("f.json"), [shop(), shop(index=3)]
    assert by_task(file, [good, replace(good, task_index=3, trial=9)], tasks).keys() == {
        ("retail-test-0", 0),
        ("retail-test-3", 1),
    }
    with pytest.raises(DataError, match="result 0 has task_id 5, and the tasks chosen are 0 to 3"):
        by_task(file, [replace(good, task_index=5)], tasks)
    other = replace(good, info={"task": {"user_id": "ben_roe_2"}})
    with pytest.raises(DataError, match="is of customer ben_roe_2, and task retail-test-0 is of"):
        by_task(file, [other], tasks)


def test_the_name_of_a_file_tells_who_played():
    name = "tool-calling-gpt-4o-0.0_range_0--1_user-gpt-4o-mini-llm_1023104512.json"
    origin = origin_of(Path("results") / name)
    assert origin is not None
    assert (origin.agent, origin.model, origin.temperature) == ("tool-calling", "gpt-4o", 0.0)
    assert (origin.user_model, origin.user) == ("gpt-4o-mini", "llm")
    old = origin_of(Path("act-gpt-4o-0.0_range_0-20_usergpt-4o_1201104512.json"))  # josh-train's
    assert old is not None
    assert (old.agent, old.model, old.user_model, old.user) == ("act", "gpt-4o", "gpt-4o", "llm")
    assert origin_of(Path("gpt-4o-retail.json")) is None


def test_grades_are_held_against_published_ones_and_differences_say_why():
    tree = played(TASK, cast(agent(does(LOOK), says("Done.")), Customer(2)))
    step = tree.nodes[1].turn.steps[0]
    wrong = replace(step, results=(replace(step.results[0], value="something else"),))
    tree.nodes[1].turn = replace(tree.nodes[1].turn, steps=(wrong, *tree.nodes[1].turn.steps[1:]))

    def regraded(grade):
        published = {(TASK.id, 0): Published(grade, {"r_outputs": 1.0})}
        return asyncio.run(regrade({TASK.id: TASK}, [tree], published, ENVIRONMENT, SCORE))

    assert (regraded(0.0).num_equal, regraded(0.0).differences) == (1, [])
    found = regraded(1.0)
    assert (found.num_graded, found.num_equal) == (1, 0)
    (other,) = found.other_results
    assert (found.num_calls, other.tool, other.arguments) == (1, LOOK.name, LOOK.arguments)
    assert (other.published, other.ours) == ("something else", step.results[0].value)
    (one,) = found.differences
    assert (one.published, one.ours) == (1.0, 0.0)
    assert one.why == (
        'here database=false, outputs={"20.50": false}, ended=true; published r_outputs=1.0; '
        "1 call gave something else than here"
    )


def test_the_published_mean_is_told_of_graded_dialogues_and_of_all_tries(capsys):
    tree = played(TASK, cast(agent(does(LOOK), says("Done.")), Customer(2)))
    published = {(TASK.id, 0): Published(1.0), (TASK.id, 1): Published(0.0)}  # the second broke
    found = asyncio.run(regrade({TASK.id: TASK}, [tree], published, ENVIRONMENT, SCORE))
    print_regrading(found, None, None)
    told = capsys.readouterr().out
    assert "whose mean is 0.000 by ours and 1.000 by the published" in told
    assert "Of all 2 tries the published mean is 0.500" in told


def test_what_follows_a_transfer_is_not_taken_up():
    messages = [
        HELLO,
        native(TRANSFER.name, json.dumps(TRANSFER.arguments)),
        {"role": "tool", "tool_call_id": "call_0", "content": "Transfer successful"},
        native(CANCEL.name, json.dumps(CANCEL.arguments), 1),
        {"role": "tool", "tool_call_id": "call_1", "content": "{}"},
        {"role": "assistant", "content": "Done."},
        STOP,
    ]
    (leaf,) = replayed(TASK, *turns_of(messages)).leaves()
    assert (leaf.stop, leaf.score) == (StopReason.AGENT_ENDED, 0.0)
