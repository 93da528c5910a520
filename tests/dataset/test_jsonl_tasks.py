"""Which tasks a JSONL file gives, and what is said about a file that is not as it should be."""

import json
import re
from pathlib import Path

import pytest

from drl.dataset.jsonl_tasks import JsonlTasksDataset
from drl.domains.own.world import OwnWorld
from drl.errors import ConfigError, DataError
from drl.types import Goal, Wish

TASK = {"id": "one", "instructions": ["Ask for tea."], "goals": [{"name": "tea", "arguments": {}}]}


@pytest.fixture
def write(tmp_path):
    """Writes tasks (or raw lines) into a file and gives the data set over it."""

    def build(*lines: object, **settings: object) -> JsonlTasksDataset:
        path = tmp_path / "tasks.jsonl"
        texts = [line if isinstance(line, str) else json.dumps(line) for line in lines]
        path.write_bytes("\n".join(texts).encode())
        return over(path, **settings)

    return build


def over(path: Path, **settings: object) -> JsonlTasksDataset:
    chosen = {"ids": None, "limit": None, "split": "test", "shard": 0, "num_shards": 1}
    chosen |= {"shuffle": None, "start": 0}
    return JsonlTasksDataset(path=str(path), **chosen | settings)  # type: ignore[arg-type]


def named(*names: str, **changes: object) -> list[dict]:
    return [TASK | {"id": name} | changes for name in names]


def ids(dataset: JsonlTasksDataset) -> list[str]:
    return [task.id for task in dataset.load()]


def test_a_line_becomes_a_task_with_its_brief_goals_and_state(write):
    wish = {"domain": "tea", "constraints": {"kind": "mint"}, "requests": ["price"]}
    call = {"name": "tea", "arguments": {"cups": 2}, "domain": "kitchen"}
    extras = {"wishes": [wish], "human_turns": ["Tea?"], "state": {"cups": 3}}
    (task,) = write(TASK | {"goals": [call]} | extras).load()
    assert task.brief.instructions == ("Ask for tea.",)
    assert task.brief.human_turns == ("Tea?",)
    assert task.brief.wishes == (Wish("tea", {"kind": "mint"}, {}, {}, {}, ("price",)),)
    assert task.goals == (Goal("tea", "kitchen", {"cups": 2}),)
    assert isinstance(task.world, OwnWorld)
    assert task.world.state == {"cups": 3}
    assert task.split == "test"


def test_a_goal_without_a_domain_belongs_to_that_of_the_file(write):
    (task,) = write(TASK).load()
    assert task.goals[0].domain == "tasks"


def test_a_check_is_found_beside_the_file_or_in_a_module(write, tmp_path):
    (tmp_path / "tea_checks.py").write_text("def warm(state):\n    return state['warm']\n")
    example = {"name": "heat", "arguments": {"degrees": 80}}
    goals = [
        {"check": "tea_checks.py:warm", "example": example},
        {"check": "tea_module:warm"},
    ]
    (tmp_path / "tea_module.py").write_text("def warm(calls):\n    return bool(calls)\n")
    (task,) = write(TASK | {"goals": goals}).load()
    first, second = task.goals
    assert (first.kind, first.arguments) == ("heat", {"degrees": 80})
    assert first.details == {"check": "tea_checks.py:warm"}
    assert (second.kind, second.arguments) == ("check", {"function": "tea_module:warm"})
    assert isinstance(task.world, OwnWorld)
    assert task.world.checks["tea_checks.py:warm"].function({"warm": True}) is True
    assert task.world.checks["tea_module:warm"].sees == ("calls",)


def test_a_byte_order_mark_crlf_and_blank_lines_do_no_harm(tmp_path):
    path = tmp_path / "windows.jsonl"
    lines = [json.dumps(task) for task in named("one", "two")]
    path.write_bytes(b"\xef\xbb\xbf" + "\r\n\r\n".join(lines).encode() + b"\r\n")
    assert ids(over(path)) == ["one", "two"]


def test_a_line_separator_inside_a_text_ends_no_line(write):
    (task,) = write(json.dumps(TASK | {"instructions": ["a\u2028b"]}, ensure_ascii=False)).load()
    assert task.brief.instructions == ("a\u2028b",)


def test_the_choice_is_split_then_ids_then_limit_then_shard(write):
    tasks = named("a", "b", "c", "d") + named("x", split="train")
    assert ids(write(*tasks)) == ["a", "b", "c", "d"]
    assert ids(write(*tasks, split="train")) == ["x"]
    assert ids(write(*tasks, ids=["c", "a"])) == ["a", "c"]
    assert ids(write(*tasks, limit=3, shard=1, num_shards=2)) == ["b"]


