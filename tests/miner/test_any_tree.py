"""What holds for the rows of any tree, whatever is mined."""

import asyncio
from collections import Counter
from dataclasses import replace

import pytest
from agent.react_agents import STYLES, react
from agent.test_rewrite import CALLING
from hypothesis import given, settings
from hypothesis import strategies as st
from miner.groves import COMPACT, Grove, call, failed_for_sure, harvest, mined, say, wild
from scripted import ScriptedUser, cast_of, task_of
from scripted_llm import says

from drl.agent._react import MARK
from drl.agent.base import Agent, Situation
from drl.agent.react import ReactAgent
from drl.llm.base import LLM, Message, Request
from drl.miner._dialogues import Dialogues
from drl.miner.base import DPORow, Harvest, KTORow, Miner, Origin, SFTRow
from drl.miner.josh_clean import JoshCleanMiner
from drl.miner.josh_paper import JoshPaperMiner
from drl.miner.margin import MarginMiner
from drl.miner.siblings import SiblingsMiner
from drl.rollout.single import SingleRollout
from drl.types import Step, StopReason, Toolbox

NO_LIMITS = {"max_per_node": None, "max_per_tree": None, "max_length_ratio": None}
PAPER = JoshPaperMiner()
CLEAN = JoshCleanMiner(full_success_only=False, **NO_LIMITS)
MINERS: dict[str, Miner] = {
    "josh_paper": PAPER,
    "josh_clean": CLEAN,
    "josh_clean, limited": replace(CLEAN, max_per_node=1, max_length_ratio=3.0),
    "siblings": SiblingsMiner(**NO_LIMITS),
    "siblings, limited": SiblingsMiner(max_per_node=1, max_per_tree=2, max_length_ratio=3.0),
    "margin": MarginMiner(threshold=0.51, **NO_LIMITS),
}
AGENTS: dict[str, Agent] = {style: react(style) for style in STYLES} | {"calling": CALLING}


@pytest.mark.parametrize("name", MINERS)
@settings(max_examples=50)
@given(seed=st.integers(0, 10**6), style=st.sampled_from(sorted(AGENTS)))
def test_rows_are_what_the_agent_was_asked_and_wrote_in_branches_that_did_not_break(
    name, seed, style
):
    tree, chances = wild(seed)
    agent = AGENTS[style]
    miner = MINERS[name]
    dialogues = Dialogues(harvest(tree, agent))

    def check(origin: Origin, prompt: tuple[Message, ...], output: Message) -> None:
        (node,) = origin.nodes
        assert origin.step is not None
        source = dialogues.outputs(node)[origin.step]
        assert output == dialogues.message(source)
        assert output.role == "assistant"
        assert "customer" not in output.content
        assert tree.nodes[node].turn.failure is None
        assert not tree.nodes[node].continuation
        assert origin.events == tree.nodes[node].events
        if miner is not PAPER:
            assert prompt == dialogues.request(source).messages

    for form in miner.forms:
        rows = mined(miner, form, tree, agent, chances)
        assert rows == mined(miner, form, wild(seed)[0], agent, chances)
        for row in rows:
            if isinstance(row, SFTRow):
                assert row.trained == tuple(sorted(set(row.trained)))
                assert {row.messages[place].role for place in row.trained} == {"assistant"}
                assert all(tree.nodes[node].turn.failure is None for node in row.origin.nodes)
            elif isinstance(row, KTORow):
                check(row.origin, row.prompt, row.completion)
                if not row.label and miner is not PAPER:
                    assert failed_for_sure(tree, row.origin.nodes[0])
            else:
                check(row.origin, row.prompt, row.chosen)
                check(row.rejected_origin, row.prompt, row.rejected)
                assert row.chosen != row.rejected
                assert 0.5 < row.weight <= 1
        if isinstance(miner, SiblingsMiner):
            steps = [
                (tree.nodes[row.origin.nodes[0]].parent, row.prompt, row.completion)
                for row in rows
                if isinstance(row, KTORow)
            ]
            assert len(steps) == len(set(steps))  # after one choice nothing is good and bad


