"""The world of ToolWOZ in memory: databases, tools, splits, and dialogues on demand."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Final, cast

from drl.domains.toolwoz import compact
from drl.domains.toolwoz.database import Row, Table
from drl.domains.toolwoz.desk import Desk
from drl.domains.toolwoz.goals import Definition, Derived, derive
from drl.domains.toolwoz.normalise import Rules, verbatim
from drl.domains.toolwoz.record import Record, from_compact
from drl.errors import DataError
from drl.types import JSON, Toolbox, ToolSpec

SPLITS: Final = ("train", "val", "test", "full_test", "training_fnames")

_CLOSED: Final = frozenset(
    {
        *("name", "area", "food", "pricerange", "type", "stars", "parking", "internet"),
        *("departure", "destination", "day"),
    }
)
"""Parameters whose values the databases list; times, numbers and train ids stay open."""


@dataclass(eq=False)
class Scene:
    """One dialogue in the world; what `Task.world` holds."""

    world: "World" = field(repr=False)
    record: Record
    derived: Derived
    _desks: dict[Rules, Desk] = field(default_factory=dict, repr=False)

    def desk(self, rules: Rules) -> Desk:
        """The desk that serves this dialogue; one object however often it is asked for."""
        if rules not in self._desks:
            world = self.world
            self._desks[rules] = Desk(self.derived, world.definitions, world.tables, rules)
        return self._desks[rules]


@dataclass(eq=False)
class World:
    """Everything but the dialogues is read; those are parsed one by one when asked for."""

    version: str
    tables: Mapping[str, Table]
    definitions: Mapping[str, Definition]
    toolbox: Toolbox
    splits: Mapping[str, tuple[str, ...]]
    _texts: Mapping[str, str] = field(repr=False)
    _scenes: dict[str, Scene] = field(default_factory=dict, repr=False)

    def scene(self, dialogue_id: str) -> Scene:
        """One dialogue.

        Raises:
            KeyError: there is none of this id.
            DataError: its record is corrupt.
        """
        scene = self._scenes.get(dialogue_id)
        if scene is None:
            text = self._texts[dialogue_id]
            try:
                record = from_compact(dialogue_id, json.loads(text))
            except (ValueError, KeyError, TypeError) as error:
                raise DataError(f"the stored dialogue {dialogue_id} is corrupt: {error}") from error
            derived = derive(record, self.definitions, self.tables)
            scene = self._scenes[dialogue_id] = Scene(self, record, derived)
        return scene


def load(root: Path) -> World:
    """The world stored under `root`; read once per process and state of the files.

    Raises:
        DataError: it is missing, corrupt or of another version; `drl data toolwoz` mends it.
    """
    folder = (root / compact.FOLDER).resolve()
    return _load(folder, compact.encode(compact.read_manifest(folder)))


def build(stored: compact.Compact) -> World:
    """The world of a compact form.

    Raises:
        KeyError, TypeError, AttributeError: it is not laid out as it should be.
    """
    tables = {
        domain: Table(domain, cast(list[Row], rows))
        for domain, rows in cast(Mapping[str, JSON], stored.world["tables"]).items()
    }
    definitions = dict(_definitions(stored.world["definitions"]))
    splits = {
        name: tuple(cast(list[str], ids))
        for name, ids in cast(Mapping[str, JSON], stored.world["splits"]).items()
    }
    toolbox = _toolbox(stored.world["tools"], tables)
    return World(stored.version, tables, definitions, toolbox, splits, stored.dialogues)


@lru_cache(maxsize=4)
def _load(folder: Path, manifest: str) -> World:
    del manifest  # only tells one state of the files from another
    try:
        return build(compact.read(folder))
    except (KeyError, TypeError, AttributeError) as error:
        raise DataError(
            f"{folder} is corrupt ({error!r}); run `drl data toolwoz` to build it anew"
        ) from error


def _definitions(published: JSON) -> Iterator[tuple[str, Definition]]:
    for tools in cast(Mapping[str, Mapping[str, JSON]], published).values():
        for name, published_tool in tools.items():
            tool = cast(Mapping[str, list[str]], published_tool)
            yield name, Definition(tuple(tool["parameters"]), tuple(tool["returns"]))


def _toolbox(published: JSON, tables: Mapping[str, Table]) -> Toolbox:
    specs: list[ToolSpec] = []
    values: dict[str, dict[str, tuple[str, ...]]] = {}
    for entry in cast(list[Mapping[str, JSON]], published):
        function = cast(Mapping[str, JSON], entry["function"])
        name = str(function["name"])
        parameters = cast(Mapping[str, JSON], function["parameters"])
        specs.append(ToolSpec(name, str(function["description"]), parameters))
        properties = cast(Mapping[str, JSON], parameters["properties"])
        table = tables[name.partition("_")[2]]
        values[name] = {
            parameter: tuple(table.column(parameter, verbatim).texts())
            for parameter in properties
            if parameter in _CLOSED and parameter in table.rows[0]
        }
    return Toolbox(tuple(specs), values)
