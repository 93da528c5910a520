"""Tasks of users' own from a JSONL file, one task a line.

    {"id": "...", "instructions": ["..."], "goals": [{"name": "...", "arguments": {...}}]}

`instructions` is what the customer is told. A goal is an expected call, or a check:
{"check": "checks.py:function"} with a path beside the JSONL file, or "package.module:function".
The function takes the environment's `state`, the `calls` so far, or both, and is asked after every
call that was carried out: the goal is reached when it says True, or 1 of a number in [0, 1].
`example` in a check goal names a call that satisfies it, for agent=oracle and trainer=validate.
Goals may name a `domain`; reports add up by it.

Optional: `state` (any JSON, handed to the environment), `human_turns` for user_simulator=script,
`wishes` for user_simulator=agenda (`drl.types.Wish`), `split` ("test" if not said). The example in
examples/own_environment shows all of it.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path

from drl.dataset._choice import TaskChoice, take_named
from drl.dataset._task_lines import GoalForm, TaskLine, read
from drl.dataset.base import Dataset
from drl.domains.own.modules import LoadingError, content_digest
from drl.domains.own.world import CHECK, Check, OwnWorld, load_check
from drl.errors import ConfigError, DataError
from drl.types import Brief, Goal, Task, Wish


@dataclass(kw_only=True)
class JsonlTasksDataset(TaskChoice, Dataset):
    """The tasks of one split of a file, in the order of the file."""

    path: str
    split: str

    def __post_init__(self) -> None:
        """Check the choice of tasks as far as it needs no data."""
        if not Path(self.path).is_file():
            raise ConfigError(
                f"dataset.path={self.path} is no file (seen from {Path.cwd()}); name a JSONL file "
                "with one task a line"
            )
        self.check_choice()

    @property
    def version(self) -> str:
        """The file's name and a hash of its content, with that of the checks it names.

        Raises:
            DataError: the file cannot be read, or a check cannot be found.
        """
        path = Path(self.path)
        lines = read(path)
        digest = blake2b(path.read_bytes(), digest_size=4)
        references = {goal.check for line in lines for goal in line.task.goals if goal.check}
        for source in sorted({reference.rpartition(":")[0] for reference in references}):
            try:
                digest.update(content_digest(source, path.parent).encode())
            except LoadingError as error:
                raise DataError(f"{path}: the check file {source}: {error}") from error
        return f"{path.name}-{digest.hexdigest()}"

    def load(self) -> Sequence[Task]:
        """The chosen tasks.

        Of the split first `ids` are taken, in the order that `shuffle` draws; of those `limit`
        from number `start` on; of those the shard.

        Raises:
            DataError: the file is not as it should be, or a check cannot be loaded.
            ConfigError: an id is not in the split, or no task is left.
        """
        lines = {line.task.id: line for line in read(Path(self.path))}
        split = [name for name, line in lines.items() if line.task.split == self.split]
        if not split:
            counts = Counter(line.task.split for line in lines.values())
            known = ", ".join(f"{name} ({count})" for name, count in counts.items())
            raise ConfigError(
                f"dataset.split={self.split} has no task in {self.path}; its splits are {known}"
            )
        chosen = take_named(split, self.ids, lambda missing: self._unknown(lines, split, missing))
        if not chosen:
            raise ConfigError(
                f"dataset.ids={self.ids} leaves no task of split {self.split}; name at least one, "
                "or set dataset.ids=null"
            )
        shard = self.take_shard(chosen)
        return [_task(lines[name], Path(self.path)) for name in shard]

    def _unknown(self, lines: dict[str, TaskLine], split: Sequence[str], name: str) -> str:
        if name not in lines:
            some = ", ".join(split[:3]) + (", ..." if len(split) > 3 else "")
            return (
                f"dataset.ids={name} is no task of {self.path}; "
                f"ids of split {self.split} are {some}"
            )
        return (
            f"dataset.ids={name} is not in split {self.split}; "
            f"set dataset.split={lines[name].task.split} for it"
        )


def _task(line: TaskLine, path: Path) -> Task:
    form = line.task
    checks = {
        goal.check: _check(line.where, number, goal.check, path)
        for number, goal in enumerate(form.goals)
        if goal.check is not None
    }
    wishes = tuple(
        Wish(**wish.model_dump(exclude={"requests"}), requests=tuple(wish.requests))
        for wish in form.wishes
    )
    return Task(
        id=form.id,
        split=form.split,
        brief=Brief(tuple(form.instructions), wishes, tuple(form.human_turns)),
        goals=tuple(_goal(goal, path.stem) for goal in form.goals),
        world=OwnWorld(where=line.where, state=form.state, checks=checks),
    )


def _check(where: str, number: int, reference: str, path: Path) -> Check:
    try:
        return load_check(reference, path.parent)
    except LoadingError as error:
        raise DataError(f"{where}: goals.{number}.check={reference}: {error}") from error


def _goal(form: GoalForm, domain: str) -> Goal:
    """A goal; one with a check and an example bears the name and arguments of the example."""
    domain = form.domain or domain
    if form.check is None:
        assert form.name is not None, "a goal that is no check has a name"
        return Goal(form.name, domain, form.arguments)
    details = {CHECK: form.check}
    if form.example is None:
        return Goal(CHECK, domain, {"function": form.check}, details)
    return Goal(form.example.name, domain, form.example.arguments, details)
