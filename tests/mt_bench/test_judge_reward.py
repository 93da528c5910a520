"""A model's judgment as a reward: what it is asked, how it is read, and what is not judged."""

import asyncio
import json

import pytest
from mt_bench.judging import (
    MATH,
    WORLD,
    WRITING,
    answers,
    asks,
    dialogue_of,
    grade,
    judge,
    reward_of,
    task_of,
)
from scripted_llm import ScriptedLLM, says

from drl.errors import ConfigError, DataError
from drl.llm.base import Completion, ContextOverflowError, OutageError
from drl.reward.base import RewardError
from drl.reward.weighted import WeightedReward
from drl.types import Failure, Role, Step, ToolCall, ToolResult, Turn


def test_each_finished_turn_earns_its_rating_with_what_was_asked_and_said():
    llm = says("Fine.\nGrade: [[7]]")
    (event,) = judge(reward_of(), task_of(), dialogue_of("this"), llm).events
    assert (event.amount, event.source) == (7.0, "judge")
    assert event.detail["turn"] == 1
    assert event.detail["points"] == 7.0
    assert event.detail["judge"] == "scripted"
    assert event.detail["prompt"] == "own-rate-turn"
    assert event.detail["judgment"] == "Fine.\nGrade: [[7]]"
    assert event.detail["user_prompt"] == llm.requests[0].messages[1].content
    (request,) = llm.requests
    assert request.purpose == "judge"
    assert (request.sampling.temperature, request.sampling.max_tokens) == (0.0, 2048)


@pytest.mark.parametrize(("points", "share"), [(1, 0.0), (5.5, 0.5), (10, 1.0)])
def test_a_rating_may_be_paid_as_its_share_of_the_scale(points, share):
    reward = reward_of(scale="unit")
    (event,) = judge(reward, task_of(), dialogue_of("this"), says(f"[[{points}]]")).events
    assert event.amount == pytest.approx(share)
    assert event.detail["points"] == points


@pytest.mark.parametrize("number", ["0", "10.5", "11", "9" * 400])
def test_a_number_that_is_not_on_the_scale_is_no_rating(number):
    judgement = judge(reward_of(retries=0), task_of(), dialogue_of("this"), says(f"[[{number}]]"))
    assert judgement.events == ()
    assert judgement.unscored[0]["points"] is None


def test_the_grade_is_the_mean_or_the_sum_over_judged_turns():
    dialogue = dialogue_of("this", "again")
    llm = ScriptedLLM(
        lambda r, s: "[[8]]" if "again\n</answer>" in r.messages[1].content else "[[4]]"
    )
    assert grade(reward_of(), task_of(), dialogue, llm) == 6.0
    assert grade(reward_of(total="sum"), task_of(), dialogue, llm) == 12.0


def test_a_dialogue_that_was_judged_turn_by_turn_is_not_judged_again():
    reward, task, dialogue, llm = (
        reward_of(),
        task_of(),
        dialogue_of("this", "again"),
        says("[[5]]"),
    )

    async def play() -> None:
        for end in (2, 4):
            await reward.judge(task, WORLD, dialogue[: end - 1], dialogue[end - 1], (), llm)
        assert await reward.grade(task, WORLD, dialogue, llm) == 5.0

    asyncio.run(play())
    assert len(llm.requests) == 2


def test_another_judge_is_asked_anew():
    reward, dialogue = reward_of(), dialogue_of("this")
    assert grade(reward, task_of(), dialogue, says("[[5]]")) == 5.0
    assert grade(reward, task_of(), dialogue, says("[[6]]")) == 6.0


def test_prose_is_asked_for_again_with_other_seeds_and_warmer():
    llm = says("A fine answer.", "Truly fine.", "[[9]]")
    (event,) = judge(reward_of(), task_of(), dialogue_of("this"), llm).events
    assert event.amount == 9.0
    assert len({request.seeds for request in llm.requests}) == 3
    assert [request.sampling.temperature for request in llm.requests] == [0.0, 0.5, 0.5]


def test_a_judge_that_only_writes_prose_leaves_the_turn_unscored_and_not_at_0():
    reward, llm = reward_of(retries=1), says("A fine answer.")
    judgement = judge(reward, task_of(), dialogue_of("this"), llm)
    assert judgement.events == ()
    (note,) = judgement.unscored
    assert note["cause"] == "no verdict in the judgment"
    assert note["judgment"] == "A fine answer."
    assert note["points"] is None
    assert len(llm.requests) == 2
    assert grade(reward, task_of(), dialogue_of("this"), llm) is None


