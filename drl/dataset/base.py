"""A dataset: the tasks of one split, in a fixed order.

To add one, write `drl/dataset/<name>.py` with a final `Dataset` and `conf/dataset/<name>.yaml`;
`tests/contracts/test_dataset.py` then tests it without further work.
A setting without a default (`???`) gets one for tests in `tests/required.py`.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence

from drl.environment.base import Environment
from drl.types import Task


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


def data_version(dataset: Dataset, environment: Environment) -> str:
    """As results name it: the version of the tasks, and of the tools where users brought them."""
    return ", ".join(version for version in (dataset.version, environment.version) if version)
