"""A study from samples to shares: what raters get to see, and what their answers come to."""

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from drl.errors import ConfigError, DataError, RunError
from drl.evaluation.study import TIE, Key, blind, read_key, write_key
from drl.evaluation.study_answers import Choice, read_answers
from drl.evaluation.study_console import print_study
from drl.evaluation.study_criteria import CRITERIA, choose_criteria
from drl.evaluation.study_result import analyse
from drl.evaluation.study_samples import Message, PairedSample, read_samples, write_samples

QUESTIONS = {"warmth": "Which is warmer?", "sense": "Which makes sense?"}


def samples(number: int) -> list[PairedSample]:
    return [
        PairedSample(
            id=f"talk-{i}",
            context=(Message(role="user", content=f"hello {i}"),),
            candidates={"base": f"text x{i}", "trained": f"text y{i}"},
        )
        for i in range(number)
    ]


def study(number: int, *, seed: int = 0, raters: int = 2) -> Key:
    key, _ = blind(samples(number), QUESTIONS, num_raters=raters, num_items=None, seed=seed)
    return key


def sheet(key: Key, rater: str, chosen: Mapping[str, str]) -> dict[str, object]:
    """A rater's file in which `chosen` candidates (by sample, else ties) win on all criteria."""
    answers = {}
    for name, item in key.items.items():
        letters = {candidate: letter for letter, candidate in item.candidates.items()}
        letter = letters.get(chosen.get(item.id, ""), TIE)
        answers[name] = {
            "order": [letters["trained"], letters["base"]],
            "choices": dict.fromkeys(key.criteria, letter),
        }
    return {"form": key.form, "rater": rater, "answers": answers}


def saved(path: Path, content: object) -> Path:
    path.write_text(json.dumps(content))
    return path


def test_the_page_names_no_candidate_and_letters_differ_from_item_to_item():
    key, page = blind(samples(40), QUESTIONS, num_raters=2, num_items=None, seed=5)
    text = json.dumps(page)
    assert "trained" not in text
    assert "base" not in text
    assert "talk-" not in text
    under_a = [item.candidates["a"] for item in key.items.values()]
    # a fair coin: 40 throws, and 10 or fewer of one side happen once in a thousand
    assert 10 < under_a.count("base") < 30
    assert [item.id for item in key.items.values()] != [sample.id for sample in samples(40)]
    shown = page["items"]
    assert isinstance(shown, list)
    for item in shown:
        told = key.items[item["item"]]
        number = told.id.removeprefix("talk-")
        letter_of = {name: letter for letter, name in told.candidates.items()}
        assert item["candidates"][letter_of["base"]] == f"text x{number}"


def test_a_study_repeats_by_its_seed_and_draws_the_items_asked_for():
    assert study(9) == study(9)
    assert study(9).form != study(9, seed=1).form
    key, _ = blind(samples(9), QUESTIONS, num_raters=1, num_items=4, seed=0)
    assert len(key.items) == 4
    with pytest.raises(ConfigError, match="--items=10 must be from 1 to 9"):
        blind(samples(9), QUESTIONS, num_raters=1, num_items=10, seed=0)
    with pytest.raises(ConfigError, match="--raters=0 must be at least 1"):
        blind(samples(9), QUESTIONS, num_raters=0, num_items=None, seed=0)


def test_a_key_comes_back_and_is_never_written_over(tmp_path: Path):
    key = study(3)
    write_key(tmp_path, key)
    assert read_key(tmp_path) == key
    with pytest.raises(RunError, match="is there already"):
        write_key(tmp_path, key)
    with pytest.raises(DataError, match="cannot be read as the key of a study"):
        read_key(tmp_path / "other")


