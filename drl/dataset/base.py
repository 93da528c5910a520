"""A dataset: the tasks of one split, in a fixed order; or recorded sessions, of all splits.

To add one, write `drl/dataset/<name>.py` with a final `Dataset` and `conf/dataset/<name>.yaml`;
`tests/contracts/test_dataset.py` then tests it without further work.
A setting without a default (`???`) gets one for tests in `tests/required.py`.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path

from drl.environment.base import Environment
from drl.turn_reward.session import Session
from drl.types import JSON, Task


class Dataset(ABC):
    """Loads tasks; construction is cheap, `load` reads (and, the first time, downloads) them."""

    @property
    @abstractmethod
    def version(self) -> str:
        """The version of the data, as results name it. Versions never mix in one table."""

    @abstractmethod
    def load(self) -> Sequence[Task]:
        """The chosen tasks.

        Raises:
            DataError: the data is missing and cannot be fetched, or is corrupt.
            ConfigError: a chosen id does not exist, or the choice is empty.
        """


class SessionDataset(Dataset):
    """Recorded conversations with what their listeners thought of them, to learn turn rewards from.

    Its tasks are places in them where an agent speaks next.
    """

    target: str
    """The question that listeners answered, as it is called in the data."""

    @property
    @abstractmethod
    def score_range(self) -> tuple[float, float]:
        """The lowest and the highest answer there is, in points."""

    @property
    @abstractmethod
    def is_synthetic(self) -> bool:
        """Whether the conversations were generated: results on them say nothing about people."""

    @property
    @abstractmethod
    def folder(self) -> Path:
        """Where the data lies; evaluation looks there for hidden rewards of generated data.

        Raises:
            DataError: it is to be generated, and cannot be.
        """

    @abstractmethod
    def sessions(self) -> Sequence[Session]:
        """All usable sessions of all splits (train, val, test), always in the same order.

        Raises:
            DataError: there is no data, or none that can be used.
            ConfigError: the settings leave nothing of it.
        """

    @abstractmethod
    def report(self) -> Mapping[str, JSON]:
        """What was used, skipped and mended, counted by reason, for summaries.

        Raises:
            DataError, ConfigError: as `sessions`.
        """


def data_version(dataset: Dataset, environment: Environment) -> str:
    """As results name it: the version of the tasks, and of the tools where users brought them."""
    return ", ".join(version for version in (dataset.version, environment.version) if version)
