"""Where tau-bench is read from: the josh-train wheel, its folder, or a checkout of tau-bench."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from drl.domains.josh_train import Files, check_wheel, open_zip, remedy
from drl.domains.tau import ast_tasks
from drl.errors import DataError
from drl.types import JSON

REMEDY: Final = remedy("drl data tau_bench")

TABLES: Final[Mapping[str, Sequence[str]]] = {
    "retail": ("orders", "products", "users"),
    "airline": ("flights", "reservations", "users"),
}
"""The tables of each domain's database."""

SPLITS: Final[Mapping[str, Sequence[str]]] = {
    "retail": ("test", "train", "dev"),
    "airline": ("test",),
}
"""The splits of each domain's tasks."""

_WHEEL_PLACE: Final = "tau-bench-eval"
_PACKAGE: Final = "tau_bench"
_FOLDER: Final = f"a folder must hold {_PACKAGE}/ as tau-bench or josh-train 0.1.4 has it; {REMEDY}"


class Source:
    """The published files of tau-bench; close it after use.

    Raises:
        DataError: no tau-bench lies at `path`, or a wheel is not the published one.
    """

    def __init__(self, path: Path) -> None:
        self.path: Final = path
        if path.is_dir():
            self._files, self._place = _folder(path)
        elif path.is_file():
            packed = open_zip(path, REMEDY)
            try:
                check_wheel(path, REMEDY)
            except DataError:
                packed.close()
                raise
            self._files, self._place = Files(path, REMEDY, packed), f"{_WHEEL_PLACE}/"
        else:
            raise DataError(f"{path} does not exist; {REMEDY}")

    def close(self) -> None:
        """Let go of the wheel."""
        self._files.close()

    def domain(self, name: str) -> Mapping[str, JSON]:
        """All that is published of a domain, as JSON.

        `tables` (records by key, by table), `policy`, `tools` (OpenAI's function format, in the
        published order) and `tasks` (by split).

        Raises:
            DataError: something is missing, corrupt, or laid out otherwise.
        """
        try:
            return self._domain(name, f"{self._place}{_PACKAGE}/envs/{name}")
        except ast_tasks.UnreadableError as error:
            raise DataError(f"{error}; {_FOLDER}") from error

    def demonstrations(self) -> Mapping[str, bytes]:
        """The files of dialogues that few-shot agents are shown; none where there are none.

        Raises:
            DataError: one cannot be read.
        """
        names = self._files.names(f"{self._place}few_shot_data")
        return {
            Path(name).name: self._files.read(name) for name in names if name.endswith(".jsonl")
        }

    def _domain(self, name: str, folder: str) -> Mapping[str, JSON]:
        tables = {table: self._table(f"{folder}/data/{table}.json") for table in TABLES[name]}
        tools = f"{folder}/tools"
        order = ast_tasks.tool_files(*self._module(f"{tools}/__init__.py"))
        return {
            "tables": tables,
            "policy": self._text(f"{folder}/wiki.md"),
            "tools": [ast_tasks.tool_info(*self._module(f"{tools}/{tool}.py")) for tool in order],
            "tasks": {
                split: ast_tasks.tasks(*self._module(f"{folder}/tasks_{split}.py"))
                for split in SPLITS[name]
            },
        }

    def _table(self, name: str) -> JSON:
        table = self._files.json(name)
        if not isinstance(table, Mapping) or not all(
            isinstance(record, Mapping) for record in table.values()
        ):
            raise DataError(f"{name} in {self.path} is no table of records by key; {REMEDY}")
        return table

    def _module(self, name: str) -> tuple[str, str]:
        return self._text(name), f"{name} of {self.path}"

    def _text(self, name: str) -> str:
        try:
            return self._files.read(name).decode()
        except UnicodeDecodeError as error:
            raise DataError(f"{name} in {self.path} is no text ({error}); {REMEDY}") from error


def _folder(path: Path) -> tuple[Files, str]:
    """The files of a folder, and where in it the package lies."""
    if path.name == _PACKAGE and (path / "envs").is_dir():
        return Files(path.parent, _FOLDER, None), ""
    for place in ("", f"{_WHEEL_PLACE}/"):
        if (path / place / _PACKAGE / "envs").is_dir():
            return Files(path, _FOLDER, None), place
    raise DataError(f"{path} holds no tau-bench; {_FOLDER}")
