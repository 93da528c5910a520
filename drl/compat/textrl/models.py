"""Models as TextRL 1.0 loads them: policy, tokenizer and reference in one call.

Of a policy it loads what its config says it is: an encoder-decoder, a causal model, or where the
architecture can neither, a classifier with one score, which is what a reward model is.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from drl.errors import ConfigError
from drl.finetune.processes import num_processes

if TYPE_CHECKING:
    import torch
    from peft import PeftModel
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

    Model = PreTrainedModel | PeftModel

Kind = Literal["CAUSAL_LM", "SEQ_2_SEQ_LM", "SEQ_CLS"]
Quantization = Literal["4bit", "8bit"]
_LORA: Mapping[str, Any] = {"r": 16, "alpha": 32, "dropout": 0.05, "target_modules": "all-linear"}


class LoadedModel(NamedTuple):
    """What `load_model` gives; `ref` is a frozen copy, or None."""

    policy: PreTrainedModel | PeftModel
    tokenizer: PreTrainedTokenizerBase
    ref: PreTrainedModel | None


@dataclass(frozen=True, slots=True)
class _Source:
    """Where a model comes from, and how it is read."""

    name: str
    kind: Kind
    options: Mapping[str, Any]

    def load(self, seed: int) -> PreTrainedModel:
        """The model; a head that is not in its files is drawn from the seed."""
        import torch
        import transformers
        from safetensors import SafetensorError

        classes = {
            "CAUSAL_LM": transformers.AutoModelForCausalLM,
            "SEQ_2_SEQ_LM": transformers.AutoModelForSeq2SeqLM,
            "SEQ_CLS": transformers.AutoModelForSequenceClassification,
        }
        more = {"num_labels": 1} if self.kind == "SEQ_CLS" else {}
        with torch.random.fork_rng():
            torch.manual_seed(seed)
            try:
                return classes[self.kind].from_pretrained(self.name, **self.options, **more)
            except (OSError, ValueError, KeyError, ImportError, SafetensorError) as error:
                cause = " ".join(str(error).split())
                raise ConfigError(f"model={self.name} cannot be loaded ({cause})") from error


def load_model(
    name_or_path: str,
    peft: Mapping[str, Any] | None = None,
    quantization: Quantization | None = None,
    torch_dtype: torch.dtype | str = "auto",
    attn_implementation: str | None = None,
    trust_remote_code: bool = False,
    load_ref: bool = True,
    device_map: str | dict[str, Any] | None = "auto",
    *,
    reward_model: bool = False,
    seed: int = 42,
) -> LoadedModel:
    """A policy, its tokenizer, and a frozen copy for a reference; or a reward model.

    Args:
        name_or_path: an id on the hub, or a folder.
        peft: for an adapter: type (lora), r, alpha, dropout, target_modules; each may be left out.
        quantization: of the base below an adapter; 4bit is NF4, doubly quantised.
        torch_dtype: of the weights; auto is that of the files.
        attn_implementation: transformers' choice if None.
        trust_remote_code: let code from the hub run.
        load_ref: whether to load the copy. With `peft` there is none: the model without its
            adapter is the reference. Nor is there of a reward model.
        device_map: auto spreads a model over the GPUs of one process; of several processes, and
            without a GPU, it means none.
        reward_model: load a classifier with one score, whatever else the architecture can.
        seed: of the weights that no file holds: those of adapters and of new heads.

    Raises:
        ConfigError: it cannot be had, or the arguments do not fit together.
    """
    if quantization is not None and peft is None:
        raise ConfigError(
            f"quantization={quantization} without peft leaves nothing that can be trained; name "
            "an adapter, say peft={'type': 'lora'}"
        )
    options = _options(quantization, torch_dtype, attn_implementation, device_map)
    options["trust_remote_code"] = trust_remote_code
    lora = None if peft is None else _lora(peft)
    kind: Kind = "SEQ_CLS" if reward_model else _kind(name_or_path, trust_remote_code)
    source = _Source(name_or_path, kind, options)
    tokenizer = _tokenizer(name_or_path, trust_remote_code)
    policy = source.load(seed)
    policy.config.get_text_config().pad_token_id = tokenizer.pad_token_id
    if lora is not None:
        return LoadedModel(_with_adapter(policy, lora, kind, seed), tokenizer, None)
    if not load_ref or kind == "SEQ_CLS":
        return LoadedModel(policy, tokenizer, None)
    reference = source.load(seed)
    reference.config.get_text_config().pad_token_id = tokenizer.pad_token_id
    return LoadedModel(policy, tokenizer, reference.requires_grad_(False).eval())


def is_adapted(model: object) -> bool:
    """Whether a model is PEFT's."""
    from peft import PeftModel

    return isinstance(model, PeftModel)


def refuse_reference(model: object, ref_model: object | None) -> None:
    """Refuse a reference for a model that is one itself: without its adapter's later changes.

    Raises:
        ConfigError: both are given.
    """
    if ref_model is not None and is_adapted(model):
        raise ConfigError(
            "ref_model is given, but the model has an adapter, and is itself the reference as it "
            "starts; leave ref_model out"
        )


def check_decoder_only(model: Model, what: str) -> None:
    """Refuse a model that TRL's trainers of language models cannot train.

    Raises:
        ConfigError: it is an encoder-decoder, or has no head for words.
    """
    if model.config.is_encoder_decoder:
        raise ConfigError(
            f"{what}: the model is an encoder-decoder, which TRL does not train; use "
            "drl.compat.textrl.TextRLActor, which does"
        )
    if model.get_output_embeddings() is None:
        raise ConfigError(
            f"{what}: a {type(model).__name__} has no language-model head; name a causal model"
        )