def test_a_change_of_the_file_or_of_a_check_is_another_version(write, tmp_path):
    checks = tmp_path / "checks_of_version.py"
    checks.write_text("def warm(state):\n    return True\n")
    goals = [{"check": "checks_of_version.py:warm"}]
    dataset = write(TASK | {"goals": goals})
    before = dataset.version
    assert re.fullmatch(r"tasks\.jsonl-[0-9a-f]{8}", before)
    assert dataset.version == before
    checks.write_text("def warm(state):\n    return False\n")
    changed = dataset.version
    assert changed != before
    assert write(TASK | {"goals": goals, "instructions": ["Ask."]}).version not in (before, changed)


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (["{"], r"tasks\.jsonl:1: is not JSON .*one task a line"),
        (["[1]"], r"tasks\.jsonl:1: is no JSON object"),
        (["[" * 100_000], r"tasks\.jsonl:1: is not JSON"),
        (['{"id": NaN}'], r"tasks\.jsonl:1: id is nan, which JSON does not have"),
        ([TASK, json.dumps(TASK | {"id": "two"})[:-5]], r"tasks\.jsonl:2: is not JSON"),
        ([TASK, "", TASK], r"tasks\.jsonl:3: id one is taken by .*tasks\.jsonl:1;"),
        ([], r"tasks\.jsonl: holds no task; write one JSON object a line"),
        (["  ", ""], r"tasks\.jsonl: holds no task"),
        ([{"id": "one"}], r"instructions is missing; instructions is a list of sentences"),
        ([TASK | {"id": 7}], r":1: id: input should be a valid string; id is a text that no other"),
        ([TASK | {"id": ""}], r":1: id: string should have at least 1 character"),
        ([TASK | {"instructions": "Ask."}], r":1: instructions: input should be a valid list"),
        ([TASK | {"instructions": []}], r":1: instructions: list should have at least 1 item"),
        ([TASK | {"gaols": [], "color": 1}], r":1: gaols, color not known; known keys: id, inst"),
        ([TASK | {"goals": [{"nam": "x"}]}], r":1: goals\.0\.nam not known; goals is a list of"),
        ([TASK | {"goals": [{}]}], r":1: goals\.0: it needs either a name or a check"),
        ([TASK | {"goals": [{"name": "x", "check": "y:z"}]}], r"either a name or a check"),
        ([TASK | {"goals": [{"check": "a:b", "arguments": {"x": 1}}]}], r"goes into example"),
        ([TASK | {"goals": [{"name": "x", "example": {"name": "y"}}]}], r"only a check has an ex"),
        ([TASK | {"goals": [{"name": "x", "arguments": [1]}]}], r"goals\.0\.arguments: input"),
        ([TASK | {"goals": [{"check": "nowhere"}]}], r"goals\.0\.check=nowhere: it must read"),
        ([TASK | {"goals": [{"check": "no.py:f"}]}], r"check=no\.py:f: there is no such file in"),
        ([TASK | {"goals": [{"check": "no_such_module:f"}]}], r"ModuleNotFoundError"),
        ([TASK | {"wishes": [{"domain": "x", "booking": {"stay": 2}}]}], r"wishes\.0\.booking\.st"),
        ([TASK | {"state": "\ud800"}], r":1: state holds half a character; write plain JSON"),
    ],
)
def test_a_file_that_is_not_as_it_should_be_is_refused_with_line_and_remedy(write, lines, message):
    with pytest.raises(DataError, match=message) as raised:
        write(*lines).load()
    assert "\n" not in str(raised.value)


def test_a_byte_that_is_not_utf_8_is_named_with_its_line(tmp_path):
    path = tmp_path / "latin.jsonl"
    path.write_bytes(json.dumps(TASK).encode() + b'\n{"id": "caf\xe9"}\n')
    with pytest.raises(DataError, match=r"latin\.jsonl:2: byte 12 is not UTF-8; save the file as"):
        over(path).load()


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("def other(state): ...", r"has no function f; it has: other"),
        (
            "def f(dialogue): ...",
            r"takes `state`, `calls` or both, but this one takes \(dialogue\)",
        ),
        ("def f(): ...", r"takes `state`, `calls` or both"),
        ("def f(*state): ...", r"takes `state`, `calls` or both"),
        ("def f(state:", r"it cannot be imported: SyntaxError: .*broken_check\.py, line 1"),
        ("x = 1\nx.y", r"cannot be imported: AttributeError: .* \(broken_check\.py:2\)"),
    ],
)
def test_a_check_that_cannot_be_asked_is_refused(write, tmp_path, code, message):
    (tmp_path / "broken_check.py").write_text(code)
    with pytest.raises(DataError, match=message):
        write(TASK | {"goals": [{"check": "broken_check.py:f"}]}).load()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (
            {"ids": ["z"]},
            r"dataset\.ids=z is no task of .*tasks\.jsonl; ids of split test are a, b",
        ),
        ({"ids": ["x"]}, r"dataset\.ids=x is not in split test; set dataset\.split=train for it"),
        ({"ids": []}, r"dataset\.ids=\[\] leaves no task of split test"),
        (
            {"split": "val"},
            r"dataset\.split=val has no task in .*; its splits are test \(2\), train",
        ),
        ({"shard": 2, "num_shards": 3}, r"dataset\.shard=2 of 3 is empty: only 2 tasks"),
    ],
)
def test_a_choice_without_tasks_is_refused_with_a_remedy(write, settings, message):
    dataset = write(*named("a", "b"), *named("x", split="train"), **settings)
    with pytest.raises(ConfigError, match=message):
        dataset.load()


def test_settings_that_no_file_satisfies_are_refused_at_once(write, tmp_path):
    with pytest.raises(ConfigError, match=r"dataset\.path=.*gone\.jsonl is no file"):
        over(tmp_path / "gone.jsonl")
    with pytest.raises(ConfigError, match=r"dataset\.limit=0 chooses no task"):
        write(TASK, limit=0)
