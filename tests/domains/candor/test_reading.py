"""Any text after a generated turn is read for its moves, and earns what they are worth there."""

import ast
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import spearmanr

from drl.domains.candor.synthetic.acts import BROUGHT_WORTHS, WORTHS, Move, Opening
from drl.domains.candor.synthetic.conversation import Conversation, hold
from drl.domains.candor.synthetic.people import meetings
from drl.domains.candor.synthetic.reading import Reading, read, worth_of
from drl.domains.candor.synthetic.settings import Settings
from drl.domains.candor.synthetic.vocabulary import patterns, phrase, topics
from drl.types import Role
from tests.domains.candor.written_replies import Written, fresh, seen, unseen

PACKAGE = Path(__file__).parents[3] / "drl"
NEWS = (Opening.GOOD_NEWS, Opening.BAD_NEWS)
MATTERS = {
    Opening.GOOD_NEWS: "the promotion",
    Opening.BAD_NEWS: "your dog",
    Opening.QUESTION: "sailing",
    Opening.WANTS_ADVICE: "baking bread",
    Opening.OPINION: "doing yoga",
    Opening.STORY: "camping",
}
GOOD_AFTER = {
    Opening.GOOD_NEWS: "Congratulations, I'm so happy for you!",
    Opening.BAD_NEWS: "I'm so sorry for your loss, that must hurt a lot.",
    Opening.QUESTION: "Yes, I go out on the lake every weekend.",
    Opening.WANTS_ADVICE: "You should start with a simple recipe.",
    Opening.OPINION: "You're right, I totally agree.",
    Opening.STORY: "Who went with you?",
}
DEGENERATE = (
    "",
    "   ",
    "...",
    "?" * 30,
    "!!! 😀😀😀",
    "ok ok ok ok ok ok ok ok",
    "congratulations " * 20,
    "I'm so sorry! " * 12,
    "haha " * 15,
    "haha",
    "Congrats, congrats, congrats!!!",
    "I promotion the of dog my sailing is",
    "You're right. Tell me more. " * 8,
    "congratulations wonderful amazing sorry hug haha agree exactly advice tip question sailing",
    "happy promotion great dog sorry bread start tip agree yoga camping fun sail weekend",
    "the of and to in it is you that he was for on are with as his they",
    "xkq zzrt plom wuff grbl nnnt qwop asdf",
    "Congratulations! I'm so sorry. Haha! You should try it. I agree. I've done it too. Who else?",
    "lorem ipsum dolor sit amet consectetur adipiscing elit sed do eiusmod",
)


def heard(kind: Opening, matter: str) -> str:
    """A turn of the generator's that brings up a matter."""
    random = np.random.default_rng(0)
    for held_out in (False, True):
        for pattern in patterns(held_out)[kind]:
            sentence, _, name = pattern.rpartition(" | ")
            if kind not in NEWS:
                topic = next(each for each in topics() if each.name == matter)
                return phrase(pattern, random, topic=matter, remark=topic.trained)
            if name == matter:
                return phrase(sentence, random) + "."
    raise KeyError(matter)


def said_after(kind: Opening, reply: str, *before: tuple[Role, str]) -> float:
    """What a reply is worth after the usual turn of a kind."""
    turns = [*before, (Role.USER, heard(kind, MATTERS[kind])), (Role.AGENT, reply)]
    worth = worth_of(turns, len(turns) - 1)
    assert worth is not None
    return worth


def turns_of(held: Conversation) -> Sequence[tuple[Role, str]]:
    return [
        ((Role.USER, Role.AGENT)[turn.speaker], text)
        for turn, text in zip(held.plan, held.utterances, strict=True)
    ]


def held_out_conversations(number: int) -> list[Conversation]:
    settings = Settings(conversations=5 * number, seed=11)
    return [
        hold(meeting, settings, np.random.default_rng([11, place]))
        for place, meeting in enumerate(meetings(settings))
        if meeting.held_out
    ]


def reading_of(written: Written) -> Reading:
    turns = [(Role.USER, heard(written.opening, written.matter)), (Role.AGENT, written.reply)]
    found = read(turns, 1)
    assert found is not None
    return found


def test_generated_turns_earn_their_hidden_rewards():
    correlations, is_equal = [], []
    for held in held_out_conversations(6):
        turns = turns_of(held)
        read_back = [worth_of(turns, place) for place in range(1, len(turns))]
        correlations.append(spearmanr(held.rewards[1:], read_back)[0])
        is_equal += [one == two for one, two in zip(held.rewards[1:], read_back, strict=True)]
    assert min(correlations) > 0.95
    assert np.mean(is_equal) > 0.99


def test_rules_alone_read_generated_turns_nearly_as_well():
    correlations = []
    for held in held_out_conversations(6):
        turns = turns_of(held)
        found = [read(turns, place, exact=False) for place in range(1, len(turns))]
        worths = [each.worth for each in found if each]
        correlations.append(spearmanr(held.rewards[1:], worths)[0])
    assert np.mean(correlations) > 0.75


@pytest.mark.parametrize(("replies", "least"), [(seen(), 0.9), (unseen(), 0.9), (fresh(), 0.55)])
def test_moves_are_told_in_words_that_the_generator_lacks(replies, least):
    is_right = [
        max(reading.shares, key=lambda move: reading.shares[move]) is written.move
        for written in replies
        for reading in [reading_of(written)]
    ]
    assert len(is_right) >= 35
    assert np.mean(is_right) >= least


