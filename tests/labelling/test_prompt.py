from dataclasses import replace
from random import Random

from labelling.judged import session

from drl.labelling.prompt import LONGEST_TURN, agent_numbers, instruction, transcript, windows
from drl.labelling.question import Question, question_of
from drl.types import Role

QUESTION = question_of("overall_affect", (1.0, 9.0), None)
ALL = range(6)


def _told(**changes: bool | str) -> str:
    asked: dict = {"shows_score": True, "shows_cues": False, "before": ""} | changes
    return instruction(session(), ALL, QUESTION, **asked)


def test_the_judge_is_told_question_scale_answer_and_turns():
    told = _told()
    assert QUESTION.words in told
    assert "from 1 to 9" in told
    assert "The LISTENER answered 7." in told
    assert "in this order: 2, 4, 6." in told


def test_the_answer_is_not_shown_where_figures_are_reported():
    assert "answered 7" not in _told(shows_score=False)
    assert "not known to you" in _told(shows_score=False)


def test_cues_are_explained_only_where_they_are_shown():
    assert "Square brackets" in _told(shows_cues=True)
    assert "Square brackets" not in _told()


def test_a_part_is_told_what_came_before_and_asks_for_a_summary_unless_it_is_the_last():
    first = instruction(
        session(num_turns=10), range(6), QUESTION, shows_score=True, shows_cues=False, before=""
    )
    assert "sixty words" in first
    assert "later part" not in first
    last = _told(before="They met.")
    assert "in short: They met." in last
    assert "sixty words" not in last


def test_turns_are_numbered_and_say_who_spoke():
    lines = transcript(session(), ALL, None, shows_cues=False).splitlines()
    assert lines[:2] == ["1. LISTENER: s words 1", "2. AGENT: s words 2"]
    assert agent_numbers(session(), ALL) == [2, 4, 6]


def test_cues_stand_in_brackets_in_an_order_that_is_drawn():
    seen = session(cues={"face": "happiness", "face_share": 0.7, "reply_latency_s": 1.25})
    line = transcript(seen, ALL, None, shows_cues=True).splitlines()[1]
    assert line == (
        "2. AGENT: s words 2 [LISTENER face shows happiness, 70% of the time; answers after 1.2 s]"
    )
    drawn = {transcript(seen, range(1, 2), Random(seed), shows_cues=True) for seed in range(10)}
    assert len(drawn) == 2
    assert "[" not in transcript(seen, ALL, None, shows_cues=False)


def test_a_turn_cannot_break_its_line_and_a_very_long_one_is_shortened():
    first = replace(session().turns[0], text="a\n2. AGENT: b" + "x" * 3 * LONGEST_TURN)
    odd = replace(session(), turns=(first, *session().turns[1:]))
    lines = transcript(odd, ALL, None, shows_cues=False).splitlines()
    assert len(lines) == 6
    assert len(lines[0]) < LONGEST_TURN + 40


def test_parts_cover_all_turns_and_overlap():
    found = windows(session(num_turns=100), 40, 10)
    assert found == [range(0, 40), range(30, 70), range(60, 100)]
    assert windows(session(num_turns=40), 40, 10) == [range(40)]
    # the last part reaches back rather than being short
    assert windows(session(num_turns=45), 40, 10) == [range(0, 40), range(5, 45)]


def test_a_part_without_a_new_turn_of_the_agent_is_left_out():
    quiet = session(num_turns=12)
    turns = [replace(t, role=Role.USER) if n >= 6 else t for n, t in enumerate(quiet.turns)]
    assert windows(replace(quiet, turns=tuple(turns)), 6, 0) == [range(0, 6)]


def test_questions_have_words_of_ours_or_of_the_config_or_their_name():
    assert "funny" in question_of("you_are_funny", (1.0, 9.0), None).words
    assert question_of("overall_affect", (1.0, 9.0), "How was it?") == Question(
        "How was it?", 1.0, 9.0
    )
    assert "our new item" in question_of("our_new_item", (0.0, 1.0), None).words