def test_the_mean_leaves_out_what_could_not_be_judged():
    llm = ScriptedLLM(
        lambda r, s: "prose" if "again\n</answer>" in r.messages[1].content else "[[4]]"
    )
    assert grade(reward_of(), task_of(), dialogue_of("this", "again"), llm) == 4.0


def test_a_judgment_that_was_cut_says_so():
    llm = says(Completion("Let me think about", "length"))
    (note,) = judge(reward_of(retries=0), task_of(), dialogue_of("this"), llm).unscored
    assert note["cause"] == "cut at 2048 tokens"


def _raises(error: Exception) -> ScriptedLLM:
    def answer(request, seed):
        raise error

    return ScriptedLLM(answer)


def test_a_prompt_too_long_for_the_judge_is_unscored_and_asked_once():
    llm = _raises(ContextOverflowError("9000 of 8192 tokens"))
    (note,) = judge(reward_of(), task_of(), dialogue_of("this"), llm).unscored
    assert note["cause"] == "9000 of 8192 tokens"
    assert len(llm.requests) == 1


def test_a_judge_that_cannot_be_reached_is_an_outage_of_the_run():
    with pytest.raises(OutageError):
        judge(reward_of(), task_of(), dialogue_of("this"), _raises(OutageError("down")))


def test_only_finished_words_of_the_agent_are_judged():
    reward, llm = reward_of(), says("[[5]]")
    called = Turn(
        Role.AGENT, None, (Step("x", calls=(ToolCall("t", {}),), results=(ToolResult(1),)),)
    )
    broken = Turn(Role.AGENT, "", failure=Failure("agent", "boom"))
    for turn in (asks("hello"), called, broken):
        judgement = asyncio.run(reward.judge(task_of(), WORLD, (), turn, (0,), llm))
        assert judgement.events == judgement.unscored == ()
        assert judgement.open_goals == (0,)
    assert grade(reward, task_of(), [asks("hello"), broken], llm) is None
    assert llm.requests == []


def test_a_dialogue_may_be_judged_as_a_whole():
    reward, llm = reward_of(when="dialogue"), says("[[6]]")
    dialogue = [asks("Hello."), answers("Hi."), asks("Bye."), answers("See you.")]
    assert judge(reward, task_of(None), dialogue, llm).events == ()
    assert llm.requests == []
    assert grade(reward, task_of(None), dialogue, llm) == 6.0
    (request,) = llm.requests
    assert "as a whole" in request.messages[0].content
    assert "user: Bye.\nassistant: See you." in request.messages[1].content


def test_what_was_said_in_the_opening_is_shown():
    task = task_of(None)
    task = type(task)(
        task.id, task.split, task.brief, (), opening=(asks("First."), answers("Yes."))
    )
    llm = says("[[5]]")
    judge(reward_of(), task, [asks("Then?"), answers("No.")], llm)
    assert "user: First.\nassistant: Yes.\nuser: Then?" in llm.requests[0].messages[1].content


def test_our_prompts_show_a_reference_of_the_judged_turn_where_there_is_one():
    llm = says("[[5]]")
    (event,) = judge(reward_of(), task_of(MATH), dialogue_of("4", "6", question=MATH), llm).events
    shown = llm.requests[0].messages[1].content
    assert "<reference>\nsix\n</reference>" in shown
    assert "four" not in shown
    assert shown.endswith("<answer>\n6\n</answer>")
    assert event.detail["prompt"] == "own-rate-turn-reference"


# ---- the published prompts ----


def published(root, **changes):
    return reward_of(prompts="mt_bench", root=str(root), **changes)


def test_the_published_prompts_are_filled_and_not_reworded(root):
    llm = says("[[5]]")
    reward = published(root)
    (first,) = judge(reward, task_of(), dialogue_of("{this}"), llm).events
    (second,) = judge(reward, task_of(), dialogue_of("{this}", "{question}"), llm).events
    assert first.detail["prompt"] == "single-v1"
    assert first.detail["user_prompt"] == "Q Say {this}. A {this}"
    assert second.detail["prompt"] == "single-v1-multi-turn"
    assert second.detail["user_prompt"] == "Q Say {this}. A {this} Q Say it again. A {question}"
    assert llm.requests[1].messages[0].content == "Judge by single-v1-multi-turn."


