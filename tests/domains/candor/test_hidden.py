"""Hidden rewards of generated conversations: read by evaluation, and by nothing else."""

import ast
from pathlib import Path

import pytest

from drl.domains.candor.hidden import read_hidden
from drl.errors import DataError

PACKAGE = Path(__file__).parents[3] / "drl"


def test_hidden_rewards_are_read_by_conversation_and_turn(tmp_path):
    assert read_hidden(tmp_path) == {}
    text = "conversation_id,turn_id,reward\none,0,0.5\none,3,-1\n"
    (tmp_path / "hidden_rewards.csv").write_text(text)
    assert read_hidden(tmp_path) == {("one", 0): 0.5, ("one", 3): -1.0}


@pytest.mark.parametrize("text", ["id,reward\none,1\n", "conversation_id,turn_id,reward\na,b,c\n"])
def test_a_damaged_file_is_refused(tmp_path, text):
    (tmp_path / "hidden_rewards.csv").write_text(text)
    with pytest.raises(DataError, match="is no table of conversation_id, turn_id and reward"):
        read_hidden(tmp_path)


def test_nothing_but_evaluation_can_read_them():
    importers = {
        path.relative_to(PACKAGE).parts[0]
        for path in PACKAGE.rglob("*.py")
        if "drl.domains.candor.hidden" in imported(path)
    }
    assert importers == {"evaluation"}


def imported(path):
    """All that a file imports, by full name; of `from a import b` both a and a.b."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (each.name for each in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield str(node.module)
            yield from (f"{node.module}.{each.name}" for each in node.names)
