"""Tiny random models with a few words, so that the examples run offline in seconds.

A name like gpt2 loads the real model instead.
"""

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors
from transformers import (
    AutoConfig,
    AutoModelForCausalLM,
    AutoModelForSeq2SeqLM,
    AutoTokenizer,
    GPT2Config,
    GPT2LMHeadModel,
    PreTrainedModel,
    PreTrainedTokenizerBase,
    PreTrainedTokenizerFast,
    T5Config,
    T5ForConditionalGeneration,
)
from transformers.utils import logging

GOOD = ["good", "great", "happy", "kind", "sunny", "warm"]
BAD = ["awful", "bad", "broken", "cold", "gloomy", "sad"]
OTHER = [
    "a", "and", "Dogecoin", "Elon", "explain", "film", "i", "is", "it", "Musk",
    "my", "of", "on", "review", "the", "this", "today", "weather", "write",
]  # fmt: skip
_SPECIAL = ["<pad>", "</s>", "<unk>"]
_IDS = {"pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 1}


def load(name: str, *, encoder_decoder: bool) -> tuple[PreTrainedModel, PreTrainedTokenizerBase]:
    """A model and its tokenizer: a tiny random one for the name tiny."""
    if name == "tiny":
        torch.manual_seed(0)
        logging.set_verbosity_error()  # random texts hold padding, of which it would warn
        return _t5() if encoder_decoder else _gpt2(), _tokenizer()
    encodes = AutoConfig.from_pretrained(name).is_encoder_decoder
    kind = AutoModelForSeq2SeqLM if encodes else AutoModelForCausalLM
    return kind.from_pretrained(name), AutoTokenizer.from_pretrained(name)


def sentiment(texts: list[str], classifier: str) -> list[float]:
    """How good texts sound, from -1 to 1: by their words for the name words, else by a model."""
    if classifier == "words":
        return [(_count(text, GOOD) - _count(text, BAD)) / len(text.split()) for text in texts]
    found = _pipeline(classifier)([text[:500] for text in texts], top_k=None)
    rows = [{each["label"].lower(): each["score"] for each in row} for row in found]
    return [row.get("positive", 0.0) - row.get("negative", 0.0) for row in rows]


_LOADED = {}


def _pipeline(name: str):
    if name not in _LOADED:
        from transformers import pipeline

        _LOADED[name] = pipeline("sentiment-analysis", model=name)
    return _LOADED[name]


def _count(text: str, words: list[str]) -> int:
    return sum(text.split().count(word) for word in words)


def _vocabulary() -> dict[str, int]:
    return {word: place for place, word in enumerate([*_SPECIAL, *GOOD, *BAD, *OTHER])}


def _tokenizer() -> PreTrainedTokenizerFast:
    """Each word is a token; they are joined by spaces."""
    whole = Tokenizer(models.WordLevel(_vocabulary(), unk_token="<unk>"))
    whole.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    whole.decoder = decoders.WordPiece(prefix="##")
    whole.post_processor = processors.TemplateProcessing(
        single="$A </s>", special_tokens=[("</s>", 1)]
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=whole, eos_token="</s>", pad_token="<pad>", unk_token="<unk>"
    )


def _gpt2() -> GPT2LMHeadModel:
    sizes = {"n_layer": 2, "n_head": 2, "n_embd": 32, "n_positions": 128}
    return GPT2LMHeadModel(GPT2Config(vocab_size=len(_vocabulary()), **sizes, **_IDS))


def _t5() -> T5ForConditionalGeneration:
    sizes = {"d_model": 32, "d_kv": 16, "d_ff": 64, "num_layers": 2, "num_heads": 2}
    config = T5Config(
        vocab_size=len(_vocabulary()),
        feed_forward_proj="gated-gelu",
        tie_word_embeddings=False,
        decoder_start_token_id=0,
        **sizes,
        **_IDS,
    )
    model = T5ForConditionalGeneration(config)
    with torch.no_grad():
        model.lm_head.weight *= 0.1  # else it would always write the same word
    return model
