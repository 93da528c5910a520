import asyncio

import pytest
from labelling.judged import asked_turns, judge_by, reply, session, settings
from scripted_llm import ScriptedLLM, says

from drl.labelling.judge import Judge, Marks
from drl.labelling.question import question_of
from drl.llm.base import Completion, ContextOverflowError, Request
from drl.turn_reward.session import Session

QUESTION = question_of("overall_affect", (1.0, 9.0), None)


def _mark(llm: ScriptedLLM, of: Session, **changes: object) -> Marks:
    judge = Judge(llm=llm, settings=settings(**changes), question=QUESTION, seed=3)
    return asyncio.run(judge.mark(of))


def test_marks_stand_in_the_order_of_the_agents_turns():
    found = _mark(judge_by(lambda turn: turn / 10), session())
    assert found.samples.tolist() == [[0.2, 0.4, 0.6]]
    assert found.faults == ()


def test_marks_of_turns_that_two_parts_show_are_averaged():
    parts = iter([0.0, 1.0])

    def answer(request: Request, seed: int) -> str:
        mark = next(parts)
        return reply(dict.fromkeys(asked_turns(request), mark), "Some words.")

    found = _mark(ScriptedLLM(answer), session(num_turns=12), window=8, overlap=4)
    # parts are turns 1-8 and 5-12: of the agent's 2, 4, 6, 8, 10, 12 both show 6 and 8
    assert found.samples.tolist() == [[0.0, 0.0, 0.5, 0.5, 1.0, 1.0]]


def test_a_later_part_is_told_the_summary_of_the_one_before_and_the_score_again():
    llm = judge_by(lambda turn: 0.0, summary="They spoke of rain.")
    _mark(llm, session(num_turns=12), window=8, overlap=4)
    first, second = (request.messages[0].content for request in llm.requests)
    assert "They spoke of rain." not in first
    assert "They spoke of rain." in second
    assert "answered 7." in first
    assert "answered 7." in second


@pytest.mark.parametrize("split", ["val", "test"])
def test_the_score_of_a_session_that_is_reported_on_is_never_shown(split: str):
    llm = judge_by(lambda turn: 0.0)
    _mark(llm, session(split=split), cues=True)
    assert "answered 7" not in llm.requests[0].messages[0].content


def test_a_faulty_reply_is_asked_for_again_with_its_fault_and_another_seed():
    llm = says("No.", reply({2: 1, 4: 0, 6: 0}))
    found = _mark(llm, session())
    assert found.samples.tolist() == [[1.0, 0.0, 0.0]]
    assert found.faults == ("it holds no JSON object",)
    first, second = llm.requests
    assert "it holds no JSON object" in second.messages[-1].content
    assert first.seeds != second.seeds


def test_a_reply_that_was_cut_is_told_so():
    llm = says(Completion('{"marks": [', "length"), reply({2: 1, 4: 0, 6: 0}))
    assert _mark(llm, session()).faults == ("it was cut at 1000 tokens",)


def test_a_sample_without_a_usable_reply_is_lost_and_counted():
    found = _mark(says("No."), session(), retries=2)
    assert found.samples.shape == (0, 3)
    assert found.num_lost == 1
    assert len(found.faults) == 3


def test_a_session_too_long_for_the_model_is_lost_at_once():
    asked = 0

    def answer(request: Request, seed: int) -> str:
        nonlocal asked
        asked += 1
        raise ContextOverflowError("5000 tokens do not fit into 2048")

    found = _mark(ScriptedLLM(answer), session(), retries=5)
    assert (asked, found.num_lost) == (1, 1)
    assert found.faults == ("5000 tokens do not fit into 2048",)


def test_samples_differ_by_seed_and_by_the_order_of_cues():
    llm = ScriptedLLM(lambda request, seed: reply({2: seed % 2, 4: 0, 6: 0}))
    seen = session(cues={"gaze_share": 0.5, "backchannels": 2, "reply_latency_s": 1.0})
    found = _mark(llm, seen, samples=6, cues=True, temperature=1.0)
    assert found.samples.shape == (6, 3)
    assert len({request.seeds for request in llm.requests}) == 6
    assert len({request.messages[1].content for request in llm.requests}) > 1
    assert len({request.messages[0].content for request in llm.requests}) == 1


def test_the_same_seed_asks_the_same():
    first, second = judge_by(lambda turn: 0.0), judge_by(lambda turn: 0.0)
    seen = session(cues={"gaze_share": 0.5, "backchannels": 2})
    for llm in (first, second):
        _mark(llm, seen, samples=3, cues=True, temperature=1.0)
    assert first.requests == second.requests
