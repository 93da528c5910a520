"""`drl matrix`: one agent under several customers, to see whether it has learnt one of them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from drl.cli._runs import ConfOption, check_conf, resumable
from drl.errors import ConfigError, RunError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from drl.types import JSON


def matrix(
    experiment: Annotated[str, typer.Argument(help="A name of conf/experiment.")],
    overrides: Annotated[
        list[str] | None, typer.Argument(help="Changes for all runs, such as agent=rule.")
    ] = None,
    users: Annotated[
        str, typer.Option(help="Customers with commas between; the first is compared with.")
    ] = "",
    conf: ConfOption = Path("conf"),
) -> None:
    """Evaluate the agent of an experiment under several customers, and compare task by task.

    Each customer is an ordinary run with rollout=single and trainer=evaluate, so the same command
    goes on where it was stopped. The table is kept in outputs/NAME/matrix-HASH.json.
    """
    jobs = _jobs(check_conf(conf), experiment, _names(users, conf), overrides or [])
    where = jobs[0].folder.parent
    with resumable(str(where)):
        summaries = {job.user: _run(job, conf) for job in jobs}
    _finish(jobs, summaries)


class _Job(NamedTuple):
    """The run of one customer."""

    user: str
    config: Mapping[str, JSON]
    folder: Path


def _names(users: str, conf: Path) -> list[str]:
    """The customers to compare.

    Raises:
        ConfigError: there are fewer than two, an unknown one, or one twice.
    """
    from drl.runtime.compose import options

    known = options(conf, "user_simulator")
    names = [name.strip() for name in users.split(",") if name.strip()]
    unknown = [name for name in names if name not in known]
    if unknown:
        raise ConfigError(f"--users {users}: {unknown[0]} is not known; known: {', '.join(known)}")
    if len(names) < 2 or len(set(names)) < len(names):
        raise ConfigError(
            f"--users {users or 'is missing'}: a matrix compares two or more different customers; "
            f"known: {', '.join(known)}"
        )
    return names


def _jobs(
    conf: Path, experiment: str, users: Sequence[str], overrides: Sequence[str]
) -> list[_Job]:
    """All runs, composed and built once, so that none is refused after others are paid for.

    Raises:
        ConfigError: what is wrong, with the customer it is wrong for.
    """
    from drl.launch import assemble, register_resolvers
    from drl.runtime.compose import compose
    from drl.runtime.config import to_plain

    register_resolvers()
    jobs: list[_Job] = []
    for user in users:
        chosen = [f"user_simulator={user}", "rollout=single", "trainer=evaluate"]
        try:
            config = compose(conf, [f"+experiment={experiment}", *chosen, *overrides])
            plain = to_plain(config)
            assemble(plain, conf)
        except ConfigError as error:
            raise ConfigError(f"{error} (customer {user})") from None
        jobs.append(_Job(user, plain, Path(config.hydra.run.dir)))
    if len({job.folder for job in jobs}) < len(jobs):
        raise ConfigError(
            f"{jobs[0].folder} would hold the runs of several customers; leave out overrides of "
            "hydra.run.dir and of user_simulator"
        )
    return jobs


def _run(job: _Job, conf: Path) -> Mapping[str, JSON]:
    """Run one customer's dialogues; returns the summary."""
    from drl.launch import run_config

    print(f"user_simulator={job.user}")
    try:
        return run_config(job.config, conf, job.folder)
    except RunError as error:
        raise RunError(f"{error} (customer {job.user})") from error


def _finish(jobs: Sequence[_Job], summaries: Mapping[str, Mapping[str, JSON]]) -> None:
    """Compare, keep and show."""
    from drl.evaluation.matrix import compare_users, user_result
    from drl.evaluation.matrix_console import print_matrix
    from drl.runtime.config import config_hash
    from drl.runtime.run_dir import ROLLOUTS, RunDir
    from drl.tree.store import read_trees

    results = {job.user: user_result(read_trees(job.folder / ROLLOUTS)) for job in jobs}
    first = summaries[jobs[0].user]
    shared = ("name", "n_trials", "label", "data_version", "seed")
    matrix: dict[str, JSON] = {
        **{key: first[key] for key in shared},
        "runs": {job.user: str(job.folder) for job in jobs},
        "modes": {job.user: summaries[job.user]["modes"] for job in jobs},
        **compare_users(results),
    }
    digest = config_hash({job.user: job.config for job in jobs})
    file = RunDir(jobs[0].folder.parent).write_json(f"matrix-{digest}.json", matrix)
    print_matrix(matrix)
    print(f"Table: {file}")
