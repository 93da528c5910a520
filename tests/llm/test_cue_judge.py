import asyncio

import pytest
from labelling.judged import session, settings

from drl.errors import ConfigError
from drl.labelling.judge import Judge
from drl.labelling.question import question_of
from drl.llm.cue_judge import CueJudge
from tests.llm.asking import ask_one, make, request

QUESTION = question_of("overall_affect", (1.0, 9.0), None)


def marks(cues, **changes):
    judge = Judge(
        llm=make("cue_judge"), settings=settings(cues=True, **changes), question=QUESTION, seed=0
    )
    return asyncio.run(judge.mark(session(cues=cues))).samples.tolist()


@pytest.mark.parametrize(
    ("face", "share", "mark"),
    [("happiness", 0.8, 0.8), ("contempt", 0.5, -0.5), ("neutral", 1.0, 0.0), ("surprise", 1, 0.0)],
)
def test_a_turn_is_marked_by_the_face_and_how_long_it_was_seen(face, share, mark):
    cues = {"reply_latency_s": 0.4, "face": face, "face_share": share, "gaze_share": 0.9}
    # three turns of the agent, all with the same cues; other orders of cues change nothing
    assert marks(cues, samples=2) == [[mark] * 3] * 2


def test_turns_without_a_face_earn_nothing():
    assert marks({"gaze_share": 0.9}) == [[0.0] * 3]


def test_it_says_what_it_is_for_when_it_is_asked_something_else():
    assert (
        "turns of a conversation" in ask_one(make("cue_judge"), request("Hello.")).choices[0].text
    )


def test_a_mark_that_marks_cannot_have_is_refused():
    with pytest.raises(ConfigError, match=r"llm\.weight=2"):
        CueJudge(model="x", weight=2)