def test_math_is_held_against_references(root):
    llm = says("[[5]]")
    reward = published(root)
    dialogue = dialogue_of("4", "6", question=MATH)
    (first,) = judge(reward, task_of(MATH), dialogue[:2], llm).events
    (second,) = judge(reward, task_of(MATH), dialogue, llm).events
    assert first.detail["prompt"] == "single-math-v1"
    assert first.detail["user_prompt"] == "R four Q 2+2? A 4"
    assert second.detail["prompt"] == "single-math-v1-multi-turn"
    assert second.detail["user_prompt"] == "R four, six Q 2+2? A 4 Q And 3+3? A 6"


def test_math_without_a_reference_is_refused(root):
    question = type(MATH)(4, "math", ("1?", "2?"))
    with pytest.raises(RewardError, match="question 4 has none"):
        judge(
            published(root), task_of(question), dialogue_of("1", question=question), says("[[5]]")
        )


def test_dialogues_of_another_form_are_refused(root):
    llm = says("[[5]]")
    for said in ([answers("Hi.")], [asks("a"), asks("b"), answers("c")]):
        with pytest.raises(RewardError, match=r"reward\.prompts=own"):
            judge(published(root), task_of(), said, llm)
    three = [*dialogue_of("a", "b"), asks("c"), answers("d")]
    with pytest.raises(RewardError, match="one or two answers"):
        judge(published(root), task_of(), three, llm)


# ---- against another model ----


def test_both_orders_have_to_agree_for_a_win_or_a_loss(root, answers_file):
    reward = published(root, mode="pairwise", baseline=str(answers_file))
    task, dialogue = task_of(), dialogue_of("mine")
    for ours_first, theirs_first, amount, winners in (
        ("[[A]]", "[[B]]", 1.0, ("model_1", "model_1")),
        ("[[B]]", "[[A]]", 0.0, ("model_2", "model_2")),
        ("[[A]]", "[[A]]", 0.5, ("model_1", "model_2")),
        ("[[C]]", "[[C]]", 0.5, ("tie", "tie")),
        ("[[A]]", "[[C]]", 0.5, ("model_1", "tie")),
    ):
        llm = ScriptedLLM(
            lambda r, s, a=ours_first, b=theirs_first: a if "A mine" in r.messages[1].content else b
        )
        (event,) = judge(reward, task, dialogue, llm).events
        assert (event.amount, event.source) == (amount, "judge_pair")
        assert (event.detail["g1_winner"], event.detail["g2_winner"]) == winners
        assert event.detail["baseline"] == "baseline"
        assert event.detail["prompt"] == "pair-v2"
        assert event.detail["g1_user_prompt"] == "Q Say {this}. A mine B theirs"
        assert event.detail["g2_user_prompt"] == "Q Say {this}. A theirs B mine"


def test_the_second_turn_is_compared_with_each_ones_own_first(root, answers_file):
    reward = published(root, mode="pairwise", baseline=str(answers_file))
    llm = says("[[C]]")
    (event,) = judge(reward, task_of(MATH), dialogue_of("4", "6", question=MATH), llm).events
    assert event.detail["prompt"] == "pair-math-v1-multi-turn"
    assert event.detail["g1_user_prompt"] == "R four, six Q And 3+3? A 4, 6 B 5, 7"
    assert event.detail["g2_user_prompt"] == "R four, six Q And 3+3? A 5, 7 B 4, 6"


def test_a_comparison_of_which_one_game_cannot_be_read_is_unscored(root, answers_file):
    reward = published(root, mode="pairwise", baseline=str(answers_file), retries=0)
    llm = ScriptedLLM(lambda r, s: "[[A]]" if "A mine" in r.messages[1].content else "prose")
    (note,) = judge(reward, task_of(), dialogue_of("mine"), llm).unscored
    assert (note["g1_winner"], note["g2_winner"]) == ("model_1", "error")
    assert note["cause"] == "no verdict in the judgment"
    assert grade(reward, task_of(), dialogue_of("mine"), llm) is None


