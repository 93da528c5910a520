"""Frozen encoders: from the texts of turns to embeddings, the same whatever is embedded together.

Any model of transformers will do: encoders, of encoder-decoders the encoder alone, and decoders.
Weights are read from safetensors only: a pickle could run code.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Protocol

from drl.errors import ConfigError
from drl.models.one_at_a_time import LOADING
from drl.models.source import (
    PACKAGE,
    Device,
    DType,
    fingerprint,
    in_package,
    locate,
    resolve_device,
    resolve_dtype,
)
from drl.runtime.settings import check_positive
from drl.turn_reward.known_encoders import Usage, known_pooling, known_usage
from drl.turn_reward.pooling import Pooling, pool
from drl.turn_reward.text_format import TurnText
from drl.turn_reward.tokens import TurnTokenizer, TurnTokens, batches_by_length
from drl.types import JSON

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from torch import Tensor
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

_LONGEST = 4
"""Times `max_length` that a response may be long where the model itself knows no bound."""


class Encoder(Protocol):
    """What makes embeddings of turns."""

    @property
    def digest(self) -> str:
        """Equal for encoders that give the same embeddings."""
        ...

    @property
    def dimension(self) -> int:
        """How many numbers an embedding has."""
        ...

    @property
    def stored_as(self) -> Literal["float16", "float32"]:
        """The type that holds its embeddings without loss."""
        ...

    @property
    def num_cut(self) -> int:
        """How many responses so far were longer than it can read."""
        ...

    def embed(self, texts: Sequence[TurnText]) -> NDArray[np.float32]:
        """The embeddings [n, d] of n texts."""
        ...


@dataclass(frozen=True, kw_only=True)
class EncoderSettings:
    """An encoder by name, and how it is used.

    `model` is a folder, an id on the Hugging Face hub (at `revision`), or package:NAME for one that
    an installed package holds. With `pooling` auto, and `normalize` and `max_length` None, it is
    used as its files say; `drl.turn_reward.known_encoders` tells how. The context fills a text up
    to `max_length` tokens; a response may be longer, as far as the model goes. `batch_tokens` are
    computed at once, padding included: that changes time and memory only. Embeddings are rounded to
    `stored_as`, so that those of a store and fresh ones are the same.
    """

    model: str
    revision: str | None
    pooling: Literal["auto"] | Pooling
    normalize: bool | None
    max_length: int | None
    dtype: DType
    device: Device
    batch_tokens: int
    stored_as: Literal["float16", "float32"]

    def __post_init__(self) -> None:
        """Check the settings."""
        check_positive(None, batch_tokens=self.batch_tokens)
        if self.max_length is not None:
            check_positive(None, max_length=self.max_length)

    def load(self, beside: Path | None = None) -> LoadedEncoder:
        """The encoder itself.

        Args:
            beside: the folder that a relative path of `model` may begin from.

        Raises:
            ConfigError: its files cannot be had, are no safetensors, or do not fit the settings.
        """
        folder = self.folder(beside)
        device = resolve_device("encoder.device", self.device)
        dtype = resolve_dtype(self.dtype, device)
        model, tokenizer = _read(folder, dtype)
        usage = known_usage(folder, model, tokenizer)
        pooling = self.pooling if self.pooling != "auto" else known_pooling(folder, model)
        if model.config.is_encoder_decoder:
            model = model.get_encoder()  # the decoder is freed
        model.to(device)  # pyright: ignore[reportArgumentType] torch's stub lacks self
        return LoadedEncoder(self, pooling, usage, model, tokenizer, folder)

    def folder(self, beside: Path | None) -> Path:
        """Where its files lie; those of the hub are fetched if they are not here yet.

        Raises:
            ConfigError: they cannot be had.
        """
        if self.model.startswith(PACKAGE):
            return in_package("encoder.model", self.model.removeprefix(PACKAGE))
        if beside is not None and (beside / self.model).is_dir():
            return beside / self.model
        return locate("encoder.model", self.model, self.revision)


class LoadedEncoder:
    """An encoder in memory, in evaluation mode. `num_cut` counts responses that did not fit."""

    def __init__(
        self,
        settings: EncoderSettings,
        pooling: Pooling,
        usage: Usage,
        model: PreTrainedModel,
        tokenizer: PreTrainedTokenizerBase,
        folder: Path,
    ) -> None:
        self.settings = settings
        self.model = model.eval()
        self.num_cut = 0
        self.pooling: Pooling = pooling
        self.normalize = usage.normalize if settings.normalize is None else settings.normalize
        room = min(settings.max_length or usage.max_length, usage.longest or 1 << 62)
        longest = min(usage.longest or 1 << 62, _LONGEST * room)
        self._tokenizer = TurnTokenizer(tokenizer, room, longest, self.pooling == "last_eos")
        self._folder = folder

    @property
    def identity(self) -> Mapping[str, JSON]:
        """All that decides what it gives."""
        return {
            "weights": fingerprint(self._folder),
            "dtype": str(self.model.dtype).removeprefix("torch."),
            "pooling": self.pooling,
            "normalize": self.normalize,
            "max_length": self._tokenizer.room,
            "longest": self._tokenizer.longest,
            "stored_as": self.stored_as,
        }

    @property
    def digest(self) -> str:
        """A hash of `identity`."""
        text = json.dumps(self.identity, sort_keys=True)
        return blake2b(text.encode(), digest_size=8).hexdigest()

    @property
    def dimension(self) -> int:
        """How many numbers an embedding has."""
        size = self.model.config.get_text_config().hidden_size
        return size * (2 if self.pooling == "mean_parts" else 1)

    @property
    def stored_as(self) -> Literal["float16", "float32"]:
        """The type that holds its embeddings without loss."""
        return self.settings.stored_as

    def tokens(self, texts: Sequence[TurnText]) -> list[TurnTokens]:
        """The tokens of texts, as the model is given them."""
        return self._tokenizer.tokens(texts)

    def embed(self, texts: Sequence[TurnText]) -> NDArray[np.float32]:
        """The embeddings [n, d] of n texts: of each the same, whatever else is embedded with it.

        In float32 that is so up to 1e-5 of the largest number in it, before rounding.

        Raises:
            ConfigError: they are not finite in this precision.
        """
        import numpy as np
        import torch

        tokens = self.tokens(texts)
        self.num_cut += sum(each.is_cut for each in tokens)
        rows = np.empty((len(texts), self.dimension), dtype=np.float32)
        lengths = [len(each.ids) for each in tokens]
        with torch.inference_mode():
            for places in batches_by_length(lengths, self.settings.batch_tokens):
                rows[places] = self.pooled([tokens[place] for place in places]).cpu().numpy()
        with np.errstate(over="ignore"):  # what does not fit is refused below
            rows = rows.astype(self.stored_as).astype(np.float32)
        if not np.isfinite(rows).all():
            raise ConfigError(
                f"encoder.model={self.settings.model}: embeddings are not finite; set "
                "encoder.dtype=float32 and encoder.stored_as=float32"
            )
        return rows

    def pooled(self, tokens: Sequence[TurnTokens]) -> Tensor:
        """Embeddings float32 [n, d] of one batch, not rounded, with gradients where they are on."""
        import torch
        from torch.nn.functional import normalize
        from torch.nn.utils.rnn import pad_sequence

        device = self.model.device
        rows = [torch.tensor(each.ids) for each in tokens]
        ids_NL = pad_sequence(rows, batch_first=True).to(device)
        lengths_N = torch.tensor([len(row) for row in rows], device=device)
        starts_N = torch.tensor([each.response for each in tokens], device=device)
        places_L = torch.arange(ids_NL.shape[1], device=device)
        mask_NL = places_L < lengths_N.unsqueeze(1)
        response_NL = mask_NL & (places_L >= starts_N.unsqueeze(1))
        hidden_NLD = self.model(input_ids=ids_NL, attention_mask=mask_NL.long()).last_hidden_state
        embeddings_ND = pool(self.pooling, hidden_NLD, mask_NL, response_NL)
        return normalize(embeddings_ND, dim=-1) if self.normalize else embeddings_ND

    def save(self, folder: Path) -> None:
        """Write the model and its tokenizer as safetensors, for one that was trained further.

        An encoder-decoder is written whole, with the decoder that it came with.
        """
        whole, _ = _read(self._folder, "float32")
        part = whole.get_encoder() if whole.config.is_encoder_decoder else whole
        part.load_state_dict(self.model.state_dict())
        whole.save_pretrained(folder)
        self._tokenizer.tokenizer.save_pretrained(folder)


def _read(folder: Path, dtype: str) -> tuple[PreTrainedModel, PreTrainedTokenizerBase]:
    import torch
    from safetensors import SafetensorError
    from transformers import AutoModel, AutoTokenizer
    from transformers.utils import logging

    if not any(folder.glob("*.safetensors")):
        raise ConfigError(
            f"encoder.model={folder} holds no *.safetensors, and other weights are pickles; on the "
            "hub encoder.revision=refs/pr/1 often has them, else save the model in that form"
        )
    logging.disable_progress_bar()
    said = logging.get_verbosity()
    logging.set_verbosity_error()  # weights of a head that is not used are no news
    kind = torch.bfloat16 if dtype == "bfloat16" else torch.float32
    try:
        with LOADING:
            model, told = AutoModel.from_pretrained(
                folder,
                dtype=kind,
                local_files_only=True,
                use_safetensors=True,
                output_loading_info=True,
            )
        tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)
    except (OSError, ValueError, KeyError, ImportError, SafetensorError) as error:
        cause = " ".join(str(error).split())
        raise ConfigError(
            f"encoder.model={folder} cannot be loaded ({cause}); see its config.json"
        ) from error
    finally:
        logging.set_verbosity(said)
    missing = sorted(name for name in told["missing_keys"] if "pooler" not in name)
    if missing:
        raise ConfigError(
            f"encoder.model={folder} lacks weights, {missing[0]} the first of {len(missing)}; "
            "save the model whole"
        )
    return model, tokenizer
