"""TextRL 1.0's trainer for algorithms that sample: GRPO, RLOO and REINFORCE++."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from drl.compat.textrl._trainer import TRLTrainer, check_algorithm, checked
from drl.compat.textrl.config import ONLINE, TextRLConfig
from drl.compat.textrl.data import validate_prompt_dataset
from drl.compat.textrl.models import (
    check_decoder_only,
    frozen_copy,
    is_adapted,
    refuse_reference,
)
from drl.compat.textrl.prompts import check_fits, prompt_ids
from drl.compat.textrl.rewards import BaseReward, RewardFn, to_reward_fn
from drl.errors import ConfigError

if TYPE_CHECKING:
    from datasets import Dataset
    from peft import PeftModel
    from transformers import PreTrainedModel, PreTrainedTokenizerBase, Trainer, TrainerCallback

_LOG = logging.getLogger(__name__)


class OnlineTrainer(TRLTrainer):
    """Trains a model on the rewards of what it samples itself.

    Any of the three algorithms takes any reward: a function, a `BaseReward`, a reward model (a
    classifier with one score, or its name), or a list of these, which `config.reward_weights`
    weighs. Where `beta` asks for a reference, it is `ref_model`, else a copy of the model as it is
    given; with an adapter it is the model with the adapter as it is given.

    Args:
        model: a causal model.
        tokenizer: its own.
        config: with algo grpo, rloo or reinforce_pp.
        ref_model: a frozen model of the same vocabulary.
        reward: what is to be made large.
        train_dataset: with the column prompt, or messages; others go to the rewards.
        eval_dataset: of the same form.
        reward_tokenizer: of the reward models, where it does not lie where they come from.

    Raises:
        ConfigError: the parts do not fit together.
        DataError: a row is not as it should be, or has no room for an answer.
    """

    def __init__(
        self,
        model: PreTrainedModel | PeftModel,
        tokenizer: PreTrainedTokenizerBase,
        config: TextRLConfig,
        *,
        ref_model: PreTrainedModel | None = None,
        reward: object = None,
        train_dataset: Dataset | None = None,
        eval_dataset: Dataset | None = None,
        reward_tokenizer: PreTrainedTokenizerBase | None = None,
    ) -> None:
        check_algorithm(config, ONLINE, "OnlineTrainer")
        check_decoder_only(model, f"algo={config.algo}")
        rewards = _rewards(reward, config)
        data = checked(train_dataset, eval_dataset, validate_prompt_dataset)
        parts: dict[str, Any] = {
            "model": model,
            "processing_class": tokenizer,
            "reward_funcs": rewards,
            "reward_processing_classes": [
                reward_tokenizer if _is_module(each) else None for each in rewards
            ],
            **data,
        }
        args: Any = config.to_trl_config()
        _check_prompts(model, tokenizer, data["train_dataset"], args.max_completion_length)
        if args.beta == 0.0 or is_adapted(model):
            if args.beta != 0.0:
                refuse_reference(model, ref_model)
            super().__init__(_build(config.algo, args, parts))
        else:
            reference = frozen_copy(model) if ref_model is None else ref_model
            super().__init__(_build_with(reference, config.algo, args, parts))
        self.trl_trainer.add_callback(_equal_rewards_told(config.algo))


def _check_prompts(
    model: Any, tokenizer: PreTrainedTokenizerBase, rows: Dataset, longest: int | None
) -> None:
    """Refuse prompts that would run out of the context hours later; repeats are read once."""
    if longest is None:
        return
    seen: set[str] = set()
    for number, prompt in enumerate(rows["prompt"]):
        if str(prompt) not in seen:
            seen.add(str(prompt))
            check_fits(model.config, number, len(prompt_ids(tokenizer, prompt)), longest)


def _equal_rewards_told(algo: str) -> TrainerCallback:
    """Says of updates whose rewards are alike that nothing was learned from them."""
    from transformers import TrainerCallback

    class Teller(TrainerCallback):
        def on_log(self, args, state, control, logs=None, **kwargs):
            said = logs or {}
            # groups of one are always alike, so there the whole batch is asked
            is_alike = (
                said.get("reward_std") == 0.0
                if algo == "reinforce_pp"
                else said.get("frac_reward_zero_std") == 1.0
            )
            if is_alike:
                _LOG.warning(
                    "update %d: all rewards that are compared are alike, so the rewards taught "
                    "nothing; see the reward, or sample at a higher temperature",
                    state.global_step,
                )

    return Teller()


def _rewards(reward: object, config: TextRLConfig) -> list[Any]:
    """The reward functions as TRL takes them."""
    given = list(reward) if isinstance(reward, list | tuple) else [reward]
    if reward is None or not given:
        raise ConfigError("reward is missing; give a function of (prompts, completions, **columns)")
    weights = config.reward_weights
    if weights is not None and len(weights) != len(given):
        raise ConfigError(
            f"reward_weights={weights} are {len(weights)} for {len(given)} rewards; give one each"
        )
    return [_reward(each) for each in given]


def _reward(given: object) -> Any:
    """A function that is checked at each call, or a reward model as it is, or its name."""
    from torch import nn

    if isinstance(given, str):
        return given
    if not isinstance(given, nn.Module):
        return _named(to_reward_fn(given))
    config: Any = given.config
    if "num_labels" not in dir(config) or config.num_labels != 1 or _has_words(given):
        raise ConfigError(
            f"reward={type(given).__name__} is no reward model, which is a classifier with one "
            "score; load it with load_model(..., reward_model=True)"
        )
    return given


def _named(reward: BaseReward) -> RewardFn:
    """A function with the name under which TRL is to log the reward."""

    def call(prompts: Sequence[Any], completions: Sequence[Any], **columns: Any) -> Any:
        return reward(prompts, completions, **columns)

    call.__name__ = reward.name
    return call


def _has_words(model: Any) -> bool:
    """Whether a model scores the next token, not a text."""
    return model.get_output_embeddings() is not None


def _is_module(reward: object) -> bool:
    from torch import nn

    return isinstance(reward, nn.Module)


def _build(algo: str, args: Any, parts: dict[str, Any]) -> Trainer:
    if algo == "reinforce_pp":
        from drl.compat.textrl.reinforce import ReinforcePlusPlusTrainer

        return ReinforcePlusPlusTrainer(args=args, **parts)
    from drl.compat.textrl._silent import SilentGRPOTrainer, SilentRLOOTrainer

    make = {"grpo": SilentGRPOTrainer, "rloo": SilentRLOOTrainer}[algo]
    return make(args=args, **parts)


def _build_with(ref_model: PreTrainedModel, algo: str, args: Any, parts: dict[str, Any]) -> Trainer:
    """A trainer with this reference; TRL would load one from where the model says it comes from.

    So it is built without any, and then given what its constructor gives one.
    """
    from trl.models.utils import prepare_deepspeed, prepare_fsdp
    from trl.trainer.callbacks import SyncRefModelCallback
    from trl.trainer.utils import add_fused_lm_head, disable_dropout_in_model

    beta, follows = args.beta, args.sync_ref_model
    args.beta, args.sync_ref_model = 0.0, False
    trainer: Any = _build(algo, args, parts)
    args.beta, args.sync_ref_model = beta, follows
    if args.disable_dropout:
        disable_dropout_in_model(ref_model)
    in_float32 = vars(args).get("cast_lm_head_to_fp32", False)  # RLOO has no such setting
    add_fused_lm_head(ref_model, temperature=trainer.temperature, cast_lm_head_to_fp32=in_float32)
    reference: Any
    if trainer.is_deepspeed_enabled:
        reference = prepare_deepspeed(ref_model, trainer.accelerator)
    elif trainer.is_fsdp_enabled:
        reference = prepare_fsdp(ref_model, trainer.accelerator)
    else:
        reference = trainer.accelerator.prepare_model(ref_model, evaluation_mode=True)
    trainer.beta, trainer.ref_model = beta, reference
    if follows:
        follow = SyncRefModelCallback(ref_model=reference, accelerator=trainer.accelerator)
        trainer.add_callback(follow)
    return trainer
