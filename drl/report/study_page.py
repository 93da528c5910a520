"""The form of a study: one HTML file that raters open anywhere and that sends nothing."""

from __future__ import annotations

import re
from collections.abc import Mapping
from importlib import resources
from pathlib import Path

from drl.report.page import content_policy, island, write_page
from drl.types import JSON

_SLOT = re.compile(r"<!--slot:(\w+)-->")


def write_study_form(path: Path, study: Mapping[str, JSON]) -> None:
    """Write the form of `drl.evaluation.study.blind`'s page.

    Raises:
        RunError: the file cannot be written.
    """
    style = _read("form.css")
    script = f'(() => {{\n"use strict";\n{_read("order.js")}{_read("form.js")}}})();\n'
    texts = {
        "policy": content_policy(style, script),
        "style": style,
        "study": island(study).decode(),
        "script": script,
    }
    page = _SLOT.sub(lambda slot: texts[slot.group(1)], _read("form.html"))
    write_page(path, [page.encode()], "form")


def _read(name: str) -> str:
    return (resources.files("drl.report") / "study_form" / name).read_text(encoding="utf-8")
