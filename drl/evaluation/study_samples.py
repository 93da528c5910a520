"""What several systems said in the same place, for people to judge: a JSON object a line.

{"id": "...", "conversation": "...", "context": [{"role": "user", "content": "..."}, ...],
 "candidates": {"base": "...", "trained": "..."}}

Samples of one conversation tell less than as many of several; without a conversation each is one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from drl.errors import DataError
from drl.runtime.run_file import replace_file

PAIRED_SAMPLES = Path("data") / "paired_samples.jsonl"
"""Where a run keeps them, below its folder."""


class Message(BaseModel):
    """One turn of the conversation so far."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    role: str
    content: str


class PairedSample(BaseModel):
    """A place in a conversation and what each candidate answered there, by the candidate's name.

    `conversation` names what it shares with others; None: nothing.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str = Field(min_length=1)
    conversation: str | None = Field(default=None, min_length=1)
    context: tuple[Message, ...]
    candidates: Mapping[str, str] = Field(min_length=2)


class _Place(NamedTuple):
    line: int
    names: Sequence[str]


def write_samples(path: Path, samples: Sequence[PairedSample]) -> None:
    """Write samples so that `read_samples` reads them."""
    lines = [sample.model_dump_json(exclude_none=True) for sample in samples]
    replace_file(path, "".join(f"{line}\n" for line in lines).encode())


def read_samples(source: Path) -> list[PairedSample]:
    """The samples of a file, or of the run in a folder.

    Raises:
        DataError: there are none, a line is no sample, an id comes twice, or candidates differ.
    """
    path = source / PAIRED_SAMPLES if source.is_dir() else source
    if not path.is_file():
        raise DataError(f"{path}: is no file; give paired samples, or a run that has them")
    samples: list[PairedSample] = []
    seen: set[str] = set()
    first: _Place | None = None
    for number, line in enumerate(path.read_bytes().splitlines(), start=1):
        if not line.strip():
            continue
        sample = _sample(path, number, line)
        names = sorted(sample.candidates)
        first = first or _Place(number, names)
        if sample.id in seen:
            raise DataError(f"{path} line {number}: id {sample.id!r} was there before; drop one")
        if names != first.names:
            raise DataError(
                f"{path} line {number}: has the candidates {', '.join(names)}, line {first.line} "
                f"has {', '.join(first.names)}; all lines must have the same"
            )
        seen.add(sample.id)
        samples.append(sample)
    if not samples:
        raise DataError(f"{path}: holds no samples; write a JSON object a line")
    return samples


def _sample(path: Path, number: int, line: bytes) -> PairedSample:
    try:
        return PairedSample.model_validate_json(line)
    except ValidationError as error:
        fault = error.errors()[0]
        where = ".".join(map(str, fault["loc"]))
        raise DataError(
            f"{path} line {number}: {where or 'the line'}: {fault['msg']}; a line is "
            '{"id": ..., "conversation": ..., "context": [{"role": ..., "content": ...}], '
            '"candidates": {NAME: TEXT}}'
        ) from error
