"""Composing configs with Hydra, and its complaints as one line that lists the known names."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from hydra import compose as hydra_compose
from hydra import initialize_config_dir
from hydra._internal.core_plugins.basic_sweeper import BasicSweeper
from hydra._internal.utils import get_args_parser
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.errors import HydraException, MissingConfigException
from omegaconf import DictConfig, OmegaConf

from drl.errors import ConfigError

MAX_CHECKED_JOBS = 500
"""Of a larger sweep only the first jobs are composed before it starts."""


def options(conf: Path, group: str) -> list[str]:
    """The names that a group knows, presets included."""
    folder = conf / group
    return sorted(str(path.relative_to(folder).with_suffix("")) for path in folder.rglob("*.yaml"))


def groups(conf: Path) -> list[str]:
    """The names of all groups."""
    return sorted(path.name for path in conf.iterdir() if path.is_dir())


class Jobs(NamedTuple):
    """What a command line starts: the overrides of each job, and whether they are a sweep."""

    overrides: list[list[str]]
    is_sweep: bool


def jobs_of(arguments: Sequence[str]) -> Jobs:
    """The jobs of a command line; none when it only asks to be shown something.

    Raises:
        ConfigError: an override cannot be read.
    """
    parsed = get_args_parser().parse_args(list(arguments))
    if parsed.help or parsed.hydra_help or parsed.shell_completion or parsed.cfg or parsed.info:
        return Jobs([], is_sweep=False)
    if not parsed.multirun:
        return Jobs([list(parsed.overrides)], is_sweep=False)
    try:
        overrides = OverridesParser.create().parse_overrides(parsed.overrides)
    except HydraException as error:
        raise ConfigError(_one_line(error)) from error
    if any(o.get_key_element().startswith("hydra/sweeper") for o in overrides):
        return Jobs([], is_sweep=True)  # another sweeper draws its jobs as it goes
    batches = BasicSweeper.split_arguments(overrides, max_batch_size=None)
    jobs = [list(job) for batch in batches for job in batch]
    return Jobs(jobs[:MAX_CHECKED_JOBS], is_sweep=True)


def compose(conf: Path, overrides: Sequence[str]) -> DictConfig:
    """The config of one job.

    Raises:
        ConfigError: an unknown group, option or key, with the known names; an unreadable override.
    """
    for override in overrides:
        key, _, value = override.partition("=")
        if value == "null" and key.partition("@")[0] in groups(conf):
            raise ConfigError(
                f"{override} cannot be said on the command line; say '~{key}' instead"
            )
    try:
        with initialize_config_dir(str(conf.resolve()), version_base="1.3"):
            return hydra_compose("config", overrides=list(overrides), return_hydra_config=True)
    except MissingConfigException as error:
        raise ConfigError(_missing(conf, error)) from error
    except HydraException as error:
        raise ConfigError(_explain(conf, overrides, error)) from error
    except (TypeError, ValueError, AttributeError) as error:  # Hydra's own, on odd overrides
        raise ConfigError(
            f"{' '.join(overrides)}: cannot be composed ({_one_line(error)}); a group takes one "
            "name"
        ) from error


def _missing(conf: Path, error: MissingConfigException) -> str:
    group, _, name = (error.missing_cfg_file or "").rpartition("/")
    if not error.options:
        return _one_line(error)
    known = options(conf, group) or list(error.options)
    return f"{group}={name} is not known; known: {', '.join(known)}"


def _explain(conf: Path, overrides: Sequence[str], error: HydraException) -> str:
    text = _one_line(error)
    found = re.search(r"Could not override '([^']+)'", text)
    if not found:
        return text
    key = found.group(1)
    group = key.partition("@")[0]
    if "/" not in key and "." not in key and "No match in the defaults list" in text:
        if group in groups(conf):
            return f"{key} is appended, not overridden; say +{key}=NAME"
        return f"{group} is not a config group; known: {', '.join(groups(conf))}"
    parent, _, name = key.rpartition(".")
    others = [o for o in overrides if o.lstrip("+~").partition("=")[0] != key]
    siblings = OmegaConf.select(compose(conf, others), parent) if parent else None
    if isinstance(siblings, DictConfig) and name in siblings:
        return f"{key} has no such entries yet; add them with +{key}={{...}}"
    if isinstance(siblings, DictConfig):
        known = ", ".join(str(k) for k in siblings if not str(k).startswith("_"))
        return f"{parent} has no setting {name}; known: {known}"
    return unknown_key(conf, key)


def unknown_key(conf: Path, key: str) -> str:
    """The complaint about a name at the root of the config."""
    root = key.partition(".")[0]
    if root in groups(conf):
        return (
            f"{key} cannot be set because {root} is not chosen; add {root}=NAME "
            f"(known: {', '.join(options(conf, root))})"
        )
    known = [str(k) for k in OmegaConf.load(conf / "config.yaml") if k not in ("defaults", "hydra")]
    names = ", ".join(known)
    return f"{key} is not known; settings: {names}; groups: {', '.join(groups(conf))}"


def _one_line(error: Exception) -> str:
    return " ".join(str(error).partition("Config search path")[0].split())
