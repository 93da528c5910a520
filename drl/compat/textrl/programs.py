"""What TextRL's commands do: train as a YAML file says, and reward what a model answers.

textrl-train --config FILE   ->  drl textrl-train --config FILE
textrl-eval ...              ->  drl textrl-eval ..., with the same options
textrl-merge ...             ->  drl merge ADAPTER --out DIR [--base MODEL --dtype ...]
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any

from drl.compat.textrl.config import DPO_LOSSES, TextRLConfig
from drl.errors import ConfigError, DataError

if TYPE_CHECKING:
    from datasets import Dataset

    from drl.compat.textrl._trainer import TRLTrainer
    from drl.compat.textrl.models import LoadedModel

_OF_THE_FILE = ("model", "dataset", "eval_dataset", "reward")
_OF_A_MODEL = (
    "name",
    "torch_dtype",
    "attn_implementation",
    "trust_remote_code",
    "load_ref",
    "device_map",
)
_DATASET_FORMS = "module:attr, {hub: NAME}, {jsonl: FILE}, or a list of rows"


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluation:
    """The rewards of a model's answers: how many, their mean, the lowest and the highest."""

    count: int
    mean: float
    min: float
    max: float


def train(file: Path) -> Path:
    """Train as a YAML file says, save the result, and give its folder.

    The file holds `model` (name and more of `load_model`), `dataset`, `eval_dataset`, `reward`
    (`module:function`, or a list of them), and what `TextRLConfig.from_dict` takes.

    Raises:
        ConfigError: a setting breaks a rule.
        DataError: the file, or a row of a dataset, is not as it should be.
    """
    said = _read(file)
    own = {name: said.pop(name) for name in _OF_THE_FILE if name in said}
    config = TextRLConfig.from_dict(said)
    if "model" not in own:
        raise ConfigError(f"{file}: model is missing; say which with model: {{name: ...}}")
    data = {
        "train_dataset": dataset_from(own["dataset"]) if "dataset" in own else None,
        "eval_dataset": dataset_from(own["eval_dataset"]) if "eval_dataset" in own else None,
    }
    if config.algo not in ("grpo", "rloo", "reinforce_pp") and "reward" in own:
        raise ConfigError(f"reward is not for algo={config.algo}; leave it out")
    trainer = _trainer(config, own, data)
    trainer.train()
    trainer.save_model()
    return Path(config.output_dir)


def evaluate(
    model: str,
    dataset: str,
    reward: str,
    *,
    max_new_tokens: int = 128,
    batch_size: int = 4,
    temperature: float = 1.0,
    seed: int = 0,
) -> Evaluation:
    """Sample an answer to each prompt and reward it.

    Args:
        model: an id on the hub, or a folder.
        dataset: `module:attr`, `hub:NAME` or `jsonl:FILE`; its columns go to the reward.
        reward: `module:function`.
        max_new_tokens: the longest answer.
        batch_size: prompts that are answered side by side.
        temperature: 0 takes the likeliest token.
        seed: of the samples.

    Raises:
        ConfigError: a setting breaks a rule, or the reward fails.
        DataError: a prompt is not as it should be.
    """
    from drl.compat.textrl.answers import answers
    from drl.compat.textrl.data import validate_prompt_dataset
    from drl.compat.textrl.models import load_model
    from drl.compat.textrl.rewards import to_reward_fn

    for name, value in (("max-new-tokens", max_new_tokens), ("batch-size", batch_size)):
        if value < 1:
            raise ConfigError(f"--{name}={value} must be at least 1")
    if not temperature >= 0:
        raise ConfigError(f"--temperature={temperature} must not be negative; 0 samples nothing")
    judge = to_reward_fn(named(reward))
    rows = validate_prompt_dataset(dataset_from(_split(dataset)))
    loaded = load_model(model, load_ref=False)
    texts = answers(loaded, list(rows["prompt"]), max_new_tokens, batch_size, temperature, seed)
    columns = {name: list(rows[name]) for name in rows.column_names if name != "prompt"}
    given = judge(list(rows["prompt"]), texts, **columns)
    rewards = [value for value in given if value is not None]
    if not rewards:
        raise DataError(f"--reward {reward} applies to none of {len(texts)} answers")
    return Evaluation(count=len(rewards), mean=fmean(rewards), min=min(rewards), max=max(rewards))


