"""The two forms of the data: tau-bench as it is today, and as the JOSH paper's code ran it.

They differ in what addresses of customers call the state, and in two retail tasks.
"""

from collections.abc import Mapping
from typing import Final, Literal, cast

from drl.errors import DataError
from drl.types import JSON

Form = Literal["tau1", "tau1_old"]
FORMS: Final[tuple[Form, ...]] = ("tau1", "tau1_old")

_OLD: Final = "province"
_NEW: Final = "state"

_WRONG_OUTPUTS: Final = {("retail", "test", 33): "1093.34"}
"""What tau-bench does not ask for any more. The same text in task 34 is still asked for."""

Published = Mapping[str, JSON]
"""A domain as `drl.domains.tau.source` gives it."""


def is_old(published: Published) -> bool:
    """Whether the source has the older form, from which both can be made."""
    tables = cast(Mapping[str, Mapping[str, Published]], published["tables"])
    return any(_OLD in _address(user) for user in tables["users"].values())


def in_form(domain: str, published: Published, form: Form) -> Published:
    """The domain in one of the forms; it shares with `published` what does not change.

    Raises:
        DataError: the older form is asked for, and the source does not have it.
    """
    if form == "tau1_old":
        if not is_old(published):
            raise DataError(
                "the tau-bench data that is there was made from a checkout, which has no form "
                "tau1_old; use dataset.data=tau1, or build it from the josh-train wheel in "
                "another folder (`drl data tau_bench --root FOLDER`)"
            )
        return published
    tables = cast(Mapping[str, Mapping[str, Published]], published["tables"])
    users = {key: _renamed_user(user) for key, user in tables["users"].items()}
    tasks = cast(Mapping[str, list[Published]], published["tasks"])
    mended = {
        split: [_mended(task, (domain, split, index)) for index, task in enumerate(listed)]
        for split, listed in tasks.items()
    }
    return {**published, "tables": {**tables, "users": users}, "tasks": mended}


def _address(user: Published) -> Published:
    return cast(Published, user["address"])


def _renamed_user(user: Published) -> Published:
    if _OLD not in _address(user):
        return user
    return {**user, "address": _renamed(_address(user))}


def _mended(task: Published, place: tuple[str, str, int]) -> Published:
    """A task with today's name of the parameter, and without an output that was a mistake."""
    actions = [
        {**action, "kwargs": _renamed(cast(Published, action["kwargs"]))}
        for action in cast(list[Published], task["actions"])
    ]
    wrong = _WRONG_OUTPUTS.get(place)
    outputs = [output for output in cast(list[str], task["outputs"]) if output != wrong]
    return {**task, "actions": actions, "outputs": outputs}


def _renamed(arguments: Published) -> Published:
    """The same in the same order, under today's name."""
    return {_NEW if name == _OLD else name: value for name, value in arguments.items()}
