"""The stored data as worlds: one domain in one form, with the scenes of each split."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Final, cast

from drl.domains.tau import compact
from drl.domains.tau.forms import FORMS, Form, in_form, is_old
from drl.domains.tau.gold import Action, Gold
from drl.domains.tau.tables import Database, Tables
from drl.domains.tau.tools import Domain, tools_of
from drl.domains.tau.world import Scene, World
from drl.errors import DataError
from drl.types import JSON, Toolbox, ToolSpec

DOMAINS: Final[tuple[Domain, ...]] = ("retail", "airline")


@dataclass(frozen=True, eq=False)
class Stored:
    """One domain in one form: its world, and its tasks by split in the published order."""

    world: World
    splits: Mapping[str, tuple[Scene, ...]] = field(repr=False)


def load(root: Path, domain: Domain, form: Form) -> Stored:
    """A domain of the data under `root`; read once per process and state of the files.

    Raises:
        DataError: it is missing, corrupt or of another version, which `drl data tau_bench` mends;
            or its source does not have the form.
    """
    folder = (root / compact.FOLDER).resolve()
    return _load(folder, json.dumps(compact.read_manifest(folder)), domain, form)


def version(root: Path, form: Form) -> str:
    """How results name the data under `root`.

    Raises:
        DataError: as `load`.
    """
    return compact.version(compact.read_manifest(root / compact.FOLDER), form)


def build(published: Mapping[str, JSON], domain: Domain, form: Form, version: str) -> Stored:
    """A domain as `drl.domains.tau.source` gives it; with `gold`, if that is known already.

    Raises:
        DataError: its source does not have the form.
        KeyError, TypeError, AttributeError: it is not laid out as it should be.
    """
    shaped = in_form(domain, published, form)
    specs = tuple(_spec(entry) for entry in cast(list[Mapping[str, JSON]], shaped["tools"]))
    toolbox = Toolbox(specs, policy=str(shaped["policy"]))
    world = World(domain, version, Tables.of(cast(Database, shaped["tables"])), toolbox)
    tasks = cast(Mapping[str, list[Mapping[str, JSON]]], shaped["tasks"])
    known = cast(Mapping[str, Mapping[str, list[JSON]]], published.get("gold", {}))
    trained = {str(task["user_id"]) for task in tasks.get("train", ())}
    splits: dict[str, tuple[Scene, ...]] = {}
    for split, listed in tasks.items():
        scenes = tuple(_scene(world, n, task, trained) for n, task in enumerate(listed))
        if known:
            for scene, labels in zip(scenes, known[form][split], strict=True):
                scene.golds["faithful"] = _gold(labels)
        splits[split] = scenes
    return Stored(world, splits)


def labels(published: Mapping[str, JSON], domain: Domain) -> Mapping[str, JSON]:
    """The replays of all gold actions, by form and split, to be kept beside the data.

    Raises:
        KeyError, TypeError, AttributeError: as `build`.
    """
    forms: list[Form] = [form for form in FORMS if form == "tau1" or is_old(published)]
    return {
        form: {
            split: [_kept(scene.gold("faithful")) for scene in scenes]
            for split, scenes in build(published, domain, form, "").splits.items()
        }
        for form in forms
    }


def is_write(domain: Domain, action: Action) -> bool:
    """Whether the action ought to change the database; what is no tool counts, for it cannot."""
    tool = tools_of(domain, "faithful").get(action.name)
    return tool is None or tool.writes


def is_faulty(scene: Scene) -> bool:
    """Whether a gold action that ought to change the database is refused, so the label is wrong."""
    refused = (scene.actions[n] for n in scene.gold("faithful").failed)
    return any(is_write(scene.world.domain, action) for action in refused)


@lru_cache(maxsize=4)
def _load(folder: Path, manifest: str, domain: Domain, form: Form) -> Stored:
    known = json.loads(manifest)
    try:
        published = compact.read(folder, domain, known)
        return build(published, domain, form, compact.version(known, form))
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise DataError(f"{folder} is corrupt ({error!r}); {compact.REMEDY}") from error


def _spec(entry: Mapping[str, JSON]) -> ToolSpec:
    function = cast(Mapping[str, JSON], entry["function"])
    parameters = cast(Mapping[str, JSON], function["parameters"])
    return ToolSpec(str(function["name"]), str(function["description"]), parameters)


def _scene(world: World, index: int, task: Mapping[str, JSON], trained: set[str]) -> Scene:
    actions = tuple(
        Action(str(action["name"]), cast(Mapping[str, JSON], action["kwargs"]))
        for action in cast(list[Mapping[str, JSON]], task["actions"])
    )
    user = str(task["user_id"])
    outputs = tuple(cast(list[str], task["outputs"]))
    return Scene(
        world, index, user, str(task["instruction"]), actions, outputs, is_seen=user in trained
    )


def _kept(gold: Gold) -> Mapping[str, JSON]:
    return {"digest": gold.digest, "is_changed": gold.is_changed, "failed": list(gold.failed)}


def _gold(labels: JSON) -> Gold:
    kept = cast(Mapping[str, JSON], labels)
    failed = tuple(cast(list[int], kept["failed"]))
    return Gold(str(kept["digest"]), bool(kept["is_changed"]), failed)
