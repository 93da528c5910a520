"""The page of one's own tasks tells every field that a task may have."""

import re
from pathlib import Path

from drl.dataset._task_lines import GoalForm, TaskForm

PAGE = (Path(__file__).parents[2] / "examples/own_environment/README.md").read_text()


def test_every_field_of_a_task_and_of_a_goal_has_a_row():
    section = PAGE.partition("## The fields of a task")[2].partition("\n## ")[0]
    rows = [row for row in section.splitlines() if row.startswith("| `")]
    told = {name for row in rows for name in re.findall(r"`(\w+)`", row.split("|")[1])}
    assert told == TaskForm.model_fields.keys() | GoalForm.model_fields.keys()
