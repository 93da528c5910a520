"""Tiny random models of several kinds, and trajectories for them."""

import torch
from transformers import (
    BartConfig,
    BartForConditionalGeneration,
    BloomConfig,
    BloomForCausalLM,
    Gemma2Config,
    Gemma2ForCausalLM,
    GPT2Config,
    GPT2LMHeadModel,
    LlamaConfig,
    LlamaForCausalLM,
    OPTConfig,
    OPTForCausalLM,
    PreTrainedModel,
    T5Config,
    T5ForConditionalGeneration,
)

from drl.ppo.settings import CriticSettings, PPOSettings
from drl.ppo.trajectory import Trajectory, TurnRecord
from drl.types import Sampled

SIZE = 40
IDS = {"bos_token_id": 1, "eos_token_id": 2, "pad_token_id": 0}
ATTENTION = {"num_hidden_layers": 2, "num_attention_heads": 2}
T5 = {
    "vocab_size": SIZE,
    "d_model": 16,
    "d_kv": 8,
    "d_ff": 32,
    "num_layers": 2,
    "num_heads": 2,
    "decoder_start_token_id": 0,
    "eos_token_id": 2,
    "pad_token_id": 0,
}

KINDS = {
    "gpt2": lambda: GPT2LMHeadModel(
        GPT2Config(vocab_size=SIZE, n_layer=2, n_head=2, n_embd=16, n_positions=64, **IDS)
    ),
    "llama": lambda: LlamaForCausalLM(
        LlamaConfig(vocab_size=SIZE, hidden_size=16, intermediate_size=32, **ATTENTION, **IDS)
    ),
    "bloom": lambda: BloomForCausalLM(
        BloomConfig(vocab_size=SIZE, hidden_size=16, n_layer=2, n_head=2, **IDS)
    ),
    "opt": lambda: OPTForCausalLM(
        OPTConfig(
            vocab_size=SIZE,
            hidden_size=16,
            ffn_dim=32,
            word_embed_proj_dim=8,
            max_position_embeddings=64,
            **ATTENTION,
            **IDS,
        )
    ),
    "gemma2": lambda: Gemma2ForCausalLM(
        Gemma2Config(
            vocab_size=SIZE,
            hidden_size=16,
            intermediate_size=32,
            num_key_value_heads=1,
            head_dim=8,
            final_logit_softcapping=2.0,
            **ATTENTION,
            **IDS,
        )
    ),
    "t5": lambda: T5ForConditionalGeneration(T5Config(**T5)),
    "flan_t5": lambda: T5ForConditionalGeneration(
        T5Config(**T5, feed_forward_proj="gated-gelu", tie_word_embeddings=False)
    ),
    "bart": lambda: BartForConditionalGeneration(
        BartConfig(
            vocab_size=SIZE,
            d_model=16,
            encoder_layers=2,
            decoder_layers=2,
            encoder_attention_heads=2,
            decoder_attention_heads=2,
            encoder_ffn_dim=32,
            decoder_ffn_dim=32,
            max_position_embeddings=64,
            decoder_start_token_id=2,
            forced_eos_token_id=None,
            **IDS,
        )
    ),
}


def make(kind: str, seed: int = 0) -> PreTrainedModel:
    """A model with weights large enough that tokens are far from equally likely."""
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        model = KINDS[kind]().eval()
        for weight in model.parameters():
            if weight.ndim == 2:
                torch.nn.init.normal_(weight, std=0.3)
    return model


def settings(**changes: object) -> PPOSettings:
    """Plain PPO without any extra; one step an update."""
    plain = {
        "level": "turn",
        "gamma": 1.0,
        "lam": 0.95,
        "baseline": "critic",
        "whiten": False,
        "mean_over": "token",
        "epochs": 1,
        "minibatches": 1,
        "micro_batch_tokens": 4096,
        "clip": 0.2,
        "value_clip": None,
        "value_weight": 0.5,
        "entropy_weight": 0.0,
        "kl_weight": 0.0,
        "kl_as": "reward",
        "kl_estimator": "k3",
        "target_kl": None,
        "optimizer": "sgd",
        "learning_rate": 0.1,
        "value_learning_rate": 0.1,
        "weight_decay": 0.0,
        "max_grad_norm": 1e9,
    }
    return PPOSettings(**(plain | changes))


def critic(**changes: object) -> CriticSettings:
    """A linear head on the shared trunk."""
    return CriticSettings(**({"kind": "shared", "head": "linear", "detach": False} | changes))


def call(prompt: list[int], text: list[int]) -> Sampled:
    """A model call whose sampler's log-probabilities do not matter."""
    return Sampled(tuple(prompt), tuple(text), (0.0,) * len(text))


def dialogue(prompt: list[int], *turns: tuple[list[int], float], group: str = "g") -> Trajectory:
    """Turns of one call each that go on from one another, with two tokens of a user in between."""
    context, records = list(prompt), []
    for text, reward in turns:
        records.append(TurnRecord((call(context, text),), reward))
        context = [*context, *text, 5, 6]
    return Trajectory(tuple(records), group)
