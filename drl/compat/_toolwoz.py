"""josh-train's way to build ToolWOZ dialogues, for programs with a loop of their own.

`args` is a namespace with josh-train's command line options. Only what decides something here is
read: `task_split`, `josh`, `agent_strategy`, `temperature` and `user_mode`; `seed` (10) and
`data_dir` ("data") may be left out. No model is needed yet, so only rule participants are known.
"""

from argparse import Namespace
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from drl.compat._toolwoz_conversation import (
    ApiIndex,
)
from drl.domains.toolwoz import fetch, world
from drl.environment import toolwoz
from drl.user_simulator.agenda import AgendaUserSimulator
from drl.user_simulator.base import UserSimulator
from drl.user_simulator.script import ScriptUserSimulator

_TOOL_CALLS: Final = 3
"""Per turn, as josh-train's agents may make."""

_USERS: Final[Mapping[str, Callable[[], UserSimulator]]] = {
    "agenda": lambda: AgendaUserSimulator(first_wish="tentative", phrasing="train", patience=3),
    "script": ScriptUserSimulator,
}


class ToolWOZEnvironment:
    """The data of ToolWOZ and the dialogues of one split; fetched the first time.

    Raises:
        ConfigError: there is no such split.
        DataError: the data cannot be fetched or read.
    """

    def __init__(self, args: Namespace) -> None:
        self._data_dir = Path(str(_setting(args, "data_dir", "data")))
        splits = {"train", "val", "test", "full_test"}
        split = _chosen(args, "task_split", splits)
        fetch.fetch(self._data_dir)
        self._world = world.load(self._data_dir)
        self._tools = toolwoz.ToolWOZEnvironment(mode="faithful")
        self.train_ids, self.val_ids, self.test_ids, self.test_ids_full = (
            list(self._world.splits[name]) for name in ("train", "val", "test", "full_test")
        )
        self.set_to_run = list(self._world.splits[split])
        self.apis = ApiIndex(self._world)
        self.model = None
        self.tokenizer = None
