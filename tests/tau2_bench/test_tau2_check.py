"""The grade: each part that a task may demand, who ended the dialogue, and what nobody can tell."""

import asyncio
from dataclasses import replace

import pytest
from scripted import NO_JUDGE, CountingWorld, task_of
from scripted_llm import says
from tau2_bench.playing import agent, bye, user

from drl.errors import ConfigError
from drl.llm.base import LLM
from drl.reward.base import RewardError
from drl.reward.tau2_check import Tau2CheckReward
from drl.types import Failure, Role, Task, ToolCall, Turn

WORLD = CountingWorld()
FIND = ToolCall("find_parcel", {"number": "P1"})
HAND_OUT = ToolCall("hand_out", {"number": "P1"})


def grade(reward: Tau2CheckReward, task: Task, *dialogue: Turn, llm: LLM = NO_JUDGE):
    return asyncio.run(reward.grade(task, WORLD, dialogue, llm))


def explain(reward: Tau2CheckReward, task: Task, *dialogue: Turn):
    return asyncio.run(reward.explain(task, WORLD, dialogue))


def test_all_that_is_demanded_has_to_hold(environment, reward, task):
    # DB (P1 handed out) and ACTION (it was looked up before)
    collect = task("collect")
    for calls, found in (
        ((FIND, HAND_OUT), {"DB": True, "ACTION": True}),
        ((HAND_OUT,), {"DB": True, "ACTION": False}),
        ((FIND,), {"DB": False, "ACTION": False}),
    ):
        session = environment.open(collect)
        dialogue = [user(session, "P1, please"), agent(session, "Here.", *calls), bye(session)]
        told = explain(reward(), collect, *dialogue)
        assert told == {**found, "refused": 0, "ended": True}
        assert grade(reward(), collect, *dialogue) == float(all(found.values()))


def test_another_way_to_the_same_databases_is_right(environment, reward, task):
    # accepting and looking up in another order, beside a refused call, leaves what is expected
    bring = task("bring")
    session = environment.open(bring)
    calls = (FIND, ToolCall("hand_out", {"number": "P2"}), ToolCall("accept", {"owner": "Cleo"}))
    dialogue = [agent(session, "Done.", *calls), bye(session)]
    told = {"DB": True, "ENV_ASSERTION": True, "refused": 1, "ended": True}
    assert explain(reward(), bring, *dialogue) == told
    assert grade(reward(), bring, *dialogue) == 1.0


def test_what_was_said_counts_in_any_case_and_without_its_commas(environment, reward, task):
    ask = task("ask")
    session = environment.open(ask)
    said = [agent(session, "It was SENT, back, and is for ben."), bye(session)]
    assert grade(reward(), ask, *said) == 1.0
    by_customer = [agent(session, "It was sent back."), user(session, "Ben?", hangs_up=True)]
    assert grade(reward(), ask, *by_customer) == 0.0


def test_a_customer_with_tools_has_to_do_its_part(environment, reward, task):
    hard = task("hard")
    session = environment.open(hard)
    begun = [
        user(session, "It is silent. I have paid.", ToolCall("pay", {})),
        agent(session, "Press the button.", ToolCall("activate", {"reason": "paid"})),
        user(session, "It is on.", ToolCall("press_power", {})),
        agent(session, "Turn it up."),
    ]
    loud = [*begun, user(session, "Ah!", ToolCall("set_volume", {"volume": 8})), bye(session)]
    assert explain(reward(), hard, *loud[:-2])["ENV_ASSERTION"] is False
    assert grade(reward(), hard, *loud) == 1.0


def test_an_assertion_about_what_is_not_there_does_not_hold(environment, reward, task):
    bring = task("bring")
    session = environment.open(bring)
    assert explain(reward(), bring, bye(session))["ENV_ASSERTION"] is False


def test_the_dialogue_that_a_task_begins_with_counts(environment, reward, task):
    # its call (accept) and its words (P3) are half of what the task demands
    resume = task("resume")
    session = environment.open(resume)
    out = ToolCall("hand_out", {"number": "P3"})
    assert grade(reward(), resume, agent(session, "Here.", out), bye(session)) == 1.0
    assert grade(reward(), resume, bye(session)) == 0.0


def test_a_dialogue_that_neither_side_ended_fails(environment, reward, task):
    collect = task("collect")
    session = environment.open(collect)
    done = [user(session, "P1"), agent(session, "Here.", FIND, HAND_OUT)]
    assert grade(reward(), collect, *done) == 0.0
    assert grade(reward(), collect) == 0.0
    ended = [*done, user(session, "###STOP###", hangs_up=True)]
    assert grade(reward(), collect, *ended) == 1.0


