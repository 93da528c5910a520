"""Where the data is, and how databases are hashed."""

import hashlib
import json
import os
from pathlib import Path

SOURCE = Path(__file__).parents[3] / "data"
DATA_DIR = Path(os.environ["TAU2_DATA_DIR"]) if "TAU2_DATA_DIR" in os.environ else SOURCE


def hash_of(values: dict) -> str:
    return hashlib.sha256(json.dumps(values, sort_keys=True, default=str).encode()).hexdigest()


def read(domain: str, name: str) -> str:
    return (DATA_DIR / "tau2" / "domains" / domain / name).read_text("utf-8")
