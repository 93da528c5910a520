"""What `reward_then_policy` needs before it spends anything: parts that all its stages can use."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from drl.dataset.base import SessionDataset
from drl.errors import ConfigError
from drl.runtime.config import plug_in_of
from drl.trainer._policy_replies import conversation_of
from drl.trainer._policy_stages import Stages
from drl.trainer._turn_model_nodes import turn_models
from drl.trainer.base import Parts, chosen
from drl.types import JSON, Task

MODEL_OF_STAGE = "stage-1/reward_model"
"""What reward.model says here: the model that the first stage makes."""


def check_stages(whole: Mapping[str, JSON], *, halves: bool) -> None:
    """Refuse stages that make no turn reward models, or a judge that repeats the reward's faults.

    Args:
        whole: the trainer's node.
        halves: whether the two learn from different conversations.

    Raises:
        ConfigError: with what to choose instead.
    """
    for stage in ("reward_model", "judge"):
        _check_reward_stage(stage, whole[stage])
    if not halves and _encoder(whole["reward_model"]) == _encoder(whole["judge"]):
        raise ConfigError(
            "trainer.halves=false gives both reward models the same conversations, and they have "
            "the same encoder, so the judge would repeat the reward's faults; set "
            "trainer.halves=true, or another trainer.judge.encoder.model"
        )


def check_players(parts: Parts) -> None:
    """Refuse a reward, a model or rollouts that the stages could not use.

    Raises:
        ConfigError: with what to choose instead.
    """
    _check_reward(parts.config["reward"])
    _check_model(parts)
    for key in ("rollout", "eval_rollout"):
        node = parts.config[key]
        if not isinstance(node, Mapping) or node.get("max_steps") != 1:
            raise ConfigError(
                f"{key} goes on after the agent's reply, but nobody is there to answer; choose a "
                f"single one with {key}.max_steps=1"
            )


def check_data(parts: Parts, test_split: str) -> None:
    """Refuse data of which learning, choosing and reporting take the same parts.

    Raises:
        ConfigError: with what to choose instead.
    """
    if not isinstance(parts.dataset, SessionDataset):
        raise ConfigError(
            f"dataset: {type(parts.dataset).__name__} has tasks, but turn rewards are learned from "
            "recorded sessions; use dataset=candor"
        )
    splits = [
        node.get("split") if isinstance(node, Mapping) else None
        for node in (parts.config["dataset"], parts.config["eval_dataset"])
    ]
    if None in splits:
        raise ConfigError(
            "eval_dataset has no setting split, so there are no other contexts to report on; use "
            "dataset@eval_dataset=candor"
        )
    if len({*map(str, splits), test_split}) < 3:
        raise ConfigError(
            f"dataset.split={splits[0]}, eval_dataset.split={splits[1]} and trainer.test_split="
            f"{test_split} must differ: one is learned on, one chooses, one reports; use train, "
            "val and test"
        )


class Contexts(NamedTuple):
    """The contexts that are learned on, those that choose and those that report."""

    train: Sequence[Task]
    val: Sequence[Task]
    test: Sequence[Task]


def contexts(parts: Parts, stages: Stages, test_split: str) -> Contexts:
    """All contexts, once it is sure that no conversation serves two purposes.

    Raises:
        ConfigError: a conversation is in more than one of these and those that are learned on.
    """
    train = chosen(parts.dataset).load()
    val, test = chosen(parts.eval_dataset).load(), stages.dataset_of(test_split).load()
    found: dict[str, str] = {}
    for key, tasks in (("dataset", train), ("eval_dataset", val), (test_split, test)):
        for task in tasks:
            name = conversation_of(task)
            if found.setdefault(name, key) != key:
                raise ConfigError(
                    f"conversation {name} is in the contexts of {found[name]} and of {key}; divide "
                    "both datasets alike (division), and choose splits that differ"
                )
    return Contexts(train, val, test)


def _check_reward_stage(stage: str, node: JSON) -> None:
    if not isinstance(node, Mapping) or plug_in_of(node) != "reward_model":
        raise ConfigError(
            f"trainer.{stage} trains no turn reward model; choose "
            f"trainer@trainer.{stage}=reward_model/geli"
        )


def _check_reward(node: JSON) -> None:
    """The reward is of the model that comes of the first stage."""
    models = turn_models(node)
    if not models:
        raise ConfigError(
            "reward: nothing in it asks the turn reward model of this run; choose "
            f"reward=turn_model reward.model={MODEL_OF_STAGE}"
        )
    for each in models:
        if each["model"] != MODEL_OF_STAGE:
            raise ConfigError(
                f"reward.model={each['model']} is not used: this run trains a model of its own; "
                f"set it to {MODEL_OF_STAGE}, or use trainer=ppo"
            )


def _check_model(parts: Parts) -> None:
    """Policies are adapters of a model that has none."""
    node = parts.config["llm"]
    if not isinstance(node, Mapping) or "adapter" not in node:
        raise ConfigError(
            "llm has no setting adapter, so what is learned cannot be used; choose llm=hf"
        )
    if node["adapter"] is not None:
        raise ConfigError(
            f"llm.adapter={node['adapter']}, but the distance to the start is that to the model "
            "without an adapter; merge it first (drl merge)"
        )


def _encoder(node: JSON) -> JSON:
    """The model that embeds turns, and how."""
    encoder = node.get("encoder") if isinstance(node, Mapping) else None
    assert isinstance(encoder, Mapping), "a reward model has one"
    return [encoder["model"], encoder["pooling"]]
