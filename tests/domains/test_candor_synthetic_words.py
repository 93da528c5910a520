"""The words of generated conversations, and what they are worth where they are said."""

from collections import defaultdict

import numpy as np
import pytest

from drl.domains.candor.synthetic.acts import BROUGHT_WORTHS, WORTHS, Move, Opening
from drl.domains.candor.synthetic.conversation import Conversation, hold
from drl.domains.candor.synthetic.people import meetings
from drl.domains.candor.synthetic.settings import Settings
from drl.domains.candor.synthetic.vocabulary import patterns, phrase, topics


@pytest.fixture(scope="module")
def conversations() -> list[Conversation]:
    settings = Settings(conversations=60)
    return [
        hold(meeting, settings, np.random.default_rng(number))
        for number, meeting in enumerate(meetings(settings))
    ]


def test_a_pattern_gives_one_of_its_choices_with_names_put_in():
    random = np.random.default_rng(0)
    drawn = {phrase("{yes|no}, <it>! i {|do }see", random, it="chess") for _ in range(50)}
    assert drawn == {
        "Yes, chess! I see",
        "Yes, chess! I do see",
        "No, chess! I see",
        "No, chess! I do see",
    }


def test_both_parts_have_words_for_everything_and_share_none():
    trained, held_out = patterns(False), patterns(True)
    assert set(trained) == set(held_out)
    assert {*Move, *Opening} - {Opening.NOTHING} <= set(trained)
    for name in trained:
        assert set(trained[name]).isdisjoint(held_out[name]), name
        assert len(trained[name]) >= 4
    remarks = [remark for topic in topics() for remark in (topic.trained, topic.held_out)]
    assert len(remarks) == len(set(remarks)) == 128


def test_nothing_but_a_hum_is_said_in_both_parts(conversations):
    said = defaultdict(set)
    for held in conversations:
        for turn, text in zip(held.plan, held.utterances, strict=True):
            if turn.move is not Move.NOD:
                said[held.meeting.held_out].add(text)
    assert len(said[True]) > 100
    assert said[True].isdisjoint(said[False])


def test_the_worth_of_a_turn_is_that_of_its_move_after_what_was_open(conversations):
    for held in conversations[:10]:
        opening = Opening.NOTHING
        for turn, reward in zip(held.plan, held.rewards, strict=True):
            assert turn.met is opening
            worth = WORTHS[opening][turn.move]
            expected = worth.visible + worth.faceless
            if turn.brings and turn.repeats is None:
                brought = BROUGHT_WORTHS[turn.brings.kind]
                expected += brought.visible + brought.faceless
            assert reward == pytest.approx(expected)
            opening = turn.leaves


def test_the_same_words_help_in_one_place_and_hurt_in_another(conversations):
    worth_of = defaultdict(list)
    for held in conversations:
        for text, reward in zip(held.utterances, held.rewards, strict=True):
            worth_of[text].append(reward)
    crossing = [text for text, each in worth_of.items() if min(each) <= -0.5 and max(each) >= 0.5]
    assert len(crossing) >= 5
    assert WORTHS[Opening.GOOD_NEWS][Move.CHEER].reward > 0
    assert WORTHS[Opening.BAD_NEWS][Move.CHEER].reward < 0


def test_what_is_repeated_was_said_before_by_the_same_person(conversations):
    found = 0
    for held in conversations:
        for turn, text in zip(held.plan, held.utterances, strict=True):
            if turn.repeats is None:
                continue
            found += 1
            before = held.plan[turn.repeats]
            assert before.speaker == turn.speaker
            # the matter's last sentence stands at the end of both turns
            assert held.utterances[turn.repeats][-12:] == text[-12:]
    assert found > 10


def test_context_explains_much_that_the_reply_alone_does_not(conversations):
    rewards = np.concatenate([held.rewards[1:] for held in conversations])
    moves = [turn.move for held in conversations for turn in held.plan[1:]]
    brought = [
        turn.brings.kind if turn.brings and turn.repeats is None else None
        for held in conversations
        for turn in held.plan[1:]
    ]
    met = [turn.met for held in conversations for turn in held.plan[1:]]

    def explained(keys: list[tuple]) -> float:
        """The share of variance between the groups of equal keys."""
        groups = defaultdict(list)
        for key, reward in zip(keys, rewards, strict=True):
            groups[key].append(reward)
        inside = sum(np.var(each) * len(each) for each in groups.values())
        return 1 - inside / (np.var(rewards) * len(rewards))

    assert explained(list(zip(moves, brought, met, strict=True))) == pytest.approx(1)
    assert explained(list(zip(moves, brought, strict=True))) < 0.65
