"""Adapters for tiny models."""

import warnings
from pathlib import Path

import torch
from peft import LoraConfig, get_peft_model
from transformers import AutoModelForCausalLM


def save_adapter(base: Path, folder: Path, *, size: float = 0.2, **settings: object) -> Path:
    """A LoRA adapter whose weights are random and of this size, so that it changes the model."""
    torch.manual_seed(0)
    model = AutoModelForCausalLM.from_pretrained(base, dtype=torch.float32)
    config = LoraConfig(**({"r": 4, "target_modules": ["q_proj", "v_proj"]} | settings))
    with warnings.catch_warnings():
        # peft 0.21 asks transformers 5.24 for it under an old name
        warnings.filterwarnings("ignore", "`is_gradient_checkpointing`", FutureWarning)
        adapted = get_peft_model(model, config)
    for name, weight in adapted.named_parameters():
        if "lora" in name:
            torch.nn.init.normal_(weight, std=size)
        elif weight.requires_grad:  # a module that was trained as a whole
            weight.data.add_(torch.randn_like(weight), alpha=size)
    adapted.save_pretrained(folder)
    return folder
