import json

import pytest

from drl.compat.textrl.data import (
    from_hub,
    from_jsonl,
    from_list,
    validate_kto_dataset,
    validate_preference_dataset,
    validate_prompt_dataset,
    validate_reward_model_dataset,
)
from drl.errors import DataError
from tests.compat.textrl.small import CHAT, LABELS, PAIRS


def user(content):
    return {"role": "user", "content": content}


def agent(content):
    return {"role": "assistant", "content": content}


def test_strings_and_messages_are_rows_of_prompts():
    assert list(from_list(["a", "b"])["prompt"]) == ["a", "b"]
    assert list(from_list([CHAT])["prompt"]) == [CHAT]
    assert from_list([{"prompt": "a", "answer": 1}]).column_names == ["prompt", "answer"]


@pytest.mark.parametrize(("items", "said"), [([], "is empty"), ([3], "row 0: 3 is no row")])
def test_what_is_no_row_is_refused(items, said):
    with pytest.raises(DataError, match=said):
        from_list(items)


def test_lines_of_json_are_rows(tmp_path, monkeypatch):
    monkeypatch.setattr("datasets.config.HF_DATASETS_CACHE", tmp_path / "cache")
    file = tmp_path / "rows.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in PAIRS))
    assert list(from_jsonl(str(file))) == PAIRS
    assert list(from_jsonl(str(file), split="train[:1]")) == PAIRS[:1]


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(DataError, match=r"none\.jsonl: cannot be read"):
        from_jsonl(str(tmp_path / "none.jsonl"))


def test_messages_are_a_prompt():
    assert list(validate_prompt_dataset(from_list([{"messages": CHAT}]))["prompt"]) == [CHAT]
    with pytest.raises(DataError, match="row 1: its messages end with the assistant's"):
        validate_prompt_dataset(from_list([CHAT, [user("a"), agent("b")]]))


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([{"question": "a"}], "has the columns question; it needs prompt or messages"),
        ([{"prompt": "a"}, {"prompt": ""}], "row 1: prompt is empty"),
        ([{"prompt": [{"text": "a"}]}], "row 0: prompt is neither a string nor messages"),
    ],
)
def test_prompts_are_checked(rows, said):
    with pytest.raises(DataError, match=said):
        validate_prompt_dataset(from_list(rows))


def test_a_list_is_no_dataset():
    with pytest.raises(DataError, match="is a list; make one with"):
        validate_prompt_dataset(["a"])


def test_pairs_with_a_prompt_stay_as_they_are():
    assert list(validate_preference_dataset(from_list(PAIRS))) == PAIRS


@pytest.mark.parametrize(
    ("chosen", "rejected", "shared"),
    [
        ([user("a"), agent("b")], [user("a"), agent("c")], 1),
        ([user("a"), agent("b"), user("c"), agent("d")], [user("a"), agent("b")], 1),
        ([user("a"), agent("b")], [user("a"), agent("b"), user("c"), agent("d")], 1),
    ],
)
def test_the_prompt_is_what_chats_begin_with_and_leaves_each_a_message(chosen, rejected, shared):
    row = validate_preference_dataset(from_list([{"chosen": chosen, "rejected": rejected}]))[0]
    assert row["prompt"] == chosen[:shared]
    assert row["prompt"] + row["chosen"] == chosen
    assert row["prompt"] + row["rejected"] == rejected


@pytest.mark.parametrize(
    ("chosen", "rejected", "prompt"),
    [
        ("The sky is blue", "The sky is black", "The sky is"),
        ("Say: ab cd", "Say: abx", "Say:"),
        ("one two", "one two three", "one"),
    ],
)
def test_the_prompt_of_strings_ends_before_white_space(chosen, rejected, prompt):
    row = validate_preference_dataset(from_list([{"chosen": chosen, "rejected": rejected}]))[0]
    assert (row["prompt"], prompt + row["chosen"]) == (prompt, chosen)
    assert prompt + row["rejected"] == rejected


@pytest.mark.parametrize(
    "pair", [("yes", "no"), ([user("a"), agent("b")], [user("c"), agent("b")])]
)
def test_pairs_without_a_beginning_need_a_prompt(pair):
    rows = [{"chosen": pair[0], "rejected": pair[1]}]
    with pytest.raises(DataError, match="row 0: chosen and rejected share no beginning"):
        validate_preference_dataset(from_list(rows))


def test_pairs_of_two_alike_are_left_out_and_counted(caplog):
    same = {"prompt": "p", "chosen": " a", "rejected": " a"}
    assert list(validate_preference_dataset(from_list([same, *PAIRS]))) == PAIRS
    assert "1 pairs of 5 have equal sides" in caplog.text
    with pytest.raises(DataError, match="equal in every row"):
        validate_preference_dataset(from_list([same]))


def test_strings_and_chats_do_not_mix():
    row = {"prompt": CHAT, "chosen": " a", "rejected": " b"}
    with pytest.raises(DataError, match="partly strings and partly messages"):
        validate_preference_dataset(from_list([row]))


def test_labels_are_booleans(caplog):
    assert list(validate_kto_dataset(from_list(LABELS))) == LABELS
    with pytest.raises(DataError, match="row 0: label=1 must be true or false"):
        validate_kto_dataset(from_list([{"prompt": "p", "completion": "c", "label": 1}]))
    validate_kto_dataset(from_list(LABELS[::2]))
    assert "all labels are True" in caplog.text


def test_reward_models_learn_from_whole_texts_or_after_prompts():
    whole = [{"chosen": "a b", "rejected": "a c"}]
    assert list(validate_reward_model_dataset(from_list(whole))) == whole
    assert list(validate_reward_model_dataset(from_list(PAIRS))) == PAIRS
    with pytest.raises(DataError, match="it needs chosen, rejected"):
        validate_reward_model_dataset(from_list(["a"]))


def test_a_hub_that_cannot_be_reached_is_said_so():
    with pytest.raises(DataError, match="no/such: cannot be had from the hub"):
        from_hub("no/such")
