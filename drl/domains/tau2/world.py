"""The worlds of tau2-bench in memory: a domain's environment and tools, and its tasks."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Final, NamedTuple, cast

from drl.domains.tau2.interface import (
    Action,
    Criteria,
    Environment,
    Message,
    Requestor,
    Task,
    Tool,
)
from drl.domains.tau2.interface import ToolCall as Tau2Call
from drl.domains.tau2.package import Package, find
from drl.domains.tau2.state import Branch, hashes
from drl.errors import ConfigError, DataError
from drl.types import JSON, Toolbox, ToolCall, ToolSpec

WORKFLOW: Final = "telecom-workflow"
"""telecom with the same tasks and another form of its policy."""


class Gold(NamedTuple):
    """Where the actions of a task lead: tau2's hashes of both databases.

    `refused` names the actions that a tool refused, so that they lead nowhere.
    """

    digests: tuple[str | None, str | None]
    refused: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class World:
    """One domain of one state of the package; `untouched` is to be forked."""

    package: Package = field(repr=False)
    domain: str
    untouched: Branch = field(repr=False)
    policy: str = field(repr=False)
    make_call: Callable[..., Tau2Call] = field(repr=False)

    @cached_property
    def toolbox(self) -> Toolbox:
        """The agent's tools, and what it has to keep to."""
        return Toolbox(_specs(self.untouched.look().get_tools()), policy=self.policy)

    @cached_property
    def user_specs(self) -> tuple[ToolSpec, ...]:
        """The customer's tools; none in most domains."""
        environment = self.untouched.look()
        return () if environment.user_tools is None else _specs(environment.get_user_tools())

    def call(self, call: ToolCall, requestor: Requestor) -> Tau2Call:
        """A call in tau2's form, with arguments of its own.

        Raises:
            ValueError: its arguments are none.
        """
        return self.make_call(
            name=call.name, arguments=deepcopy(call.arguments), requestor=requestor
        )


@dataclass(frozen=True, eq=False)
class Scene:
    """One task in its world; what `drl.types.Task.world` holds."""

    world: World = field(repr=False)
    task: Task = field(repr=False)
    user_toolbox: Toolbox | None = field(repr=False)

    @property
    def criteria(self) -> Criteria | None:
        """How it is evaluated."""
        return self.task.evaluation_criteria

    @property
    def actions(self) -> Sequence[Action]:
        """The calls that solve it, of both sides."""
        return () if self.criteria is None else self.criteria.actions or ()

    @property
    def basis(self) -> tuple[str, ...]:
        """What has to be right for its reward."""
        return () if self.criteria is None else tuple(e.value for e in self.criteria.reward_basis)

    @property
    def history(self) -> Sequence[Message]:
        """What was said and done before it begins."""
        state = self.task.initial_state
        return () if state is None else state.message_history or ()

    def begin(self) -> Branch:
        """A branch at its beginning.

        Raises:
            DataError: tau2 cannot bring about what is so at its beginning.
        """
        branch, state = self.world.untouched.fork(), self.task.initial_state
        if state is None:
            return branch
        try:
            branch.own().set_state(
                initialization_data=deepcopy(state.initialization_data),
                initialization_actions=deepcopy(state.initialization_actions),
                message_history=deepcopy(list(self.history)),
            )
        except Exception as error:  # tau2's tools may raise anything
            raise DataError(
                f"task {self.task.id} of tau2 {self.world.domain} cannot begin: "
                f"{type(error).__name__}: {error}; its data and its code do not fit together"
            ) from error
        return branch

    @cached_property
    def gold(self) -> Gold:
        """Where its actions lead, one after the other, whatever some of them raise.

        As in tau2's `EnvironmentEvaluator`, sides are not brought into step between them.

        Raises:
            DataError: as `begin`.
        """
        environment, refused = self.begin().own(), list[str]()
        for action in self.actions:
            try:
                environment.make_tool_call(
                    action.name, requestor=action.requestor, **deepcopy(action.arguments)
                )
            except Exception as error:  # tau2's tools may raise anything, and its grade goes on
                refused.append(f"{action.name}: {error}")
        return Gold(hashes(environment), tuple(refused))


@lru_cache(maxsize=8)
def load(root: str | None, domain: str) -> World:
    """The world of a domain.

    Raises:
        ConfigError: there is no tau2, no such domain, or no data for it.
    """
    package = find(root)
    known = [*package.domains, *([WORKFLOW] if "telecom" in package.domains else [])]
    if domain not in known:
        raise ConfigError(
            f"dataset.domain={domain} is no domain of the tau2 in {package.folder}; use one of "
            f"{', '.join(known)}"
        )
    package.data(_folder(domain))
    make = "get_environment_workflow_policy" if domain == WORKFLOW else "get_environment"
    environment = cast("Environment", _run(package, domain, make))
    make_call = package.module("data_model.message").ToolCall
    return World(package, domain, Branch(environment), environment.get_policy(), make_call)


@lru_cache(maxsize=4)
def load_scenes(root: str | None, domain: str, split: str) -> tuple[Scene, ...]:
    """The tasks of a split, in tau2's order. Of telecom all 2,285 are read first (3 s).

    Raises:
        ConfigError: as `load`, or there is no such split.
    """
    world = load(root, domain)
    splits = cast("Mapping[str, object]", _run(world.package, domain, "get_tasks_split"))
    if split not in splits:
        raise ConfigError(
            f"dataset.split={split} does not exist in tau2 {domain}; use one of {', '.join(splits)}"
        )
    tasks = cast("Sequence[Task]", _run(world.package, domain, "get_tasks", split))
    toolboxes: dict[tuple[str, ...], Toolbox] = {}
    return tuple(Scene(world, task, _user_toolbox(world, task, toolboxes)) for task in tasks)


def version(root: str | None, domain: str) -> str:
    """Of the package, and of the domain's data and code.

    Raises:
        ConfigError: as `load`.
    """
    return load(root, domain).package.version(_folder(domain))


def _folder(domain: str) -> str:
    return "telecom" if domain == WORKFLOW else domain


def _run(package: Package, domain: str, function: str, *arguments: str) -> object:
    """What a function of a domain's module `environment` gives.

    Raises:
        ConfigError: there is none, or it cannot do its work.
    """
    module = package.module(f"domains.{_folder(domain)}.environment")
    try:
        return vars(module)[function](*arguments)
    except Exception as error:  # it reads files, and may raise anything
        raise ConfigError(
            f"{package.where}: {function} of domain {domain} fails: {type(error).__name__}: "
            f"{error}; its code and its data do not fit together, or it is too old a tau2"
        ) from error


def _user_toolbox(
    world: World, task: Task, toolboxes: dict[tuple[str, ...], Toolbox]
) -> Toolbox | None:
    """The customer's tools in a task, which may name those it has; one object for equal ones."""
    names = task.model_dump().get("user_tools")
    specs = tuple(s for s in world.user_specs if not isinstance(names, list) or s.name in names)
    key = tuple(spec.name for spec in specs)
    return toolboxes.setdefault(key, Toolbox(specs)) if specs else None


def _specs(tools: Sequence[Tool]) -> tuple[ToolSpec, ...]:
    found: list[ToolSpec] = []
    for tool in tools:
        function = tool.openai_schema["function"]
        parameters = cast("Mapping[str, JSON]", function["parameters"])
        found.append(ToolSpec(str(function["name"]), str(function["description"]), parameters))
    return tuple(found)