def test_the_same_words_help_in_one_place_and_hurt_in_another():
    cheer = "Wow, congrats, I'm thrilled for you!"
    assert said_after(Opening.GOOD_NEWS, cheer) == WORTHS[Opening.GOOD_NEWS][Move.CHEER].reward
    assert said_after(Opening.BAD_NEWS, cheer) == WORTHS[Opening.BAD_NEWS][Move.CHEER].reward


def test_two_moves_earn_the_mean_of_theirs():
    reply = "Congratulations, I'm so happy for you! What will your new role be?"
    worths = WORTHS[Opening.GOOD_NEWS]
    mean = (worths[Move.CHEER].reward + worths[Move.ASK_ON].reward) / 2
    assert said_after(Opening.GOOD_NEWS, reply) == pytest.approx(mean)


def test_moves_that_spoil_each_other_earn_the_worse():
    reply = "I'm so sorry for your loss. Congratulations, that's great news!"
    assert said_after(Opening.BAD_NEWS, reply) == WORTHS[Opening.BAD_NEWS][Move.CHEER].reward


def test_what_is_brought_up_after_a_reply_counts_too():
    reply = "You're right, I totally agree. By the way, do you like pizza with pineapple?"
    brought = BROUGHT_WORTHS[Opening.QUESTION].reward
    agreed = WORTHS[Opening.OPINION][Move.AGREE].reward
    assert said_after(Opening.OPINION, reply) == pytest.approx(agreed + brought)


def test_to_ask_back_after_an_answer_is_interest_and_no_evasion():
    answer = "Yes, I go out on the lake every weekend."
    answered = said_after(Opening.QUESTION, answer)
    assert said_after(Opening.QUESTION, f"{answer} How about you, do you sail?") > answered


@pytest.mark.parametrize("opening", list(MATTERS))
@pytest.mark.parametrize("text", DEGENERATE)
def test_what_is_no_conversation_earns_no_more_than_a_nod(opening, text):
    nod = round(WORTHS[opening][Move.NOD].reward, 3)
    assert said_after(opening, text) <= nod < said_after(opening, GOOD_AFTER[opening])


@pytest.mark.parametrize("opening", list(MATTERS))
def test_who_says_again_what_was_said_earns_no_more_than_a_nod(opening):
    reply = (
        "Well, that is really a very good thing to hear about on such a rainy afternoon, I'd say."
    )
    before = (Role.AGENT, reply)
    assert said_after(opening, reply, before) == WORTHS[opening][Move.REPEAT].reward
    echo = heard(opening, MATTERS[opening])
    assert said_after(opening, f"So {echo}") <= WORTHS[opening][Move.NOD].reward


def test_where_nothing_is_open_only_what_is_brought_up_counts():
    turns = [(Role.USER, "Mhm."), (Role.AGENT, "What's the nicest place you have been to?")]
    assert worth_of(turns, 1) == pytest.approx(BROUGHT_WORTHS[Opening.QUESTION].reward)
    assert (worth_of([turns[0], (Role.AGENT, "Ok.")], 1) or 0) < 0


def test_a_turn_that_answers_no_generated_one_has_no_worth():
    assert worth_of([(Role.AGENT, "Congratulations!")], 0) is None
    turns = [(Role.USER, "The ferry to Bergen leaves at nine."), (Role.AGENT, "Great news!")]
    assert worth_of(turns, 1) is None


def test_every_move_has_a_worth_after_every_turn():
    replies = [*GOOD_AFTER.values(), "I don't agree.", "Mhm", "Oh no, I'm sorry.", "Haha!"]
    for opening in MATTERS:
        for reply in replies:
            assert -1.5 <= said_after(opening, reply) <= 1.5


def test_what_is_in_the_generators_words_is_read_beyond_doubt():
    turns = [(Role.USER, heard(Opening.GOOD_NEWS, "the promotion"))]
    known = read([*turns, (Role.AGENT, "Well done! I'm so happy for you.")], 1)
    other = read([*turns, (Role.AGENT, "Well done! I'm so very happy for you.")], 1)
    assert known
    assert other
    assert (known.exact, other.exact) == (True, False)
    assert known.worth == other.worth


def test_nothing_but_evaluation_can_import_it():
    """Nor the rules behind it, which would tell a training as much."""
    package = "drl.domains.candor.synthetic"
    rules = {"reading", "moves_told", "clause_moves", "clauses", "brings", "tiresome", "lexicon"}
    own = {PACKAGE / "domains/candor/synthetic" / f"{name}.py" for name in rules}
    for path in set(PACKAGE.rglob("*.py")) - own - set((PACKAGE / "evaluation").rglob("*.py")):
        text = path.read_text()
        if package not in text and "candor" not in text:
            continue  # parsing all files takes seconds
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.ImportFrom):
                names = {each.name for each in node.names}
                assert node.module not in {f"{package}.{name}" for name in rules}, path
                assert node.module != package or not names & rules, path
            elif isinstance(node, ast.Import):
                assert not {each.name for each in node.names} & {
                    f"{package}.{name}" for name in rules
                }, path
