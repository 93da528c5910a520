from contextlib import suppress

import pytest

from drl.runtime.drafts import drafted_file, drafted_folder, is_there


@pytest.mark.parametrize("is_shared", [True, False])
def test_a_file_is_the_old_one_until_the_new_one_is_whole(tmp_path, is_shared):
    path = tmp_path / "numbers"
    path.write_text("old")
    with suppress(KeyboardInterrupt), drafted_file(path, is_shared=is_shared) as draft:
        draft.write_text("ne")
        raise KeyboardInterrupt
    assert path.read_text() == "old"
    with drafted_file(path, is_shared=is_shared) as draft:
        draft.write_text("new")
        assert path.read_text() == "old"
    assert path.read_text() == "new"
    assert list(tmp_path.iterdir()) == [path]


def test_a_folder_is_the_old_one_until_the_new_one_is_whole(tmp_path):
    folder = tmp_path / "deep" / "state"
    with drafted_folder(folder) as draft:
        (draft / "one").write_text("1")
    with suppress(KeyboardInterrupt), drafted_folder(folder) as draft:
        (draft / "two").write_text("2")
        raise KeyboardInterrupt
    assert [each.name for each in folder.iterdir()] == ["one"]
    with drafted_folder(folder) as draft:
        (draft / "two").write_text("2")
    assert [each.name for each in folder.iterdir()] == ["two"]
    assert list(folder.parent.iterdir()) == [folder]


def test_what_killed_writers_left_is_found_or_cleared_away(tmp_path):
    folder = tmp_path / "state"
    for left in ("state.draft", "state.before"):
        (tmp_path / left).mkdir()
        (tmp_path / left / "old").touch()
    assert is_there(folder)  # killed before the new one was at its place
    assert [each.name for each in folder.iterdir()] == ["old"]
    with drafted_folder(folder) as draft:
        (draft / "new").touch()
    assert [each.name for each in folder.iterdir()] == ["new"]
    assert list(tmp_path.iterdir()) == [folder]


def test_nothing_is_there_where_nothing_was_written(tmp_path):
    assert not is_there(tmp_path / "state")
