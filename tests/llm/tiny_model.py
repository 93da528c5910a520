"""Small random models with a tokenizer of bytes and a chat template, saved as real ones are."""

from pathlib import Path

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import (
    AutoModelForCausalLM,
    LlamaConfig,
    PreTrainedConfig,
    PreTrainedTokenizerFast,
)

START, END = "<|start|>", "<|end|>"
TEMPLATE = (
    "{% for m in messages %}<|start|>{{ m.role }}\n{{ m.content }}<|end|>{% endfor %}"
    "{% if add_generation_prompt %}<|start|>assistant\n{% endif %}"
)
END_ID = 257
VOCABULARY = 258


def save_tiny_model(
    folder: Path,
    config: PreTrainedConfig | None = None,
    template: str | None = TEMPLATE,
    seed: int = 0,
) -> Path:
    """A model and its tokenizer in a folder; a two-layer Llama unless a config is given."""
    torch.manual_seed(seed)
    model = AutoModelForCausalLM.from_config(config or llama(), dtype=torch.float32)
    for weight in model.parameters():  # large enough that tokens are far from equally likely
        if weight.ndim == 2:
            torch.nn.init.normal_(weight, std=0.2)
    model.generation_config.eos_token_id = END_ID
    model.save_pretrained(folder)
    tokenizer = byte_tokenizer()
    tokenizer.chat_template = template
    tokenizer.save_pretrained(folder)
    return folder


def llama(**changes: object) -> LlamaConfig:
    """Two layers, four heads of which two share keys, room for 2,048 tokens."""
    settings = {
        "vocab_size": VOCABULARY,
        "hidden_size": 32,
        "intermediate_size": 64,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "max_position_embeddings": 2048,
        "bos_token_id": 256,
        "eos_token_id": END_ID,
        "pad_token_id": END_ID,
    }
    return LlamaConfig(**(settings | changes))


def byte_tokenizer() -> PreTrainedTokenizerFast:
    """Each byte is a token, in the order of the byte alphabet; two more begin and end messages."""
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    tokenizer = Tokenizer(models.BPE({letter: i for i, letter in enumerate(alphabet)}, []))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, bos_token=START, eos_token=END, pad_token=END
    )
