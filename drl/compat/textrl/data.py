"""Datasets for TextRL's trainers: made from lists, files and the hub, and checked before training.

A row's text is a string or a chat, which is a list of messages with `role` and `content`; one
dataset holds one kind. The checks give the dataset back in the form that TRL trains on.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from drl.compat.textrl._reward_base import Text
from drl.errors import DataError

if TYPE_CHECKING:
    from datasets import Dataset

Row = dict[str, Any]
_LOG = logging.getLogger(__name__)


def from_list(items: Iterable[Any]) -> Dataset:
    """A dataset from rows; a string, or a list of messages, is a row with that prompt.

    Raises:
        DataError: there are none, or one is of another kind.
    """
    from datasets import Dataset

    return Dataset.from_list([_row(number, item) for number, item in enumerate(_some(items))])


def from_jsonl(path: str, split: str = "train") -> Dataset:
    """A dataset from a file with an object in each line.

    Args:
        path: of the file.
        split: train, or a slice of it as `train[:100]`.

    Raises:
        DataError: there is no such file, or it cannot be read.
    """
    from datasets import load_dataset
    from datasets.exceptions import DatasetsError

    try:
        return load_dataset("json", data_files={"train": str(path)}, split=split)
    except (OSError, ValueError, DatasetsError) as error:
        raise DataError(f"{path}: cannot be read as lines of JSON ({error})") from error


def from_hub(name: str, split: str = "train", **kwargs: Any) -> Dataset:
    """A dataset of the hub.

    Args:
        name: its id there.
        split: which part.
        kwargs: more of `datasets.load_dataset`.

    Raises:
        DataError: it cannot be had.
    """
    from datasets import load_dataset
    from datasets.exceptions import DatasetsError

    try:
        return load_dataset(name, split=split, **kwargs)
    except (OSError, ValueError, DatasetsError) as error:
        raise DataError(f"{name}: cannot be had from the hub ({error}); see its name") from error


def validate_prompt_dataset(dataset: Dataset) -> Dataset:
    """Rows with a `prompt`; where they hold `messages` instead, that is their prompt.

    Raises:
        DataError: a prompt is missing or empty, or what is to be its answer is in it already.
    """
    rows = _checked_columns(dataset, [["prompt"], ["messages"]], "prompts")
    if "prompt" not in rows.column_names:
        rows = rows.rename_column("messages", "prompt")
    _check_texts(rows, ["prompt"])
    for number, prompt in enumerate(rows["prompt"]):
        if not isinstance(prompt, str) and prompt[-1]["role"] == "assistant":
            raise DataError(
                f"row {number}: its messages end with the assistant's, so nothing is to be "
                "answered; cut that message off"
            )
    return rows


def validate_preference_dataset(dataset: Dataset) -> Dataset:
    """Rows with `prompt`, `chosen` and `rejected`.

    Without a prompt it is what chosen and rejected begin with together, and is cut off them; each
    keeps its last message at least, and strings are cut before white space. Pairs of two alike
    teach nothing and are left out, which is logged.

    Raises:
        DataError: a text is missing or empty, or two share no beginning.
    """
    pairs = _unlike(_checked_columns(dataset, [["chosen", "rejected"]], "pairs"))
    if "prompt" not in pairs.column_names:
        _check_texts(pairs, ["chosen", "rejected"])
        pairs = _map(pairs, _with_prompt)
    _check_texts(pairs, ["prompt", "chosen", "rejected"])
    return pairs


def validate_kto_dataset(dataset: Dataset) -> Dataset:
    """Rows with `prompt`, `completion` and `label`, which is true where the completion is good.

    Raises:
        DataError: one is missing, or a label is no boolean.
    """
    rows = _checked_columns(dataset, [["prompt", "completion", "label"]], "labelled completions")
    _check_texts(rows, ["prompt", "completion"])
    labels = rows["label"]
    for number, label in enumerate(labels):
        if not isinstance(label, bool):
            raise DataError(f"row {number}: label={label!r} must be true or false")
    if len(set(labels)) < 2:
        _LOG.warning("all labels are %s; KTO compares good with bad completions", labels[0])
    return rows


def validate_reward_model_dataset(dataset: Dataset) -> Dataset:
    """Rows with `chosen` and `rejected`, whole or after a `prompt`; pairs of two alike go.

    Raises:
        DataError: one is missing or empty.
    """
    pairs = _unlike(_checked_columns(dataset, [["chosen", "rejected"]], "pairs"))
    has_prompt = "prompt" in pairs.column_names
    _check_texts(pairs, ["prompt", "chosen", "rejected"] if has_prompt else ["chosen", "rejected"])
    return pairs


def _some(items: Iterable[Any]) -> Iterator[Any]:
    is_empty = True
    for item in items:
        is_empty = False
        yield item
    if is_empty:
        raise DataError("the list of rows is empty; give some")


def _row(number: int, item: Any) -> Row:
    if isinstance(item, Mapping):
        return dict(item)
    if isinstance(item, str) or (isinstance(item, Sequence) and item):
        return {"prompt": item}
    raise DataError(f"row {number}: {item!r} is no row; give a string, messages, or a dict")


def _checked_columns(dataset: object, either: Sequence[Sequence[str]], what: str) -> Dataset:
    """A dataset that has rows, and all columns of one of the lists."""
    from datasets import Dataset

    if not isinstance(dataset, Dataset):
        raise DataError(
            f"the dataset of {what} is a {type(dataset).__name__}; make one with "
            "drl.compat.textrl.data.from_list, from_jsonl or from_hub"
        )
    if not any(set(columns) <= set(dataset.column_names) for columns in either):
        wanted = " or ".join(", ".join(columns) for columns in either)
        raise DataError(
            f"the dataset of {what} has the columns {', '.join(dataset.column_names)}; it needs "
            f"{wanted}; rename them with rename_column"
        )
    if not len(dataset):
        raise DataError(f"the dataset of {what} has no rows; see what chose them")
    return dataset


def _check_texts(dataset: Dataset, columns: Sequence[str]) -> None:
    """Strings or chats that are not empty, all of one kind."""
    kinds: set[str] = set()
    for column in columns:
        for number, text in enumerate(dataset[column]):
            kinds.add(_kind(text, f"row {number}: {column}"))
    if len(kinds) > 1:
        raise DataError(
            f"{', '.join(columns)} are partly strings and partly messages; make them all one"
        )


def _kind(text: Any, where: str) -> str:
    if not text:
        raise DataError(f"{where} is empty; leave the row out")
    if isinstance(text, str):
        return "string"
    if isinstance(text, Sequence) and all(
        isinstance(message, Mapping) and "role" in message and "content" in message
        for message in text
    ):
        return "messages"
    raise DataError(f"{where} is neither a string nor messages with role and content")


def _unlike(pairs: Dataset) -> Dataset:
    """Without pairs whose sides are equal."""
    kept = [
        number
        for number, (chosen, rejected) in enumerate(
            zip(pairs["chosen"], pairs["rejected"], strict=True)
        )
        if chosen != rejected
    ]
    if len(kept) == len(pairs):
        return pairs
    _LOG.warning(
        "%d pairs of %d have equal sides and are left out", len(pairs) - len(kept), len(pairs)
    )
    if not kept:
        raise DataError("chosen and rejected are equal in every row; see how they were made")
    return pairs.select(kept)


def _map(dataset: Dataset, change: Callable[[int, Row], Row]) -> Dataset:
    """A dataset of the changed rows."""
    from datasets import Dataset

    return Dataset.from_list([change(number, dict(row)) for number, row in enumerate(dataset)])


def _with_prompt(number: int, row: Row) -> Row:
    chosen, rejected = row["chosen"], row["rejected"]
    length = _shared(chosen, rejected)
    if not length:
        raise DataError(
            f"row {number}: chosen and rejected share no beginning, so there is no prompt; add "
            "the column prompt"
        )
    sides = {"chosen": chosen[length:], "rejected": rejected[length:]}
    return {**row, "prompt": chosen[:length], **sides}


def _shared(some: Text, others: Text) -> int:
    """The length of the beginning that two texts share and can both do without."""
    longest = min(len(some), len(others)) - 1
    pairs = zip(some[:longest], others[:longest], strict=True)
    length = next((at for at, (a, b) in enumerate(pairs) if a != b), longest)
    if isinstance(some, str):
        while length and not (some[length].isspace() and others[length] == some[length]):
            length -= 1
    return length