def frozen_copy(model: Model) -> Any:
    """A copy of a model as it is now, for a reference.

    Raises:
        ConfigError: it is spread over devices, or some trainer has changed how it is called; what
            did so would go on calling the model itself.
    """
    import copy

    if any("forward" in vars(module) for module in model.modules()):
        raise ConfigError(
            "the reference cannot be copied from a model that is spread over devices or was "
            "trained before; load one and name it as ref_model"
        )
    return copy.deepcopy(model).requires_grad_(False).eval()


def _options(
    quantization: Quantization | None,
    dtype: torch.dtype | str,
    attention: str | None,
    device_map: str | dict[str, Any] | None,
) -> dict[str, Any]:
    """What `from_pretrained` is told of numbers and devices."""
    import torch

    options: dict[str, Any] = {"dtype": dtype}
    if attention is not None:
        options["attn_implementation"] = attention
    if device_map == "auto" and (num_processes() > 1 or not torch.cuda.is_available()):
        device_map = None
    if num_processes() > 1 and device_map is not None:
        raise ConfigError(
            f"device_map={device_map} with several processes, each of which has a device of its "
            "own; leave it out"
        )
    options["device_map"] = device_map
    if quantization is not None:
        options["quantization_config"] = _quantized(quantization)
    return options


def _quantized(quantization: Quantization) -> object:
    import torch
    from transformers import BitsAndBytesConfig
    from transformers.utils.import_utils import is_bitsandbytes_available

    if quantization not in ("4bit", "8bit"):
        raise ConfigError(f"quantization={quantization} must be 4bit, 8bit or None")
    if not (torch.cuda.is_available() and is_bitsandbytes_available()):
        raise ConfigError(
            f"quantization={quantization} needs a GPU and the package bitsandbytes; leave it out, "
            "or run pip install bitsandbytes on a machine with CUDA"
        )
    if quantization == "8bit":
        return BitsAndBytesConfig(load_in_8bit=True)
    return BitsAndBytesConfig(
        load_in_4bit=True,
        bnb_4bit_quant_type="nf4",
        bnb_4bit_use_double_quant=True,
        bnb_4bit_compute_dtype=torch.bfloat16,
    )


def _kind(name: str, trust_remote_code: bool) -> Kind:
    """What a model is, by its config."""
    from transformers import (
        MODEL_FOR_CAUSAL_LM_MAPPING,
        MODEL_FOR_SEQUENCE_CLASSIFICATION_MAPPING,
        AutoConfig,
    )

    try:
        config = AutoConfig.from_pretrained(name, trust_remote_code=trust_remote_code)
    except (OSError, ValueError, KeyError) as error:
        cause = " ".join(str(error).split())
        raise ConfigError(f"model={name} has no config that can be read ({cause})") from error
    if config.is_encoder_decoder:
        return "SEQ_2_SEQ_LM"
    is_known = type(config) in MODEL_FOR_SEQUENCE_CLASSIFICATION_MAPPING
    if is_known and type(config) not in MODEL_FOR_CAUSAL_LM_MAPPING:
        return "SEQ_CLS"
    return "CAUSAL_LM"


def _tokenizer(name: str, trust_remote_code: bool) -> PreTrainedTokenizerBase:
    """It pads on the left, with the token that ends texts where there is none for it."""
    from transformers import AutoTokenizer

    try:
        tokenizer = AutoTokenizer.from_pretrained(name, trust_remote_code=trust_remote_code)
    except (OSError, ValueError, KeyError) as error:
        cause = " ".join(str(error).split())
        raise ConfigError(f"model={name} has no tokenizer that can be read ({cause})") from error
    if tokenizer.pad_token is None:
        if tokenizer.eos_token is None:
            raise ConfigError(f"model={name}: its tokenizer has neither pad_token nor eos_token")
        tokenizer.pad_token = tokenizer.eos_token
    tokenizer.padding_side = "left"
    return tokenizer


def _lora(peft: Mapping[str, Any]) -> dict[str, Any]:
    """The settings of an adapter, with those that were left out."""
    settings = dict(peft)
    kind = settings.pop("type", "lora")
    if kind != "lora":
        raise ConfigError(f"peft.type={kind} must be lora")
    unknown = sorted(settings.keys() - _LORA.keys())
    if unknown:
        raise ConfigError(f"peft.{unknown[0]} is unknown; there are type, {', '.join(_LORA)}")
    return {**_LORA, **settings}


def _with_adapter(
    model: PreTrainedModel, lora: Mapping[str, Any], kind: Kind, seed: int
) -> PeftModel:
    import torch
    from peft import LoraConfig, get_peft_model

    config = LoraConfig(
        r=lora["r"],
        lora_alpha=lora["alpha"],
        lora_dropout=lora["dropout"],
        target_modules=lora["target_modules"],
        bias="none",
        task_type=kind,
    )
    with torch.random.fork_rng(), warnings.catch_warnings():
        torch.manual_seed(seed)
        # peft 0.21 asks transformers 5.24 for a setting under its old name
        warnings.filterwarnings("ignore", "`is_gradient_checkpointing`", FutureWarning)
        try:
            return get_peft_model(model, config)  # pyright: ignore[reportReturnType] not mixed
        except ValueError as error:
            raise ConfigError(f"peft does not fit {model.name_or_path} ({error})") from error
