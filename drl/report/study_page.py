"""The form of a study: one HTML file that raters open anywhere and that sends nothing."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from drl.report.page import (
    content_policy,
    filled,
    island,
    joined_script,
    read_part,
    write_page,
)
from drl.types import JSON

_FOLDER = "study_form"


def write_study_form(path: Path, study: Mapping[str, JSON]) -> None:
    """Write the form of `drl.evaluation.study.blind`'s page.

    Raises:
        RunError: the file cannot be written.
    """
    style = read_part(_FOLDER, "form.css")
    script = joined_script(_FOLDER, ("order.js", "form.js"))
    texts = {
        "policy": content_policy(style, script),
        "style": style,
        "study": island(study).decode(),
        "script": script,
    }
    page = filled(read_part(_FOLDER, "form.html"), texts)
    write_page(path, [page.encode()], "form")
