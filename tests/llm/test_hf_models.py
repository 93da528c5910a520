"""Architectures: those whose prefixes can be shared, and those that run in plain batches."""

import logging
from pathlib import Path

import pytest
import torch
import transformers
from transformers import AutoModelForCausalLM, PreTrainedConfig

from drl.llm._hf_attention import UnsupportedModelError
from drl.llm._hf_check import sharing_forward
from drl.llm._hf_softmax import Rule, merge, softmax_part, softmax_part_by_hand, visible
from drl.llm.base import LLM, Completions, Message, Request, Sampling
from tests.llm import tiny_model
from tests.llm.asking import ask, make, request

SIZES = {
    "vocab_size": tiny_model.VOCABULARY,
    "hidden_size": 32,
    "intermediate_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "max_position_embeddings": 2048,
    "bos_token_id": 256,
    "eos_token_id": tiny_model.END_ID,
    "pad_token_id": tiny_model.END_ID,
}
GROUPED = SIZES | {"num_key_value_heads": 2, "head_dim": 8}
SHARING: dict[str, PreTrainedConfig] = {
    "qwen3": transformers.Qwen3Config(**GROUPED),
    # windows that are shorter than the prompts, a soft limit on scores, sinks
    "mistral": transformers.MistralConfig(**GROUPED, sliding_window=40),
    "gemma2": transformers.Gemma2Config(**GROUPED, sliding_window=40),
    "gemma3": transformers.Gemma3TextConfig(**GROUPED, sliding_window=40),
    "gpt_oss": transformers.GptOssConfig(
        **GROUPED, sliding_window=40, num_local_experts=2, num_experts_per_tok=1
    ),
    # keys of another size than values
    "deepseek": transformers.DeepseekV3Config(
        **SIZES,
        num_key_value_heads=4,
        q_lora_rank=16,
        kv_lora_rank=16,
        qk_rope_head_dim=8,
        qk_nope_head_dim=8,
        v_head_dim=4,
        n_routed_experts=4,
        num_experts_per_tok=1,
        n_group=1,
        topk_group=1,
        moe_intermediate_size=16,
    ),
    # learned positions
    "gpt2": transformers.GPT2Config(
        vocab_size=tiny_model.VOCABULARY, n_embd=32, n_layer=2, n_head=4, n_positions=2048,
        bos_token_id=256, eos_token_id=tiny_model.END_ID,
    ),
}  # fmt: skip
PLAIN: dict[str, PreTrainedConfig] = {
    # a recurrent state, attention with biases by distance
    "mamba": transformers.MambaConfig(
        vocab_size=tiny_model.VOCABULARY, hidden_size=32, num_hidden_layers=2, state_size=4
    ),
    "bloom": transformers.BloomConfig(
        vocab_size=tiny_model.VOCABULARY, hidden_size=32, n_layer=2, n_head=4
    ),
}
SYSTEM = "You sell tickets. " + "Trains leave at ten, and again at noon. " * 12
RULE = Rule(0.3, None, None, None)


def save(config: PreTrainedConfig, folder: Path) -> Path:
    return tiny_model.save_tiny_model(folder, config)


def hf(folder: Path, **settings) -> LLM:
    return make("hf", **{"model": str(folder), "dtype": "float32", "device": "cpu", **settings})


def chats(temperature: float) -> list[Request]:
    """Enough with one beginning that it is read where it lies."""
    users = ["one to Ely", "two to Norwich, and back on Sunday", "3", "no, thanks", "hm"]
    return [
        request(
            messages=(Message("system", SYSTEM), Message("user", user)),
            seeds=(7, 8),
            sampling=Sampling(temperature, 10),
        )
        for user in users
    ]


def is_as_good_as_greedy(folder: Path, completions: Completions) -> bool:
    """Whether a plain forward pass finds each token likeliest, up to near ties."""
    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
    for choice in completions.choices:
        assert choice.sampled
        tokens = choice.sampled.token_ids
        with torch.inference_mode():
            logits = model(torch.tensor([choice.sampled.prompt_ids + tokens])).logits[0]
        logits = logits[-len(tokens) - 1 : -1]
        taken = logits.gather(1, torch.tensor(tokens)[:, None])[:, 0]
        if not (logits.max(-1).values - taken < 1e-3).all():
            return False
    return True


