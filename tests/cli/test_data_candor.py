"""`drl data candor_synthetic`: a folder of generated conversations, or one line of refusal."""

import json

import typer.testing

from drl.cli.main import app
from drl.domains.candor.files import folders
from drl.errors import DataError


def generate(*arguments: object) -> typer.testing.Result:
    """The command in this process."""
    command = ["data", "candor_synthetic", *map(str, arguments)]
    return typer.testing.CliRunner().invoke(app, command)


def test_it_writes_as_many_as_are_asked_for_and_only_once(tmp_path):
    root = tmp_path / "some" / "set"
    asked = ("--root", root, "--conversations", 4, "--seed", 3, "--signal", "no_faces")
    done = generate(*asked)
    assert done.exit_code == 0, done.exception
    assert done.stdout == f"4 generated conversations, 1 of them held out, are in {root}\n"
    assert len(folders(root)) == 4
    settings = json.loads((root / "manifest.json").read_text())["settings"]
    assert (settings["seed"], settings["signal"], settings["length"]) == (3, "no_faces", "short")
    assert generate(*asked).stdout.endswith(f"{root} (they were there already)\n")


def test_a_folder_of_other_settings_is_not_replaced(tmp_path):
    root = tmp_path / "set"
    assert generate("--root", root, "--conversations", 4).exit_code == 0
    error = generate("--root", root, "--conversations", 5).exception
    assert isinstance(error, DataError)
    assert "choose another folder, or delete this one" in str(error)
    assert len(folders(root)) == 4


def test_too_few_and_unknown_choices_are_refused(tmp_path):
    root = tmp_path / "set"
    assert "greater than or equal to 4" in generate("--root", root, "--conversations", 3).stderr
    assert "no_smiles" in generate("--root", root, "--signal", "no_smiles").stderr
    assert not root.exists()
