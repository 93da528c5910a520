"""Result files of tau-bench: a JSON list with an object for each try at a task.

    {"task_id": 3, "reward": 1.0, "info": {...}, "traj": [messages], "trial": 0}

`traj` is what the agent's model saw and wrote. A try that broke has an error in `info` and no
dialogue; a search of josh-train has `traj` [{}] and `training_examples` in `info`.
Source: tau-bench `types.py`, `EnvRunResult`; the file names are those of its `run.py`, and of the
older one in josh-train, which knows customers of one kind only and puts no dash before their model.
"""

import json
import re
from codecs import BOM_UTF8
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pydantic import FiniteFloat, TypeAdapter, ValidationError

from drl.errors import DataError
from drl.types import JSON

_NAME: Final = re.compile(
    r"(?P<agent>tool-calling|act|react|few-shot)-(?P<model>.+)-(?P<temperature>\d+(?:\.\d+)?)"
    r"_range_-?\d+-{1,2}\d+_user"
    r"(?:-(?P<user_model>.+)-(?P<user>llm|react|verify|reflection)|(?P<old_user_model>[^-].*))"
    r"_\d{8,14}"
)


@dataclass(frozen=True, slots=True)
class _Row:
    """A result as it is written; more keys do no harm."""

    task_id: int
    reward: FiniteFloat
    info: dict[str, JSON]
    traj: list[dict[str, JSON]]
    trial: int


_ROWS = TypeAdapter(list[_Row])


@dataclass(frozen=True, slots=True)
class Result:
    """One try at a task. `messages` are empty where there is no dialogue."""

    task_index: int
    trial: int
    reward: float
    info: Mapping[str, JSON]
    messages: tuple[Mapping[str, JSON], ...]

    @property
    def lack(self) -> str | None:
        """Why there is no dialogue; None if there is one."""
        if self.messages:
            return None
        if "training_examples" in self.info:
            return "it is of a search, whose result file holds no dialogue"
        return str(self.info.get("error", "the result file holds no dialogue"))

    def to_json(self) -> dict[str, JSON]:
        """The object that stands in the file."""
        return {
            "task_id": self.task_index,
            "reward": self.reward,
            "info": self.info,
            "traj": self.messages or ([{}] if "training_examples" in self.info else []),
            "trial": self.trial,
        }


@dataclass(frozen=True, slots=True)
class Origin:
    """What the name of a result file tells of who played."""

    agent: str
    model: str
    temperature: float
    user_model: str
    user: str


def origin_of(file: Path) -> Origin | None:
    """Who played, by the name of a file; None where it is not named as tau-bench does it."""
    found = _NAME.fullmatch(file.stem)
    if found is None:
        return None
    agent, model, temperature, user_model, user, old_user_model = found.groups()
    return Origin(agent, model, float(temperature), user_model or old_user_model, user or "llm")


def read_results(file: Path) -> list[Result]:
    """The results in a file, in its order.

    Raises:
        DataError: it cannot be read, is no such file, is empty, or holds a try twice.
    """
    try:
        rows = _ROWS.validate_json(file.read_bytes().removeprefix(BOM_UTF8))
    except OSError as error:
        raise DataError(f"{file}: cannot be read ({error.strerror}); name a result file") from error
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"])) or "file"
        raise DataError(
            f"{file}: not a result file of tau-bench ({where}: {first['msg']}); name the JSON list "
            "that its run.py wrote, or drl export --format tau"
        ) from error
    if not rows:
        raise DataError(f"{file}: holds no results; name a file that does")
    results = list(map(_result, rows))
    seen: set[tuple[int, int]] = set()
    for number, result in enumerate(results):
        key = (result.task_index, result.trial)
        if key in seen:
            raise DataError(
                f"{file}: result {number} is of task {key[0]}, trial {key[1]}, which stands before "
                "it already; give each try a trial number of its own"
            )
        seen.add(key)
    return results


def lines_of(results: Iterable[Result]) -> Iterable[str]:
    """The text of a result file, piece by piece."""
    before = "[\n"
    for result in results:
        yield before + json.dumps(result.to_json(), ensure_ascii=False)
        before = ",\n"
    yield "[]\n" if before == "[\n" else "\n]\n"


def _result(row: _Row) -> Result:
    messages = tuple(message for message in row.traj if message)
    return Result(row.task_id, row.trial, row.reward, row.info, messages)