def named(name: str) -> Any:
    """What `module:attr` names; modules of the folder where the command was started count too.

    Raises:
        ConfigError: there is no such thing.
    """
    module, colon, attribute = name.partition(":")
    if not (module and colon and attribute):
        raise ConfigError(f"{name} names nothing; write module:attr")
    here = os.getcwd()
    if here not in sys.path:
        sys.path.insert(0, here)
    try:
        found: Any = importlib.import_module(module)
        for part in attribute.split("."):
            found = getattr(found, part)
    except (ImportError, AttributeError) as error:
        raise ConfigError(f"{name} cannot be found ({error}); write module:attr") from error
    return found


def dataset_from(source: object) -> Dataset:
    """The dataset that a file or a command line names.

    Raises:
        ConfigError: it is named in no form that is known.
        DataError: it cannot be read.
    """
    from drl.compat.textrl.data import from_hub, from_jsonl, from_list

    if isinstance(source, str):
        found = named(source)
        return from_list(found) if isinstance(found, list | tuple) else found
    if isinstance(source, list):
        return from_list(source)
    if isinstance(source, Mapping):
        options = dict(source)
        if "list" in options and len(options) == 1:
            return from_list(options["list"])
        if "jsonl" in options and options.keys() <= {"jsonl", "split"}:
            return from_jsonl(options.pop("jsonl"), **options)
        if "hub" in options:
            return from_hub(options.pop("hub"), **options)
    raise ConfigError(f"dataset={source} is in no form that is known; write {_DATASET_FORMS}")


def _read(file: Path) -> dict[str, Any]:
    import yaml

    try:
        said = yaml.safe_load(file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise DataError(f"{file}: cannot be read as YAML ({error})") from error
    if not isinstance(said, dict):
        raise DataError(f"{file}: holds no settings; write algo: ..., output_dir: ... and so on")
    return said


def _split(source: str) -> str | dict[str, str]:
    """`hub:NAME` and `jsonl:FILE` as a file would say it."""
    form, _, rest = source.partition(":")
    return {form: rest} if form in ("hub", "jsonl") else source


def _load(config: TextRLConfig, model: object) -> LoadedModel:
    from drl.compat.textrl.models import load_model

    options = {"name": model} if isinstance(model, str) else model
    if not isinstance(options, Mapping) or "name" not in options:
        raise ConfigError(f"model={model} has no name; write model: {{name: ...}}")
    unknown = sorted(options.keys() - set(_OF_A_MODEL))
    if unknown:
        raise ConfigError(f"model.{unknown[0]} is unknown; there are {', '.join(_OF_A_MODEL)}")
    rest: dict[str, Any] = {key: value for key, value in options.items() if key != "name"}
    rest.setdefault("load_ref", False)  # a trainer copies the model if it needs a reference
    return load_model(
        options["name"],
        peft=config.peft,
        quantization=config.quantization,
        reward_model=config.algo == "reward_model",
        seed=config.seed,
        **rest,
    )


def _trainer(config: TextRLConfig, own: Mapping[str, Any], data: dict[str, Any]) -> TRLTrainer:
    """The trainer that knows the algorithm, with its model."""
    model, tokenizer, reference = _load(config, own["model"])
    if config.algo == "reward_model":
        from drl.compat.textrl.reward_model import RewardModelTrainer

        return RewardModelTrainer(model, tokenizer, config, **data)
    if config.algo in (*DPO_LOSSES, "kto"):
        from drl.compat.textrl.preference import PreferenceTrainer

        return PreferenceTrainer(model, tokenizer, config, ref_model=reference, **data)
    from drl.compat.textrl.online import OnlineTrainer

    names = own.get("reward")
    reward = [named(each) for each in names] if isinstance(names, list) else names
    if isinstance(reward, str):
        reward = named(reward)
    return OnlineTrainer(model, tokenizer, config, ref_model=reference, reward=reward, **data)
