"""Small random encoders of each kind, as they lie in a folder, and settings that load them."""

import json
from dataclasses import replace
from pathlib import Path

import torch
from transformers import (
    AutoModel,
    BartConfig,
    BartForConditionalGeneration,
    BertConfig,
    BertForMaskedLM,
    PreTrainedConfig,
)

from drl.turn_reward.encoder import EncoderSettings
from drl.turn_reward.text_format import TextFormat
from tests.llm.tiny_model import END, END_ID, START, VOCABULARY, byte_tokenizer, llama

PLAIN = EncoderSettings(
    model="???",
    revision=None,
    pooling="auto",
    normalize=None,
    max_length=None,
    dtype="float32",
    device="cpu",
    batch_tokens=512,
    stored_as="float32",
)

FORMAT = TextFormat(
    max_turns=20,
    kept_turns=20,
    opening="first",
    agent_name="AI",
    listener_name="User",
    entry="{role}: {text}",
    response="{role}: {text}",
    separators=2,
)


def settings(folder: Path, **changes: object) -> EncoderSettings:
    """The encoder in a folder, used as its files say unless something else is."""
    return replace(PLAIN, model=str(folder), **changes)


def save_bert(folder: Path, **changes: int) -> Path:
    """A masked language model: its encoder has no pooler."""
    sizes = {
        "vocab_size": VOCABULARY,
        "hidden_size": 32,
        "intermediate_size": 64,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "max_position_embeddings": 96,
        "pad_token_id": END_ID,
    }
    config = BertConfig(**(sizes | changes))
    return _save(folder, BertForMaskedLM, config)


def save_bart(folder: Path) -> Path:
    """A summariser: encoder and decoder."""
    config = BartConfig(
        vocab_size=VOCABULARY,
        d_model=32,
        encoder_layers=2,
        decoder_layers=2,
        encoder_attention_heads=4,
        decoder_attention_heads=4,
        encoder_ffn_dim=64,
        decoder_ffn_dim=64,
        max_position_embeddings=96,
        bos_token_id=END_ID - 1,
        eos_token_id=END_ID,
        pad_token_id=END_ID,
        decoder_start_token_id=END_ID,
        forced_eos_token_id=None,
    )
    return _save(folder, BartForConditionalGeneration, config)


def save_decoder(folder: Path) -> Path:
    """A causal model."""
    return _save(folder, AutoModel, llama(max_position_embeddings=96))


def save_pooling(folder: Path, mode: str, *, normalize: bool) -> None:
    """What sentence-transformers writes beside a model of its own."""
    kinds = [("", "Transformer"), ("1_Pooling", "Pooling")]
    kinds += [("2_Normalize", "Normalize")] if normalize else []
    modules = [{"path": path, "type": f"sentence_transformers.models.{k}"} for path, k in kinds]
    (folder / "modules.json").write_text(json.dumps(modules))
    (folder / "1_Pooling").mkdir(exist_ok=True)
    (folder / "1_Pooling" / "config.json").write_text(json.dumps({mode: True}))
    (folder / "sentence_bert_config.json").write_text('{"max_seq_length": 64}')


def _save(folder: Path, kind: type, config: PreTrainedConfig) -> Path:
    torch.manual_seed(0)
    model = kind.from_config(config) if kind is AutoModel else kind(config)
    for weight in model.parameters():  # large enough that every token matters
        if weight.ndim == 2:
            torch.nn.init.normal_(weight, std=0.2)
    model.save_pretrained(folder)
    tokenizer = byte_tokenizer()
    tokenizer.add_special_tokens({"cls_token": START, "sep_token": END})
    tokenizer.save_pretrained(folder)
    return folder
