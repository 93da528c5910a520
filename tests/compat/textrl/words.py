"""Tiny models of all kinds with a tokenizer of words, and environments whose rewards are rules."""

import warnings
from pathlib import Path

import torch
from peft import LoraConfig, PeftModel, get_peft_model
from ppo.models import SIZE, make
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors
from transformers import PreTrainedModel, PreTrainedTokenizerFast

from drl.compat.textrl import TextRLActor, TextRLEnv

WORDS = ["<pad>", "<s>", "</s>", *(f"w{number}" for number in range(3, SIZE))]
END = 2
PROMPTS = [{"input": "w11 w12 w13"}, {"input": "w14"}, {"input": "w5 w6 w7"}]


def tokenizer(size: int = SIZE) -> PreTrainedTokenizerFast:
    """Each word is a token; special tokens put the end behind a text."""
    known = {word: token for token, word in enumerate(WORDS[:size])}
    whole = Tokenizer(models.WordLevel(known, unk_token="w3"))
    whole.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    whole.decoder = decoders.Sequence([decoders.Replace("w", " w"), decoders.Fuse()])
    whole.post_processor = processors.TemplateProcessing(
        single="$A </s>", special_tokens=[("</s>", END)]
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=whole, bos_token="<s>", eos_token="</s>", pad_token="<pad>"
    )


def adapted(kind: str, target_modules: list[str]) -> PeftModel:
    """A model with an adapter that changes something from the start."""
    config = LoraConfig(
        r=2,
        target_modules=target_modules,
        init_lora_weights=False,
        fan_in_fan_out=kind == "gpt2",
    )
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "`is_gradient_checkpointing`", FutureWarning)
        return get_peft_model(make(kind), config)


def saved(kind: str, folder: Path) -> Path:
    """A model of a kind with its tokenizer."""
    make(kind).save_pretrained(folder)
    tokenizer().save_pretrained(folder)
    return folder


class Ruled(TextRLEnv):
    """Pays candidates for their last token what `worth` says; keeps what it was called with."""

    calls: list[tuple[object, list[list[str]], bool]]

    def worth(self, word: str) -> float:
        return float(word[1:]) / 10 if word.startswith("w") else 0.0

    def get_reward(self, input_item, predicted_list, finish):
        self.__dict__.setdefault("calls", []).append(
            (input_item, [list(words) for words in predicted_list], finish)
        )
        return [self.worth(words[-1]) for words in predicted_list]


def built(kind="gpt2", env_class=Ruled, items=PROMPTS, actor=None, **settings):
    """An environment and an actor on a model with large random weights."""
    model, words = make(kind), tokenizer()
    env = env_class(model, words, items, **{"max_length": 6, "compare_sample": 2, **settings})
    return env, TextRLActor(env, model, words, **(actor or {}))


def weights(model: PreTrainedModel) -> dict[str, torch.Tensor]:
    """A copy of all weights."""
    return {name: weight.detach().clone() for name, weight in model.named_parameters()}
