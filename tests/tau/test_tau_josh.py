"""JOSH on tau-bench: what josh-train's code gets wrong there (B42 to B50), right.

Goals steer, and the database grades. The search goes on after its last goal, as conf/rollout/
josh/tau.yaml has it.
"""

import json
import shlex
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest
from mining.forest import agent_of, source_of
from scripted import josh
from tau.miniature import task_of
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
    played,
    playing,
    says,
    shop,
)
from trainer.small_runs import NumberedTasks, small_parts, start

from drl.calls.ledger import read_entries
from drl.domains.tau.gold import Action
from drl.domains.tau.world import Scene
from drl.errors import ConfigError, DataError
from drl.launch import preflight, register_resolvers
from drl.llm.scripted import ScriptedLLM
from drl.miner.josh_clean import JoshCleanMiner
from drl.miner.siblings import SiblingsMiner
from drl.mining.formats import to_openai, to_trl
from drl.mining.mine import mine
from drl.mining.tau_results import user_costs
from drl.play.moves import OUT_OF_CALLS
from drl.runtime.compose import jobs_of
from drl.trainer.collect import CollectTrainer
from drl.tree.dialogue_tree import DialogueTree
from drl.types import Outcome, StopReason, ToolCall
from drl.user_simulator.tau import TauUserSimulator

CONF = Path(__file__).parents[2] / "conf"
SEARCH = josh(beam_size=4, max_steps=8, stop_at_goals=False)
CERTIFICATE = ToolCall("send_certificate", {"user_id": "ben_roe_2", "amount": 100})
LIMITS = {"max_per_node": None, "max_per_tree": None, "max_length_ratio": None}


def only_leaf(tree: DialogueTree):
    (leaf,) = tree.leaves()
    return leaf


def golden(tree: DialogueTree):
    (leaf,) = (leaf for leaf in tree.leaves() if leaf.golden)
    return leaf


def goals_reached(tree: DialogueTree, leaf_id: int) -> list[object]:
    return [event.detail["goal"] for node in tree.path(leaf_id) for event in node.events]


def daring(chance: float):
    """Cancels the order in a turn whose seed says so, unless it has; looks at it, and replies."""

    def act(situation):
        if situation.steps:
            return says("So it is.")
        done = [one.call for turn in situation.history for one in turn.executed()]
        dares = CANCEL not in done and Random(situation.seed).random() < chance
        return does(CANCEL, LOOK) if dares else does(LOOK)

    return playing(act)


COMMANDS = [
    line.removeprefix("# python run.py ")
    for file in sorted((CONF / "experiment").glob("tau_*.yaml"))
    for line in file.read_text().splitlines()
    if line.startswith("# python run.py ")
]


@pytest.mark.parametrize("command", COMMANDS)
def test_b42_every_command_that_the_experiments_show_can_be_started(command, tmp_path):
    register_resolvers()
    words = [word.replace("=MODEL", "=some-model") for word in shlex.split(command)]
    (job,) = jobs_of([*words, f"hydra.run.dir={tmp_path}"]).overrides
    preflight(CONF, job)


def test_b42_a_search_at_temperature_0_or_without_a_model_is_refused_with_the_remedy(tmp_path):
    register_resolvers()
    where = f"hydra.run.dir={tmp_path}"
    speaks = ["+experiment=tau_retail_josh", "agent=function_calling/tau", where]
    with pytest.raises(ConfigError, match=r"llm is not chosen, but this agent .*add llm=NAME"):
        preflight(CONF, speaks)
    with pytest.raises(ConfigError, match=r"its temperature is 0.*raise agent\.temperature"):
        preflight(CONF, [*speaks, "llm=openai/vllm"])


@pytest.mark.parametrize("branch_at", ["turn", "step"])
def test_b43_an_agent_out_of_calls_says_so_and_the_customer_goes_on(branch_at):
    stubborn = agent(*[does(LOOK)] * 2, does(LOOK), does(CANCEL), says("Done."), max_tool_calls=2)
    search = replace(SEARCH, beam_size=1, branch_at=branch_at)
    tree = played(shop(CANCEL), cast(stubborn, Customer(2)), search)
    leaf = only_leaf(tree)
    assert [turn.text for turn in tree.dialogue(leaf.id)] == [
        "More, please.",
        OUT_OF_CALLS,
        "More, please.",
        "Done.",
        "###STOP###",
    ]
    assert (leaf.stop, leaf.score) == (StopReason.USER_ENDED, 1.0)


def test_b44_a_task_without_goals_is_played_once_and_graded():
    tree = played(shop(), cast(agent(does(LOOK), says("So it is."))), SEARCH)
    assert (only_leaf(tree).score, len(tree.nodes)) == (1.0, 3)
    meddling = played(shop(), cast(agent(does(CANCEL), says("Done."))), SEARCH)
    assert only_leaf(meddling).score == 0.0
    # what pays for goals has nothing to grade, which is not 0
    unscored = replace(cast(agent(says("Hm."))), score=cast(agent()).reward)
    assert only_leaf(played(shop(), unscored, SEARCH)).score is None


