"""How far work is, where nobody sees a bar."""

from drl.runtime.progress import ProgressLines, progress_bar


def test_lines_come_every_half_minute_and_none_of_work_that_is_soon_over():
    told: list[str] = []
    seconds = iter([0.0, 10.0, 40.0, 60.0, 70.0])  # the first is when it begins
    lines = ProgressLines(told.append, lambda: next(seconds))
    for done in range(1, 5):
        lines.tell(f"x: updates: {done} of 9")
    assert told == ["x: updates: 2 of 9 after 0:00:40", "x: updates: 4 of 9 after 0:01:10"]


def test_work_that_is_soon_over_is_quiet(capsys):
    with progress_bar("x: updates", total=1) as bar:
        bar.reach(1, 2)
        bar.advance()
    assert capsys.readouterr().err == ""
