"""The tasks of a run, once the data and the environment are known to be those it began with."""

from collections.abc import Mapping, Sequence

from drl.dataset.base import data_version as version_of
from drl.errors import ConfigError
from drl.runtime.config import plug_in_of
from drl.runtime.run_dir import RunDir
from drl.trainer.base import Parts, chosen
from drl.types import Role, Task


def claim_tasks(parts: Parts, run_dir: RunDir) -> Sequence[Task]:
    """The chosen tasks; all can be opened and graded, so none fails when others are paid for.

    Raises:
        DataError: the data cannot be read, or a task is not possible in its environment.
        ConfigError: no task is left, or the environment or the customer knows none of this data
            set.
        RewardError: a reward cannot grade a task.
        RunError: the data, the tools or the reward functions are not those that the run began with.
    """
    tasks = chosen(parts.dataset).load()
    run_dir.claim_data(data_version(parts))
    rewards = [reward for reward in (parts.reward, parts.score) if reward is not None]
    versions = dict.fromkeys(reward.version for reward in rewards if reward.version)
    if versions:
        run_dir.claim_data(", ".join(versions), "reward")
    for task in tasks:
        chosen(parts.environment).open(task)
        _check_customer(parts, task)
        for reward in rewards:
            reward.check_task(task)
    return tasks


def data_version(parts: Parts) -> str:
    """The version of the tasks, and of the tools where users brought them."""
    return version_of(chosen(parts.dataset), chosen(parts.environment))


def _check_customer(parts: Parts, task: Task) -> None:
    """Refuse a customer who could only hang up; what it said before may be all there is."""
    customer = parts.user_simulator
    has_spoken = any(turn.role is Role.USER for turn in task.opening)
    if customer is not None and not has_spoken and not customer.knows(task.brief):
        node = parts.config["user_simulator"]
        assert isinstance(node, Mapping), "an option of the group was chosen"
        raise ConfigError(
            f"user_simulator={plug_in_of(node)} finds nothing to say in the brief of task "
            f"{task.id}; choose the customer of this data set, or the data set of this customer"
        )