@pytest.mark.parametrize(
    "steps",
    [
        (does(CANCEL), says("You get $20.50 back.")),
        (does(CANCEL), says("Done."), says("That is 20.50 for you.")),
    ],
)
def test_b45_what_is_said_after_the_last_goal_reaches_the_score(steps):
    task = shop(CANCEL, outputs=("20.50",))
    tree = played(task, cast(agent(*steps), Customer(2)), SEARCH)
    leaf = golden(tree)
    assert (leaf.stop, leaf.score) == (StopReason.USER_ENDED, 1.0)
    silent = played(task, cast(agent(does(CANCEL), says("Done.")), Customer(2)), SEARCH)
    assert golden(silent).score == 0.0


class PaidLLM(ScriptedLLM):
    """A scripted model that is taken for a server whose price nobody has said."""

    in_process = False


def test_b46_every_call_is_counted_and_an_unknown_price_breaks_nothing(tmp_path):
    def model(name, *replies):
        return PaidLLM(model=name, replies=replies, order="turn", latency_s=0.0, fault_rate=0.0)

    cancel = {"text": "", "calls": [{"name": CANCEL.name, "arguments": dict(CANCEL.arguments)}]}
    customer = TauUserSimulator(
        strategy="llm",
        **{"temperature": None, "top_p": None, "top_k": None, "max_tokens": 64},
        **{"stop_tokens": ["###STOP###"], "retries": 0, "prompt": None},
    )

    class OneTask(NumberedTasks):
        def load(self):
            return [shop(CANCEL)]

    parts = small_parts(
        agent_of("function_calling/tau"),
        replace(SEARCH, beam_size=1),
        OneTask(1, ()),
        user=customer,
        world=ENVIRONMENT,
        llm=model("agent-model", cancel, "Done."),
    )
    parts = replace(parts, score=SCORE, user_llm=model("user-model", "Cancel #W1.", "###STOP###"))
    summary = start(CollectTrainer(trials=1), parts, tmp_path)
    assert summary["full_success"]["value"] == 1.0
    assert summary["n_errors"] == 0
    calls = summary["calls"]
    assert {name: row["requests"] for name, row in calls.items()} == {
        "agent: agent-model": 2,
        "user: user-model": 2,
    }
    assert {row["usd"] for row in calls.values()} == {"unknown"}
    assert all(row["tokens_in"] > row["tokens_out"] > 0 for row in calls.values())
    assert user_costs(read_entries(tmp_path / "calls.jsonl")) == {("retail-test-0", 0): None}


def test_b47_all_calls_of_a_reply_are_carried_out_and_paid():
    tree = played(shop(LOOK, CANCEL), cast(agent(does(CANCEL, LOOK), says("Done."))), SEARCH)
    leaf = golden(tree)
    assert sorted(goals_reached(tree, leaf.id)) == [0, 1]
    (_, turn, _) = tree.dialogue(leaf.id)
    cancelled, looked = turn.executed()
    assert '"status": "cancelled"' in str(looked.result.value)
    assert cancelled.result.error is None
    # tau-bench's own agent drops all but the first, by its preset alone
    assert agent_of("function_calling/tau").first_call_only  # type: ignore[attr-defined]
    assert not agent_of("function_calling").first_call_only  # type: ignore[attr-defined]


def test_b48_a_transfer_ends_its_branch_and_no_other():
    def act(situation):
        if situation.steps:
            return says("Done.")
        return does(TRANSFER, CANCEL) if Random(situation.seed).random() < 0.5 else does(LOOK)

    tree = played(shop(CANCEL), cast(playing(act), Customer(2)), SEARCH)
    ends = {leaf.stop for leaf in tree.leaves()}
    assert ends == {StopReason.AGENT_ENDED, StopReason.USER_ENDED}
    for leaf in tree.leaves():
        if leaf.stop is StopReason.AGENT_ENDED:
            last = tree.dialogue(leaf.id)[-1]
            assert (last.text, last.hangs_up) == ("", True)
            assert [done.call.name for done in last.executed()] == [TRANSFER.name]
            assert leaf.score == 0.0
    assert not any(node.events for node in tree.nodes)


def test_b49_lookups_are_paid_only_where_they_are_goals():
    steps = (does(LOOK), says("Shall I?"), does(CANCEL), says("Done."))
    writes = played(shop(CANCEL), cast(agent(*steps), Customer(2)), replace(SEARCH, beam_size=1))
    paid = [node.id for node in writes.nodes if node.events]
    assert paid == [3]
    both = shop(LOOK, CANCEL)
    everything = played(both, cast(agent(*steps), Customer(2)), replace(SEARCH, beam_size=1))
    paid = {node.id: [event.amount for event in node.events] for node in everything.nodes}
    assert (paid[1], paid[3]) == ([0.5], [0.5])
    # whichever it is, the grade is that of the database
    assert only_leaf(writes).score == only_leaf(everything).score == 1.0