def test_our_prompts_compare_too(answers_file):
    reward = reward_of(mode="pairwise", baseline=str(answers_file))
    llm = says("[[C]]")
    (event,) = judge(reward, task_of(), dialogue_of("mine"), llm).events
    assert event.detail["prompt"] == "own-compare-turn"
    assert "<answer_a>\nmine\n</answer_a>\n<answer_b>\ntheirs" in str(
        event.detail["g1_user_prompt"]
    )
    assert "<answer_a>\ntheirs\n</answer_a>\n<answer_b>\nmine" in str(
        event.detail["g2_user_prompt"]
    )


def test_a_question_without_an_answer_to_compare_with_is_told(answers_file):
    reward = reward_of(mode="pairwise", baseline=str(answers_file))
    other = type(WRITING)(9, "writing", ("a", "b"))
    with pytest.raises(DataError, match="no answer to question 9"):
        judge(reward, task_of(other), dialogue_of("x", question=other), says("[[C]]"))


def test_a_baseline_that_could_not_answer_is_beaten_by_nobody(answers):
    baseline = answers({1: [["theirs", "$ERROR$"]]})
    reward, llm = reward_of(mode="pairwise", baseline=str(baseline)), says("[[C]]")
    assert judge(reward, task_of(), dialogue_of("mine"), llm).events
    num_asked = len(llm.requests)
    (note,) = judge(reward, task_of(), dialogue_of("mine", "mine too"), llm).unscored
    assert note["cause"] == "the baseline holds $ERROR$ in place of an answer"
    assert (note["g1_winner"], note["g2_winner"]) == ("error", "error")
    assert len(llm.requests) == num_asked


def test_answers_of_any_text_and_file_of_any_editor_can_be_compared_with(tmp_path):
    row = {"question_id": 1, "choices": [{"index": 0, "turns": ["half \ud800 of it", "b"]}]}
    file = tmp_path / "model.jsonl"
    file.write_bytes(b"\xef\xbb\xbf" + json.dumps(row).encode() + b"\r\n")
    reward = reward_of(mode="pairwise", baseline=str(file))
    (event,) = judge(reward, task_of(), dialogue_of("mine"), says("[[C]]")).events
    assert "half \ufffd of it" in str(event.detail["g1_user_prompt"])


@pytest.fixture
def answers_file(answers):
    return answers({1: [["theirs", "theirs too"]], 3: [["5", "7"]]})


# ---- settings ----


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"mode": "pairwise"}, r"reward\.mode=pairwise and reward\.baseline=None"),
        ({"baseline": "x.jsonl"}, r"reward\.mode=single"),
        ({"mode": "pairwise", "baseline": "nowhere.jsonl"}, r"reward\.baseline=nowhere\.jsonl"),
        ({"prompts": "mt_bench", "when": "dialogue"}, r"set reward\.when=turn"),
        ({"temperature": 3.0}, r"reward\.temperature=3\.0"),
        ({"retry_temperature": -1.0}, r"reward\.retry_temperature=-1\.0"),
        ({"max_tokens": 0}, r"reward\.max_tokens=0"),
        ({"retries": -1}, r"reward\.retries=-1"),
    ],
)
def test_settings_that_do_not_go_together_are_refused(changes, message):
    with pytest.raises(ConfigError, match=message):
        reward_of(**changes)


def test_the_version_names_prompts_and_baseline(root, answers_file):
    own = reward_of().version
    assert own.startswith("judge-own-")
    assert published(root).version.startswith("judge-mt_bench-1+")
    pair = reward_of(mode="pairwise", baseline=str(answers_file)).version
    assert pair.startswith(f"{own}-against-baseline-")


def test_among_weighted_rewards_it_asks_the_judge_and_tells_what_was_not_judged():
    weighted = WeightedReward(rewards={"judge": reward_of(retries=0)}, weights={"judge": 0.5})
    assert weighted.uses_llm
    dialogue = dialogue_of("this")

    def earned(judgment: str):
        judged = weighted.judge(task_of(), WORLD, dialogue[:1], dialogue[1], (), says(judgment))
        return asyncio.run(judged)

    (event,) = earned("[[8]]").events
    assert (event.amount, event.detail["points"]) == (4.0, 8.0)
    (note,) = earned("prose").unscored
    assert note["source"] == "judge"
