"""TextRL 0.2's actor: which weights learn, how tokens are drawn, and the agent that PPO makes."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from drl.compat.textrl._items import wrapped
from drl.compat.textrl._language_model import adapted_by_peft, unwrapped
from drl.errors import ConfigError

if TYPE_CHECKING:
    from torch import nn
    from torch.optim import Optimizer
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

    from drl.compat.textrl.agent import TextRLAgent
    from drl.compat.textrl.environment import TextRLEnv
    from drl.ppo.generate import Drawing


_LOG = logging.getLogger(__name__)


class TextRLActor:
    """A model that learns from an environment.

    Args:
        env: what it acts in.
        model: that of the environment, also wrapped by PEFT; then its adapter learns, and nothing
            else.
        tokenizer: the model's.
        optimizer: sgd or adamw; or an optimizer, whose class and settings are used for the weights
            that learn, whatever it was made for.
        gpu_id: the GPU to use where there is one and the model is not on one yet; -1 for none.
        unfreeze_layer_from_past: 0 trains the output layer alone; n the last n blocks as well, and
            what follows them.
        act_deterministically: whether evaluation and `predict` take the likeliest token.
        temperature: logits are divided by it, where tokens are drawn and where they are learned.
        top_k: tokens that may be drawn; 0 for all. Like `top_p` and `repetition_penalty` it bounds
            what is drawn only: likelihoods and ratios are those of all tokens, so that each stays
            finite.
        top_p: probability that the tokens that may be drawn reach together.
        repetition_penalty: of what a text holds already; 1 for none.
        compare_sample: how many candidates a prompt gets, where the environment is not told.
        seed: of the draws and of the order of minibatches.

    Raises:
        ConfigError: a setting breaks a rule, or the model has not so many blocks.
    """

    def __init__(
        self,
        env: TextRLEnv,
        model: nn.Module,
        tokenizer: PreTrainedTokenizerBase,
        optimizer: str | Optimizer = "sgd",
        gpu_id: int = 0,
        unfreeze_layer_from_past: int = 0,
        act_deterministically: bool = True,
        temperature: float = 1.0,
        top_k: int = 0,
        top_p: float = 1.0,
        *,
        repetition_penalty: float = 1.0,
        compare_sample: int | None = None,
        seed: int = 0,
    ) -> None:
        _check_drawing(temperature, top_k, top_p, repetition_penalty)
        self.env = env
        self.model = unwrapped(model)
        self.tokenizer = tokenizer
        self.optimizer = optimizer
        self.unfreeze_layer_from_past = unfreeze_layer_from_past
        self.act_deterministically = act_deterministically
        self.temperature = temperature
        self.top_k = top_k
        self.top_p = top_p
        self.repetition_penalty = repetition_penalty
        self.seed = seed
        self.agent: TextRLAgent | None = None
        self._wrapped = model
        if self.model is not env.model:
            raise ConfigError("model is another than the environment's; give both the same")
        if compare_sample is not None:
            if compare_sample < 1:
                raise ConfigError(f"compare_sample={compare_sample} must be at least 1; raise it")
            env.compare_sample = compare_sample
        if env.unfreeze_layer_from_past not in (0, unfreeze_layer_from_past):
            _LOG.warning(
                "unfreeze_layer_from_past is %s for the environment and %s for the actor; the "
                "actor's counts",
                env.unfreeze_layer_from_past,
                unfreeze_layer_from_past,
            )
        _move(self.model, gpu_id)
        _choose_weights(self.model, model, unfreeze_layer_from_past)

    def agent_ppo(
        self,
        update_interval: int = 10,
        minibatch_size: int = 3000,
        epochs: int = 20,
        lr: float = 3e-6,
        *,
        gamma: float = 0.95,
        lambd: float = 1.0,
        epsilon: float = 0.2,
        entropy_coef: float = 0.0,
        value_coef: float = 1.0,
        max_grad_norm: float = 1.0,
    ) -> TextRLAgent:
        """An agent that learns by PPO; also kept as `agent`.

        Args:
            update_interval: steps (positions of tokens) that are stored before an update, which
                comes when the episodes that reach them are over.
            minibatch_size: steps a minibatch.
            epochs: how often an update goes through what is stored.
            lr: learning rate; that of an optimizer object goes before it.
            gamma: how much of a reward is left one token earlier.
            lambd: of generalised advantages (arXiv:1506.02438), lambda; 1 takes returns as they
                were.
            epsilon: how far a ratio may leave 1.
            entropy_coef: what entropy is worth in the loss.
            value_coef: what errors of values weigh in the loss.
            max_grad_norm: to which gradients are cut.

        Raises:
            ConfigError: a setting breaks a rule.
        """
        from drl.compat.textrl._learning import PPOKeywords
        from drl.compat.textrl.agent import Habits, TextRLAgent
        from drl.runtime.seeds import derive

        keywords = PPOKeywords(
            update_interval=update_interval,
            minibatch_size=minibatch_size,
            epochs=epochs,
            lr=lr,
            gamma=gamma,
            lambd=lambd,
            epsilon=epsilon,
            entropy_coef=entropy_coef,
            value_coef=value_coef,
            max_grad_norm=max_grad_norm,
        )
        learner = keywords.learner(self.model, self.optimizer, self.temperature, self.seed)
        habits = Habits(
            training=self._drawing(self.temperature),
            evaluation=self._drawing(self._evaluation_temperature),
            update_interval=update_interval,
            minibatch_size=minibatch_size,
        )
        seed = derive("textrl-draws", self.seed)
        self.agent = TextRLAgent(learner, habits, self._wrapped, seed)
        return self.agent

    def predict(self, input_item: Any) -> list[str]:
        """What the model writes for an item or a plain text, one for each candidate.

        Raises:
            ConfigError: the item holds no prompt, or one that leaves no room.
        """
        import torch

        from drl.compat.textrl._rollout import write
        from drl.runtime.seeds import derive

        self.model.eval()
        seed = derive("textrl-predict", self.seed)
        (written,) = write(
            self.model,
            self.env,
            [wrapped(input_item)],
            self._drawing(self._evaluation_temperature),
            torch.Generator().manual_seed(seed),
        )
        words = [[self.env.actions[token] for token in text.token_ids] for text in written.texts]
        return [self.tokenizer.convert_tokens_to_string(each) for each in words]

    @property
    def _evaluation_temperature(self) -> float:
        return 0.0 if self.act_deterministically else self.temperature

    def _drawing(self, temperature: float) -> Drawing:
        from drl.ppo.generate import Drawing

        return Drawing(
            max_tokens=self.env.env_max_length + 1,
            stop_ids=self.env.stop_ids,
            temperature=temperature,
            top_k=self.top_k,
            top_p=self.top_p,
            repetition_penalty=self.repetition_penalty,
        )


def _check_drawing(temperature: float, top_k: int, top_p: float, penalty: float) -> None:
    for name, value, is_fine, rule in (
        ("temperature", temperature, temperature > 0, "must be above 0; use 1"),
        ("top_k", top_k, top_k >= 0, "must not be negative; use 0 for all tokens"),
        ("top_p", top_p, 0 < top_p <= 1, "must lie in (0, 1]; use 1 for all tokens"),
        ("repetition_penalty", penalty, penalty > 0, "must be above 0; use 1 for none"),
    ):
        if not is_fine:
            raise ConfigError(f"{name}={value} {rule}")


def _move(model: PreTrainedModel, gpu_id: int) -> None:
    """Put a model on a GPU, if there is one and it is not on one yet."""
    import torch

    if gpu_id < 0 or model.device.type != "cpu" or not torch.cuda.is_available():
        return
    if gpu_id >= torch.cuda.device_count():
        raise ConfigError(
            f"gpu_id={gpu_id}, but there are {torch.cuda.device_count()} GPUs, numbered from 0"
        )
    model.to(torch.device("cuda", gpu_id))  # pyright: ignore[reportArgumentType] torch's stub lacks self


def _choose_weights(model: PreTrainedModel, wrapped: nn.Module, num_blocks: int) -> None:
    """Switch on the gradients of what learns."""
    from drl.compat.textrl.petals import RemoteTrunkModel
    from drl.ppo.trainable import train_only

    if isinstance(model, RemoteTrunkModel):
        if num_blocks:
            raise ConfigError(
                f"unfreeze_layer_from_past={num_blocks}, but the blocks of a remote trunk lie "
                "elsewhere; use 0 for the output layer alone"
            )
        model.requires_grad_(True)  # it holds nothing but the output layer
        return
    if adapted_by_peft(wrapped) is None:
        if num_blocks < 0:
            raise ConfigError(
                f"unfreeze_layer_from_past={num_blocks} must not be negative; use 0 for the output "
                "layer alone"
            )
        train_only(model, "last_blocks" if num_blocks else "lm_head", num_blocks)
        return
    if num_blocks:
        raise ConfigError(
            f"unfreeze_layer_from_past={num_blocks} together with an adapter of PEFT, which "
            "learns alone; leave it out, or give the model without adapter"
        )
    if not any(weight.requires_grad for weight in model.parameters()):
        raise ConfigError(
            "no weight of the adapter requires gradients; load it with is_trainable=True"
        )