def test_wild_trees_give_rows_of_all_kinds():
    found: Counter[str] = Counter()
    for seed in range(60):
        tree, chances = wild(seed)
        for name, miner in MINERS.items():
            for form in miner.forms:
                for row in mined(miner, form, tree, COMPACT, chances):
                    label = row.label if isinstance(row, KTORow) else None
                    found[f"{name} {form} {label}"] += 1
    kinds = 3 * 3 + 2 * 3 + 1  # each of five gives kto, good and bad, and another; margin one
    assert len(found) == kinds, found


class Counting(Agent):
    """Does as another agent does, and counts how often it is asked to."""

    uses_llm = True

    def __init__(self, agent: ReactAgent) -> None:
        self.agent = agent
        self.max_tool_calls = agent.max_tool_calls
        self.num_rewrites = self.num_requests = 0

    @property
    def explores(self) -> bool:
        return True

    async def act(self, situation: Situation, llm: LLM) -> Step:
        raise AssertionError("mining asks no model")

    def request(self, situation: Situation) -> Request:
        self.num_requests += 1
        return self.agent.request(situation)

    def rewrite(self, step: Step, toolbox: Toolbox) -> tuple[Step, ...]:
        self.num_rewrites += 1
        return self.agent.rewrite(step, toolbox)

    def output(self, step: Step, number: int) -> Message:
        return self.agent.output(step, number)


def test_a_trunk_is_written_once_for_all_branches_and_a_prompt_only_for_a_row():
    tree = Grove()
    here = tree.ask(None)
    for _ in range(30):
        here = tree.ask(tree.act(here, call("north"), say("more?")))
    tree.win(here, say("found"))
    for number in range(20):
        tree.act(here, say(str(number)), stop=StopReason.MAX_TURNS)
    num_steps = sum(len(node.turn.steps) for node in tree.nodes)
    for name, form, num_chats in (
        ("josh_clean", "kto", 0),
        ("siblings", "dpo", 0),
        ("siblings", "kto", 0),
        ("josh_clean", "sft", 1),
    ):
        agent = Counting(COMPACT)
        rows = mined(MINERS[name], form, tree, agent)
        assert agent.num_rewrites == num_steps == 30 * 2 + 1 + 20
        assert agent.num_requests == (num_chats or len(rows))
    agent = Counting(COMPACT)
    mined(PAPER, "kto", tree, agent)
    assert agent.num_requests == 1 + 20  # the golden dialogue, and each that ended beside it


def test_a_row_may_come_of_a_dialogue_of_a_thousand_turns():
    tree = Grove()
    here = tree.ask(None)
    for _ in range(1000):
        here = tree.ask(tree.act(here, say("more?")))
    tree.win(here, say("found"))
    (row,) = mined(CLEAN, "sft", tree)
    assert isinstance(row, SFTRow)
    assert len(row.trained) == 1001
    assert DPORow is not type(row)


@pytest.mark.parametrize("style", ["full", "compact", "paper"])
def test_prompts_are_those_that_its_model_was_given_in_play(style):
    agent = react(style)
    output = {"full": f"APICALL {{}} {MARK}", "compact": 'CALL {"a":{}}', "paper": "PLAN x"}[style]
    said = {"full": f"SPEAK done {MARK}", "compact": "SAY done", "paper": "SPEAK done"}[style]
    llm = says("gibberish", output, output, said, said, output, said, "gibberish", said)
    cast = replace(cast_of(agent, ScriptedUser(ends_at=3)), llm=llm)
    rollout = SingleRollout(max_steps=3, max_calls=None, concurrency=8)
    tree = asyncio.run(rollout.run(task_of("a"), 0, cast))
    dialogues = Dialogues(Harvest(run="run", tree=tree, toolbox=Toolbox(()), agent=agent))
    outputs = [output for node in tree.nodes for output in dialogues.outputs(node.id)]
    assert [dialogues.request(o).messages for o in outputs] == [r.messages for r in llm.requests]
    assert len(outputs) == 4 + 1 + 2  # the first turn uses up its calls
