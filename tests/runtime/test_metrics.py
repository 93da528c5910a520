import json
from math import inf, isnan, nan

from drl.runtime.lines import LineFile
from drl.runtime.metrics import METRICS, add_metrics, keep_metrics, read_metrics


def strict(line: str) -> dict[str, float | None]:
    """A line as a reader takes it that knows JSON and no more."""

    def refuse(name: str) -> float:
        raise AssertionError(f"{name} is no JSON")

    return json.loads(line, parse_constant=refuse)


def test_what_is_no_number_is_null_in_the_file_and_nan_to_whoever_reads_it(tmp_path):
    metrics = tmp_path / METRICS
    with LineFile(metrics) as lines:
        add_metrics(lines, 1, {"score": 0.5, "val/explained_variance": nan, "norm": inf})
        add_metrics(lines, 2, {"score": nan})
    first, second = map(strict, metrics.read_text().splitlines())
    assert first == {"update": 1, "score": 0.5, "val/explained_variance": None, "norm": None}
    assert second == {"update": 2, "score": None}
    read = read_metrics(metrics)
    assert (read[0]["update"], read[0]["score"]) == (1, 0.5)
    assert isnan(read[0]["val/explained_variance"])
    assert isnan(read[1]["score"])


def test_lines_of_later_updates_are_dropped_and_the_others_stay_as_they_are(tmp_path):
    metrics = tmp_path / METRICS
    with LineFile(metrics) as lines:
        for update in (1, 2, 3):
            add_metrics(lines, update, {"score": nan})
    kept = metrics.read_bytes().splitlines(keepends=True)[:2]
    keep_metrics(metrics, 2)
    assert metrics.read_bytes() == b"".join(kept)