def test_too_many_refused_calls_fail(environment, reward, task):
    collect = task("collect")
    session = environment.open(collect)
    wrong = [ToolCall("find_parcel", {"number": "P9"})] * 3
    dialogue = [agent(session, "Here.", FIND, HAND_OUT, *wrong), bye(session)]
    assert grade(reward(max_errors=4), collect, *dialogue) == 1.0
    assert grade(reward(max_errors=3), collect, *dialogue) == 0.0
    assert grade(reward(max_errors=None), collect, *dialogue) == 1.0


def test_a_task_that_demands_nothing_is_solved_by_an_end(environment, reward, task):
    free = task("free")
    assert grade(reward(), free, bye(environment.open(free))) == 1.0


def test_statements_are_unscored_without_a_judge(environment, reward, task, caplog):
    praise = task("praise")
    session = environment.open(praise)
    right = [agent(session, "Here, dear Ada.", HAND_OUT), bye(session)]
    assert grade(reward(), praise, *right) is None
    assert "reward.nl_assertions=judge and llm@judge_llm" in caplog.text
    assert grade(reward(nl_assertions="ignore"), praise, *right) == 1.0
    # where the rest is wrong there is nothing to ask
    assert grade(reward(), praise, bye(environment.open(praise))) == 0.0
    # and a task without statements is right without a judge
    lost = task("lost")
    assert grade(reward(), lost, bye(environment.open(lost))) == 1.0


@pytest.mark.parametrize(
    ("answers", "score"),
    [
        (["kind words\n1: TRUE\n2: TRUE"], 1.0),
        (["1: TRUE\n2: FALSE"], 0.0),
        (["It is all fine.", "**1**: true\n- 2. TRUE."], 1.0),
        (["1: TRUE"], None),
        (["1: FALSE\nOn second thoughts:\n1: TRUE\n2: TRUE"], 1.0),
    ],
)
def test_a_judge_says_whether_statements_are_true(environment, reward, task, answers, score):
    praise, judge = task("praise"), says(*answers)
    session = environment.open(praise)
    dialogue = [user(session, "P1"), agent(session, "Here, dear Ada.", HAND_OUT), bye(session)]
    asking = reward(nl_assertions="judge")
    assert asking.uses_llm
    assert grade(asking, praise, *dialogue, llm=judge) == score
    asked = judge.requests[0].messages[-1].content
    assert "customer: P1\nagent: Here, dear Ada.\n" in asked
    assert "1. The agent says something kind.\n2. The agent does not ask for a name." in asked
    assert judge.requests[0].purpose == "judge"


def test_no_judge_is_asked_where_the_rest_is_wrong(environment, reward, task):
    praise, judge = task("praise"), says("1: TRUE\n2: TRUE")
    dialogue = [bye(environment.open(praise))]
    assert grade(reward(nl_assertions="judge"), praise, *dialogue, llm=judge) == 0.0
    assert judge.requests == []


def test_what_cannot_be_checked_is_unscored(environment, reward, task, caplog):
    spoken = task("spoken")
    assert grade(reward(), spoken, bye(environment.open(spoken))) is None
    assert "demands VOICE" in caplog.text
    # a stored result that the tools do not give any more
    collect = task("collect")
    session = environment.open(collect)
    turn = agent(session, "Here.", HAND_OUT)
    (step, reply) = turn.steps
    other = replace(step, results=(replace(step.results[0], value="Parcel P1 is yours"),))
    changed = replace(turn, steps=(other, reply))
    assert grade(reward(), collect, changed, bye(session)) is None
    assert "hand_out gives another result than is stored" in caplog.text


def test_what_broke_is_unscored_and_turns_earn_nothing(reward, task):
    collect = task("collect")
    broken = Turn(Role.AGENT, "", failure=Failure("agent", "boom"))
    assert grade(reward(), collect, broken) is None
    judged = asyncio.run(
        reward().judge(collect, WORLD, (), Turn(Role.AGENT, "hi"), (0, 1), NO_JUDGE)
    )
    assert (judged.events, judged.open_goals) == ((), (0, 1))


def test_the_floor_is_what_an_idle_agent_reaches(reward, task):
    # of these, free and lost demand nothing that is not so already
    tasks = [task(name) for name in ("collect", "bring", "free", "lost")]
    assert reward().floor(tasks, WORLD) == 0.5
    assert reward().floor([], WORLD) is None


def test_other_tasks_and_wrong_settings_are_refused(reward):
    with pytest.raises(RewardError, match="use dataset=tau2"):
        grade(reward(), task_of("a"), Turn(Role.USER, "bye", hangs_up=True))
    with pytest.raises(ConfigError, match=r"reward\.nl_assertions=maybe is unknown"):
        reward(nl_assertions="maybe")
    with pytest.raises(ConfigError, match=r"reward\.max_errors=0 must be at least 1"):
        reward(max_errors=0)


def test_gold_actions_go_on_after_one_that_is_refused(task):
    # tau2 does not bring the sides into step between gold actions, so the bill stays unpaid
    gold = task("hard").world.gold
    assert gold.refused == ("activate: Subscription is unpaid",)
