"""The head that GELI's authors released: a pickle of a whole module, read without running it.

A pickle may name any function and have it called. So only the restricted unpickler of torch reads
it, with an allow-list in which plain stand-ins take the places of the classes that such a file
names; anything else in it is refused. The head is of no use without the encoder that it was trained
on, which is not in the file.
"""

from __future__ import annotations

import pickle
import re
import warnings
import zipfile
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from drl.errors import DataError
from drl.turn_reward.encoder import EncoderSettings
from drl.turn_reward.settings import HeadSettings
from drl.turn_reward.text_format import RELEASED

if TYPE_CHECKING:
    from torch import Tensor

    from drl.turn_reward.head import Params
    from drl.turn_reward.model import TurnRewardModel

_CLASS = "__main__.reward_function"
_PARTS = (
    "torch.nn.modules.linear.Linear",
    "torch.nn.modules.dropout.Dropout",
    "torch.nn.modules.activation.ReLU",
    "torch.nn.modules.activation.Tanh",
)
_FIRST_BYTES = (b"PK\x03\x04", b"\x80")
"""Of a zip file of torch, and of a bare pickle."""
_NAMED = re.compile(r"(?:GLOBAL |type )([\w.]*\w)")
"""What torch's refusal says that a file names."""


@dataclass(frozen=True, eq=False)
class ReleasedHead:
    """What such a file holds, as a head of ours."""

    settings: HeadSettings
    params: Params


class _Module:
    """Stands in for a module: it keeps what it is given, and does nothing."""


def is_released_head(file: Path) -> bool:
    """Whether it is a pickle, or an archive of torch with one in it.

    Raises:
        OSError: it cannot be read.
    """
    if not file.is_file():
        return False
    with file.open("rb") as opened:
        first = opened.read(4)
    if first == _FIRST_BYTES[0]:
        try:
            with zipfile.ZipFile(file) as archive:
                return any(name.endswith("/data.pkl") for name in archive.namelist())
        except Exception:  # damaged archives end in errors of all kinds; nothing is made of them
            return False
    return first.startswith(_FIRST_BYTES[1])


def read_released_head(file: Path) -> ReleasedHead:
    """The head in a file `reward1_*`, which has two linear layers, fc1 and fc2, and ends in tanh.

    Raises:
        DataError: it is no such file, or names what is not allowed.
    """
    module = _unpickled(file)
    try:
        weights = {
            f"{layer}.{name}": _parameter(module, layer, name)
            for layer in ("fc1", "fc2")
            for name in ("weight", "bias")
        }
    except (KeyError, TypeError) as error:
        raise _other(file, f"it lacks {error}") from error
    shapes = {name: tuple(weight.shape) for name, weight in weights.items()}
    hidden = shapes["fc1.bias"][0]
    wanted = {"fc1.weight": (hidden, shapes["fc1.weight"][-1]), "fc2.weight": (1, hidden)}
    if not {"fc2.bias": (1,), "fc1.bias": (hidden,), **wanted}.items() <= shapes.items():
        raise _other(file, f"its layers have the shapes {shapes}")
    settings = HeadSettings(
        kind="mlp",
        hidden=hidden,
        cells=1,
        dropout=0.2,
        scalar_dropout=0.2,  # of the finished reward, before tanh, as released
        tanh=True,
        standardise=False,
    )
    params = {
        "input.weight": weights["fc1.weight"].T.contiguous(),
        "input.bias": weights["fc1.bias"],
        "output.weight": weights["fc2.weight"][0].contiguous(),
        "output.bias": weights["fc2.bias"][0].clone(),
    }
    return ReleasedHead(settings, params)


def released_model(file: Path, encoder: str, stage: str) -> TurnRewardModel:
    """The head with the encoder that it was trained on, as a model that serves.

    Args:
        file: as of `read_released_head`.
        encoder: a folder or an id on the hub.
        stage: the format of the released code in which turns are written down.

    Raises:
        DataError: as `read_released_head`.
        ConfigError: the encoder cannot be had, or gives other numbers than the head reads.
    """
    from drl.turn_reward.model import TurnRewardModel
    from drl.turn_reward.scaling import ScoreScaling

    head = read_released_head(file)
    model = TurnRewardModel(
        encoder=EncoderSettings(
            model=encoder,
            revision=None,
            pooling="last_eos",
            normalize=False,
            max_length=1024,
            dtype="float32",
            device="auto",
            batch_tokens=16384,
            stored_as="float32",
        ),
        text_format=RELEASED[stage],
        head=head.settings,
        params=head.params,
        # 160 times the mean reward was held against ten times the score in points
        scaling=ScoreScaling(centre=0.0, scale=16.0, total="mean", length=None),
    )
    _ = model.loaded  # so an encoder that does not fit is told now
    return model


def _unpickled(file: Path) -> _Module:
    import torch

    stand_ins = [(_Module, name) for name in (_CLASS, *_PARTS)]
    try:
        allowed = torch.serialization.safe_globals([*stand_ins, OrderedDict, set])
        with allowed, warnings.catch_warnings():
            warnings.simplefilter("ignore")  # torch's, of files that are refused next
            module = torch.load(file, map_location="cpu", weights_only=True)
    except OSError as error:
        raise DataError(f"{file}: cannot be read ({error.strerror}); name another") from error
    except pickle.UnpicklingError as error:
        named = _NAMED.search(str(error))
        what = f"names {named[1]}" if named else "holds something"
        raise DataError(
            f"{file}: {what}, which the released head does not, so nothing in it was run; use the "
            "file that GELI's authors released"
        ) from error
    except Exception as error:  # files of other kinds end in errors of all kinds
        raise _other(file, "it cannot be read as one") from error
    if not isinstance(module, _Module):
        raise _other(file, f"it holds a {type(module).__name__}")
    return module


def _parameter(module: _Module, layer: str, name: str) -> Tensor:
    """A weight, by the names under which modules of torch keep it.

    Raises:
        KeyError: there is none.
        TypeError: what should hold it does not.
    """
    parts = _dictionary(module, "_modules")
    found = _dictionary(parts[layer], "_parameters")[name]
    from torch import Tensor

    num_axes = 2 if name == "weight" else 1
    if not isinstance(found, Tensor) or not _is_plain(found) or found.dim() != num_axes:
        raise TypeError(f"real numbers with {num_axes} axes in {layer}.{name}")
    values = found.detach().float()
    if not bool(values.isfinite().all()):
        raise TypeError(f"finite numbers in {layer}.{name}")
    return values


def _is_plain(values: Tensor) -> bool:
    """Whether it holds real numbers, one beside another."""
    import torch

    is_real = values.is_floating_point() and not values.is_quantized
    return is_real and values.layout == torch.strided and not values.is_meta and values.numel() > 0


def _dictionary(module: object, name: str) -> Mapping[str, object]:
    if not isinstance(module, _Module):
        raise TypeError(f"a module, but has a {type(module).__name__}")
    found = vars(module)[name]
    if not isinstance(found, Mapping):
        raise TypeError(f"a mapping {name}")
    return found


def _other(file: Path, cause: str) -> DataError:
    return DataError(
        f"{file}: is no head as GELI's authors released it ({cause}); name their file reward1_*"
    )