@pytest.mark.parametrize("name", SHARING)
def test_models_that_share_prefixes_answer_as_a_plain_forward_pass(name, tmp_path, caplog):
    folder = save(SHARING[name], tmp_path)
    answers = ask(hf(folder), *chats(0.0))
    assert not [record for record in caplog.records if "cannot be shared" in record.message]
    assert sum(answer.usage.tokens_cached for answer in answers) > 4 * len(SYSTEM)
    assert all(is_as_good_as_greedy(folder, answer) for answer in answers)


@pytest.mark.parametrize("name", PLAIN)
def test_other_models_answer_as_well_and_a_warning_says_that_it_is_slow(name, tmp_path, caplog):
    folder = save(PLAIN[name], tmp_path)
    with caplog.at_level(logging.WARNING):
        answers = ask(hf(folder, max_batch=4), *chats(0.0))
    assert "prompts cannot be shared in this model" in caplog.text
    assert all(answer.usage.tokens_cached == 0 for answer in answers)
    assert all(is_as_good_as_greedy(folder, answer) for answer in answers)


def test_plain_batches_draw_the_same_samples_as_shared_ones(tmp_path):
    # positions that depend on the length stand in the way of sharing, but change nothing here
    rope = {"rope_type": "dynamic", "factor": 1.0, "rope_theta": 10000.0}
    sharing = save(tiny_model.llama(), tmp_path / "sharing")
    plain = save(tiny_model.llama(rope_parameters=rope), tmp_path / "plain")
    wanted, found = (
        [[choice.text for choice in answer.choices] for answer in ask(hf(folder), *chats(1.0))]
        for folder in (sharing, plain)
    )
    assert found == wanted


def test_a_model_that_shares_wrongly_is_found_out(tmp_path):
    # a window that only the mask knows of
    model = AutoModelForCausalLM.from_pretrained(save(tiny_model.llama(), tmp_path))
    own = model.config._attn_implementation
    model.config.layer_types = ["sliding_attention", "full_attention"]
    model.config.sliding_window = 8
    with pytest.raises(UnsupportedModelError, match="how far back"):
        sharing_forward(model)
    assert model.config._attn_implementation == own


def random_part(size: int, seed: int) -> tuple[torch.Tensor, ...]:
    generator = torch.Generator().manual_seed(seed)
    return tuple(torch.randn(2, 3, number, 8, generator=generator) for number in (5, size, size))


def test_two_parts_of_the_keys_give_what_all_keys_give():
    q, k, v = random_part(12, seed=0)
    whole, lse = softmax_part(q, k, v, RULE, None)
    torch.testing.assert_close(whole, torch.softmax(q @ k.mT * 0.3, -1) @ v)
    torch.testing.assert_close(lse, (q @ k.mT * 0.3).logsumexp(-1))
    first = softmax_part(q, k[:, :, :7], v[:, :, :7], RULE, None)
    second = softmax_part(q, k[:, :, 7:], v[:, :, 7:], RULE, None)
    joined = merge(first, second)
    torch.testing.assert_close(joined.out, whole)
    torch.testing.assert_close(joined.lse, lse)


def test_a_part_that_is_all_masked_adds_nothing():
    q, k, v = random_part(6, seed=1)
    first = softmax_part(q, k, v, RULE, None)
    far = torch.arange(5) + 100
    nothing = softmax_part(q, k, v, RULE, visible(far, torch.arange(6), window=10))
    torch.testing.assert_close(merge(first, nothing).out, first[0])


@pytest.mark.parametrize("is_causal", [False, True])
def test_the_fused_kernel_and_the_products_by_hand_agree(is_causal):
    q, k, v = random_part(5, seed=2)
    order = torch.arange(5)
    mask = None if is_causal else visible(order, order, window=3)
    fused = softmax_part(q, k, v, RULE, mask, is_causal=is_causal)
    by_hand = softmax_part_by_hand(q, k, v, RULE, mask, is_causal=is_causal)
    torch.testing.assert_close(fused[0], by_hand[0])
    torch.testing.assert_close(fused[1], by_hand[1])