@pytest.mark.parametrize("branch_at", ["turn", "step"])
def test_b50_no_call_is_carried_out_again_while_the_customer_speaks(branch_at):
    asks = ToolCall("get_user_details", {"user_id": "ben_roe_2"})
    steps = (does(CERTIFICATE), says("Here."), does(asks), says("One."))
    task = task_of("airline")
    assert isinstance(task.world, Scene)
    gold = (Action(CERTIFICATE.name, CERTIFICATE.arguments),)
    task = replace(task, world=replace(task.world, actions=gold, golds={}))
    tree = played(task, cast(agent(*steps), Customer(3)), replace(SEARCH, branch_at=branch_at))
    leaf = only_leaf(tree)
    results = [done.result for turn in tree.dialogue(leaf.id) for done in turn.executed()]
    assert str(results[-1].value).count('"source": "certificate"') == 1
    assert leaf.score == 1.0


def test_b4_goals_are_a_multiset_and_a_repeated_call_pays_for_each_once():
    once = agent(does(LOOK), says("So."), does(CANCEL), says("Done."))
    both = shop(LOOK, LOOK, CANCEL)
    tree = played(both, cast(once, Customer(2)), replace(SEARCH, beam_size=1))
    assert goals_reached(tree, only_leaf(tree).id) == [0, 2]
    twice = agent(does(LOOK, LOOK), says("So."), does(CANCEL), says("Done."))
    tree = played(both, cast(twice, Customer(2)), replace(SEARCH, beam_size=1))
    assert goals_reached(tree, golden(tree).id) == [0, 1, 2]
    # the same call more often than it is a goal breaks nothing
    often = agent(does(LOOK, LOOK), says("So."), does(CANCEL), says("Done."))
    tree = played(shop(LOOK, CANCEL), cast(often, Customer(2)), replace(SEARCH, beam_size=1))
    assert goals_reached(tree, golden(tree).id) == [0, 1]


def test_branches_change_their_own_database_only():
    never = replace(SEARCH, collapse_to="never", beam_size=8)
    tree = played(shop(CANCEL), cast(daring(0.15), Customer(3)), never)
    seen = set()
    for leaf in tree.leaves():
        has_cancelled = False
        for one in (done for turn in tree.dialogue(leaf.id) for done in turn.executed()):
            has_cancelled |= one.call == CANCEL
            status = '"status": "cancelled"' if has_cancelled else '"status": "pending"'
            assert status in str(one.result.value)
        assert leaf.score == float(has_cancelled)
        seen.add(has_cancelled)
    assert seen == {False, True}


def test_a_search_goes_on_with_the_branch_that_was_paid_until_the_customer_hangs_up():
    tree = played(shop(CANCEL), cast(daring(0.3), Customer(4)), SEARCH)
    leaf = golden(tree)
    assert (leaf.stop, leaf.score) == (StopReason.USER_ENDED, 1.0)
    assert tree.outcome(leaf) is Outcome.GOLDEN
    others = [other for other in tree.leaves() if other is not leaf]
    assert others
    assert {other.stop for other in others} == {StopReason.COLLAPSED}


@pytest.mark.parametrize("form", ["function_calling/tau", "react/tau"])
def test_rows_of_a_search_are_written_as_the_agent_of_a_model_and_carry_its_tools(form):
    task = shop(CANCEL)
    tree = played(
        task, cast(daring(0.15), Customer(3)), replace(SEARCH, collapse_to="never", beam_size=8)
    )
    source = replace(
        source_of(tree, agent=agent_of(form)), tasks={task.id: task}, environment=ENVIRONMENT
    )
    tools = [spec.to_openai() for spec in source.toolbox(task.id).specs]
    clean = JoshCleanMiner(full_success_only=True, **LIMITS)
    whole = list(mine(clean, [source], None, "sft"))
    rows = [
        *map(to_trl, whole),
        *map(to_openai, whole),
        *map(to_trl, mine(clean, [source], None, "kto")),
        *map(to_trl, mine(SiblingsMiner(**LIMITS), [source], None, "dpo")),
    ]
    assert {frozenset(row) & {"prompt", "messages"} for row in rows} == {
        frozenset({"prompt"}),
        frozenset({"messages"}),
    }
    assert any("rejected" in row for row in rows)
    for row in rows:
        json.dumps(row)
        if form == "react/tau":  # its tools stand in the prompt
            assert "tools" not in row
        else:
            assert row["tools"] == tools


def test_dialogues_with_all_goals_and_a_wrong_database_are_not_learned():
    task = shop(CANCEL)
    away = {
        "user_id": "ann_lee_1",
        **dict.fromkeys(("address1", "address2", "city", "state", "country", "zip"), "x"),
    }
    harm = ToolCall("modify_user_address", away)
    miner = JoshCleanMiner(full_success_only=True, **LIMITS)

    def rows(*calls: ToolCall) -> int:
        tree = played(task, cast(agent(does(*calls), says("Done."))), SEARCH)
        assert not golden(tree).open_goals
        source = replace(
            source_of(tree, agent=agent_of("function_calling/tau")),
            tasks={task.id: task},
            environment=ENVIRONMENT,
        )
        return len(list(mine(miner, [source], None, "sft")))

    assert rows(CANCEL) == 1
    with pytest.raises(DataError, match="finds nothing in 1 trees"):
        rows(CANCEL, harm)
