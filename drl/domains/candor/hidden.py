"""The hidden rewards of generated conversations: what evaluation compares with.

Nothing that trains may import this module, or open the file.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping
from pathlib import Path

from drl.domains.candor.files import HIDDEN_REWARDS
from drl.errors import DataError


def read_hidden(root: Path) -> Mapping[tuple[str, int], float]:
    """The hidden reward of each turn, by conversation and turn number; empty where none are kept.

    A turn that was merged of several rows has the number of its first row.

    Raises:
        DataError: the file is there and cannot be read.
    """
    path = root / HIDDEN_REWARDS
    if not path.is_file():
        return {}
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            return {
                (row["conversation_id"], int(row["turn_id"])): float(row["reward"])
                for row in csv.DictReader(file)
            }
    except (OSError, ValueError, KeyError, TypeError, csv.Error) as error:
        raise DataError(
            f"{path}: is no table of conversation_id, turn_id and reward ({error!r}); generate the "
            "data anew, or remove the file"
        ) from error
