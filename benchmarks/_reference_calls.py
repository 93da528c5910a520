"""Runs in josh-train's environment: times its call handler on the calls that stdin lists."""

import json
import math
import sys
import time
from types import SimpleNamespace

from josh_train import utils  # pyright: ignore[reportMissingImports]


def main() -> None:
    """Print one JSON list: for each call what it returned and the seconds of every repeat."""
    given = json.load(sys.stdin)
    tables = utils.create_dbs()
    answers = []
    for call in given["calls"]:
        state = SimpleNamespace(apis=call["goals"], dbs=tables, add_api_call=lambda *_: None)
        returned, seconds = None, []
        for _ in range(given["repeats"]):
            start = time.perf_counter()
            returned = utils.handle_api_calls(call["name"], call["arguments"], state)
            seconds.append(time.perf_counter() - start)
        answers.append({"returned": plain(returned), "seconds": seconds})
    print(json.dumps(answers))


def plain(value: object) -> object:
    """The value with null for NaN."""
    if isinstance(value, dict):
        return {name: plain(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [plain(inner) for inner in value]
    return None if isinstance(value, float) and math.isnan(value) else value


if __name__ == "__main__":
    main()