def test_shares_and_differences_are_those_of_the_items(tmp_path: Path):
    key = study(4)
    first = sheet(key, "1", {"talk-0": "trained", "talk-1": "trained", "talk-2": "base"})
    second = sheet(key, "2", {"talk-0": "trained", "talk-1": "base", "talk-2": "base"})
    paths = [saved(tmp_path / "1.json", first), saved(tmp_path / "2.json", second)]
    result = analyse(key, read_answers(key, paths, allow_incomplete=False), None)
    warmth = result.criteria["warmth"]
    # items' shares: trained 1, 1/2, 0, 0; base 0, 1/2, 1, 0; ties 0, 0, 0, 1
    values = {name: estimate.value for name, estimate in warmth.chosen.items()}
    assert values == {"trained": 0.375, "base": 0.375, TIE: 0.25}
    gap = warmth.against_base["trained"].difference
    # differences 1, 0, -1, 0: mean 0
    assert (gap.value, gap.n) == (0, 4)
    # trained stood first everywhere; of the non-ties by item 1, 1/2, 0: mean 1/2
    assert result.first_shown is not None
    assert result.first_shown.value == pytest.approx(0.5)
    assert result.chance_first == 0.5
    # coincidences: units (t t), (t b), (b b), (tie tie); 8 values: t 3, b 3, tie 2
    # 1 - 7 * 2 / (64 - 9 - 9 - 4) = 1 - 14 / 42 = 2/3
    assert warmth.alpha is not None
    assert warmth.alpha.value == pytest.approx(2 / 3)
    # over both criteria: twice the counts, 1 - 15 * 4 / (256 - 36 - 36 - 16) = 1 - 60 / 168
    assert result.alpha is not None
    assert result.alpha.value == pytest.approx(1 - 60 / 168)
    assert result.best_on == {"base": 0, "trained": 0}
    assert result.missing_raters == []


def test_p_values_hold_for_all_criteria_together():
    key = study(8, raters=3)
    choices = [
        Choice(
            rater="1",
            item=item.id,
            conversation=item.id,
            criterion=criterion,
            candidate="trained" if criterion == "warmth" or number % 2 else "base",
            first="base",
        )
        for number, item in enumerate(key.items.values())
        for criterion in QUESTIONS
    ]
    result = analyse(key, choices, "base")
    # warmth: 8 differences of +1; two of the 256 signs are as extreme: 2/256, twice by Holm
    warmth = result.criteria["warmth"].against_base["trained"]
    assert warmth.difference.value == 1
    assert warmth.difference.p == pytest.approx(2 / 256)
    assert warmth.p_holm == pytest.approx(4 / 256)
    assert result.criteria["sense"].against_base["trained"].p_holm == 1
    assert result.best_on == {"base": 0, "trained": 1}
    assert result.missing_raters == ["2", "3"]
    assert result.alpha is None  # a single rater agrees with nobody
    assert json.loads(json.dumps(result.to_json()))["criteria"]["warmth"]["alpha"] is None
    other_way = analyse(key, choices, "trained")
    assert other_way.criteria["warmth"].against_base["base"].difference.value == -1
    with pytest.raises(ConfigError, match="--base nobody: is unknown; known: base, trained"):
        analyse(key, choices, "nobody")


def talks(num_conversations: int, each: int) -> list[PairedSample]:
    return [
        sample.model_copy(update={"conversation": f"c{number // each}"})
        for number, sample in enumerate(samples(num_conversations * each))
    ]


def test_items_of_one_conversation_are_one_piece_of_evidence(tmp_path: Path):
    key, _ = blind(talks(4, 5), QUESTIONS, num_raters=1, num_items=None, seed=0)
    # in three conversations all five items fall on trained, in one on base
    chosen = {f"talk-{i}": "trained" if i < 15 else "base" for i in range(20)}
    answers = read_answers(
        key, [saved(tmp_path / "1.json", sheet(key, "1", chosen))], allow_incomplete=False
    )
    result = analyse(key, answers, None)
    assert (result.num_items, result.num_conversations) == (20, 4)
    gap = result.criteria["warmth"].against_base["trained"].difference
    # differences 1, 1, 1, -1: mean 1/2; of 16 signs 10 have a mean as far from zero
    assert (gap.value, gap.n) == (0.5, 4)
    assert gap.p == pytest.approx(10 / 16)
    assert result.criteria["warmth"].chosen["trained"].n == 4


def test_a_study_too_small_to_show_anything_says_so(tmp_path: Path, capsys):
    key = study(4, raters=1)
    path = saved(tmp_path / "1.json", sheet(key, "1", {}))
    result = analyse(key, read_answers(key, [path], allow_incomplete=False), None)
    # two of 2^4 signs are as extreme as can be, 1/8; two comparisons by Holm: 1/4
    assert result.smallest_p_holm == pytest.approx(0.25)
    print_study(result)
    told = " ".join(capsys.readouterr().out.split())
    assert "warning: of 4 conversations no p (Holm) can be below 0.25" in told
    assert "warning: one rater alone" in told


def test_criteria_are_named_in_full_on_a_narrow_terminal(monkeypatch, tmp_path: Path, capsys):
    monkeypatch.setenv("COLUMNS", "80")
    name = "social_understanding"
    key, _ = blind(samples(4), {name: "Who?"}, num_raters=1, num_items=None, seed=0)
    path = saved(tmp_path / "1.json", sheet(key, "1", {"talk-0": "base"}))
    print_study(analyse(key, read_answers(key, [path], allow_incomplete=False), None))
    assert capsys.readouterr().out.count(name) == 2


def test_answers_that_do_not_belong_to_the_form_are_refused(tmp_path: Path):
    key = study(2)
    good = sheet(key, "1", {"talk-0": "base"})
    path = saved(tmp_path / "good.json", good)
    cases = [
        ({**good, "form": "other"}, "answers form other, and this study is form"),
        ({**good, "rater": "3"}, "is of rater '3', and the raters are 1 to 2"),
        (good, "is of rater 1, as is"),
        ({**good, "rater": "2", "answers": {"9": good["answers"]["1"]}}, "there is no item 9"),  # pyright: ignore[reportIndexIssue]
        (changed(good, choices={"warmth": "z"}), "warmth=z is no choice of this form"),
        (changed(good, choices={"speed": "a"}), "speed=a is no choice of this form"),
        (changed(good, order=["a"]), "item 1 was not shown as this form shows it"),
        (changed(good, choices={"warmth": "a"}), "rater 2 made 3 of 4 choices"),
        ({"rater": "2"}, "cannot be read as a rater's answers"),
    ]
    for content, message in cases:
        bad = saved(tmp_path / "bad.json", content)
        with pytest.raises(DataError) as caught:
            read_answers(key, [path, bad], allow_incomplete=False)
        assert message in str(caught.value)
    partial = saved(tmp_path / "bad.json", changed(good, choices={"warmth": "a"}))
    assert len(read_answers(key, [path, partial], allow_incomplete=True)) == 4 + 3
    empty = saved(tmp_path / "empty.json", {**good, "answers": {}})
    with pytest.raises(DataError, match="no file holds a choice"):
        read_answers(key, [empty], allow_incomplete=True)


def changed(content: dict[str, object], **first_item: object) -> dict[str, object]:
    """The same file by rater 2, with its first item changed."""
    copy = json.loads(json.dumps(content))
    copy["rater"] = "2"
    copy["answers"]["1"].update(first_item)
    return copy


def test_samples_come_back_from_a_run_and_a_last_line_needs_no_break(tmp_path: Path):
    path = tmp_path / "data" / "paired_samples.jsonl"
    write_samples(path, samples(3))
    path.write_text(path.read_text().rstrip("\n"))
    assert read_samples(tmp_path) == read_samples(path) == samples(3)


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ([], "holds no samples"),
        (['{"id": "1"}'], "line 1: context: Field required"),
        (["nonsense"], "line 1: the line: Invalid JSON"),
        ([{"id": "1", "context": [], "candidates": {"a": "x"}}], "candidates"),
        ([{"id": "1", "context": [], "candidates": {"a": "x", "b": "y"}}] * 2, "'1' was there"),
        (
            [
                {"id": "1", "context": [], "candidates": {"a": "x", "b": "y"}},
                {"id": "2", "context": [], "candidates": {"a": "x", "c": "y"}},
            ],
            "line 2: has the candidates a, c, line 1 has a, b",
        ),
    ],
)
def test_samples_that_cannot_be_used_are_named(tmp_path: Path, lines: list, message: str):
    path = tmp_path / "pairs.jsonl"
    path.write_text("\n".join(x if isinstance(x, str) else json.dumps(x) for x in lines))
    with pytest.raises(DataError) as caught:
        read_samples(path)
    assert message in str(caught.value)


def test_criteria_are_known_or_given_in_full():
    assert choose_criteria([]) is CRITERIA
    assert choose_criteria(["positivity", "humour=Which is funnier?"]) == {
        "positivity": CRITERIA["positivity"],
        "humour": "Which is funnier?",
    }
    for wrong, message in (
        (["humour"], "humour: is unknown; known: emotional_connection"),
        (["positivity", "positivity"], "is named twice"),
        (["Two words=Which?"], "must be lower-case"),
    ):
        with pytest.raises(ConfigError, match=message):
            choose_criteria(wrong)
