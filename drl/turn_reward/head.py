"""Heads: from embeddings of a session's agent turns, in order, to one reward each.

Weights of many members lie in one tensor with a leading axis, so that all learn in one pass.
A head without that axis serves (`apply`).

Axes: M members, N turns of ragged sessions, D inputs, H hidden units, T turns of one session.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch
from torch import Generator, Tensor

from drl.turn_reward.ragged import Ragged, one_session
from drl.turn_reward.settings import HeadSettings

Params = dict[str, Tensor]

_SMALL = 0.01
"""What few sessions say nothing about should stay near 0, and a linear head learns from there too:
at full size chance outweighs what is learned until the best epoch."""

_INPUT = "input.weight"
"""The weights that read inputs, float [M, D, H], in every kind of head."""


def init(
    settings: HeadSettings, num_inputs: int, members: int, generators: Sequence[Generator]
) -> Params:
    """Fresh weights of `members` heads, each by its own generator (on the CPU).

    Linear layers begin uniformly within 1 / sqrt(fan in), as PyTorch has it, a linear head at a
    hundredth of that; RUDDER's cell begins with Xavier's normal weights and biases of 0.
    """
    if len(generators) != members:
        raise ValueError(f"{members} members need as many generators, not {len(generators)}")
    fresh = [_init_one(settings, num_inputs, generator) for generator in generators]
    return {name: torch.stack([one[name] for one in fresh]) for name in fresh[0]}


def raised(settings: HeadSettings, params: Mapping[str, Tensor], by_M: Tensor) -> Params:
    """Weights of linear or mlp heads whose outputs are larger by so much, before any tanh."""
    name = f"{_last_of(settings)}.bias"
    bias_M = params[name]
    return {**params, name: bias_M + by_M.to(bias_M).view(-1, *(1,) * (bias_M.dim() - 1))}


def apply(settings: HeadSettings, params: Mapping[str, Tensor], inputs: Tensor | Ragged) -> Tensor:
    """The rewards of one head without an axis of members, float [T], or [N] of ragged sessions.

    Args:
        settings: of the head.
        params: its weights.
        inputs: float [T, D] of one session's agent turns, in order; or of several sessions.
    """
    ragged = inputs if isinstance(inputs, Ragged) else one_session(inputs)
    alone = {name: weight[None] for name, weight in params.items()}
    return apply_members(settings, alone, ragged)[0]


def apply_members(
    settings: HeadSettings,
    params: Mapping[str, Tensor],
    ragged: Ragged,
    noise: Sequence[Generator] | None = None,
) -> Tensor:
    """The rewards that every member gives, float [M, N]; with `noise` there is dropout."""
    hidden_MNH = _first_layer(params, ragged.inputs_ND)
    if settings.kind == "linear":
        rewards_MN = hidden_MNH.squeeze(2)
    elif settings.kind == "mlp":
        hidden_MNH = _drop(hidden_MNH, settings.dropout, noise).relu()
        rewards_MN = _last_layer(params, hidden_MNH) + params["output.bias"][:, None]
    else:
        rewards_MN = _cell_rewards(params, hidden_MNH, ragged)
    rewards_MN = _drop(rewards_MN, settings.scalar_dropout, noise)
    return rewards_MN.tanh() if settings.tanh else rewards_MN


def member(params: Mapping[str, Tensor], number: int) -> Params:
    """The weights of one of the members."""
    return {name: weight[number].clone() for name, weight in params.items()}


def fold(
    settings: HeadSettings,
    params: Mapping[str, Tensor],
    mean_D: Tensor,
    deviation_D: Tensor,
    unit_M: Tensor,
) -> Params:
    """Weights that read raw inputs and give the rewards times `unit_M`.

    Args:
        settings: of the heads.
        params: weights for inputs with mean 0 and deviation 1.
        mean_D: float [D], of the raw inputs.
        deviation_D: float [D].
        unit_M: float [M]; all 1 where tanh bounds rewards.
    """
    folded = dict(params)
    folded[_INPUT] = params[_INPUT] / deviation_D[:, None]
    folded["input.bias"] = params["input.bias"] - _moved(mean_D, folded[_INPUT])
    return _rescaled(settings, folded, unit_M)


def unfold(
    settings: HeadSettings,
    params: Mapping[str, Tensor],
    mean_D: Tensor,
    deviation_D: Tensor,
    unit_M: Tensor,
) -> Params:
    """What `fold` was given, from what it gave."""
    params = _rescaled(settings, params, 1 / unit_M)
    params["input.bias"] = params["input.bias"] + _moved(mean_D, params[_INPUT])
    params[_INPUT] = params[_INPUT] * deviation_D[:, None]
    return params


def _moved(mean_D: Tensor, weight_MDH: Tensor) -> Tensor:
    """What the mean of the inputs adds to each hidden unit, float [M, H]."""
    return torch.einsum("d,mdh->mh", mean_D, weight_MDH)


def _rescaled(settings: HeadSettings, params: Mapping[str, Tensor], unit_M: Tensor) -> Params:
    """Heads whose rewards are `unit_M` times as large."""
    scaled = dict(params)
    layer = _last_of(settings)
    for name in (f"{layer}.weight", f"{layer}.bias"):
        shape = (-1,) + (1,) * (scaled[name].dim() - 1)
        scaled[name] = scaled[name] * unit_M.view(shape)
    return scaled


def _last_of(settings: HeadSettings) -> str:
    """The layer that gives the output; a linear head has but one."""
    return "input" if settings.kind == "linear" else "output"


def _init_one(settings: HeadSettings, num_inputs: int, generator: Generator) -> Params:
    if settings.kind == "linear":
        weight, bias = _linear(num_inputs, 1, generator)
        return {_INPUT: weight * _SMALL, "input.bias": bias * _SMALL}
    if settings.kind == "mlp":
        weight, bias = _linear(num_inputs, settings.hidden, generator)
        weight_2, bias_2 = _linear(settings.hidden, 1, generator)
        return {
            _INPUT: weight,
            "input.bias": bias,
            "output.weight": weight_2[:, 0],
            "output.bias": bias_2[0],
        }
    cells = settings.cells
    weight_2, bias_2 = _linear(cells, 1, generator)
    return {
        _INPUT: _xavier(num_inputs, cells, generator),
        "input.bias": torch.zeros(cells),
        "gate.weight": _xavier(cells, cells, generator),
        "gate.bias": torch.zeros(cells),
        "output.weight": weight_2[:, 0],
        "output.bias": bias_2[0],
    }


def _linear(fan_in: int, fan_out: int, generator: Generator) -> tuple[Tensor, Tensor]:
    bound = fan_in**-0.5
    weight = torch.empty(fan_in, fan_out).uniform_(-bound, bound, generator=generator)
    return weight, torch.empty(fan_out).uniform_(-bound, bound, generator=generator)


def _xavier(fan_in: int, fan_out: int, generator: Generator) -> Tensor:
    deviation = (2.0 / (fan_in + fan_out)) ** 0.5
    return torch.empty(fan_in, fan_out).normal_(0.0, deviation, generator=generator)


def _first_layer(params: Mapping[str, Tensor], inputs_ND: Tensor) -> Tensor:
    """Float [M, N, H]: one product for all members, as they read the same inputs."""
    weight_MDH = params[_INPUT]
    num_members, num_inputs, width = weight_MDH.shape
    side_by_side = weight_MDH.permute(1, 0, 2).reshape(num_inputs, num_members * width)
    out_NMH = (inputs_ND @ side_by_side).view(-1, num_members, width) + params["input.bias"]
    return out_NMH.transpose(0, 1)


def _last_layer(params: Mapping[str, Tensor], hidden_MNH: Tensor) -> Tensor:
    """Float [M, N]."""
    return torch.einsum("mnh,mh->mn", hidden_MNH, params["output.weight"])


def _cell_rewards(params: Mapping[str, Tensor], inputs_MNH: Tensor, ragged: Ragged) -> Tensor:
    """The differences of RUDDER's guesses g_t = w c_t + b from turn to turn, float [M, N].

    The cell only gathers, c_t = c_{t-1} + i_t * z_t: its input z_t = tanh(W x_t) sees the turn
    alone, its gate i_t = sigmoid(U c_{t-1}) what was gathered alone; nothing is forgotten, and
    nothing stands before the output. So a reward is w (i_t * z_t), with b in the first of them.

    Source: Arjona-Medina et al. 2019 (arXiv:1806.07857), as GELI configures it.
    """
    layout = ragged.layout
    cell_MNH = inputs_MNH.tanh()
    by_length_B = layout.lengths_B.argsort(descending=True, stable=True)
    lengths_B, starts_B = layout.lengths_B[by_length_B], layout.starts_B[by_length_B]
    num_members, _, width = cell_MNH.shape
    gathered_MBH = cell_MNH.new_zeros(num_members, layout.num_sessions, width)
    steps: list[Tensor] = []
    places: list[Tensor] = []
    for step in range(int(lengths_B[0])):
        going = int((lengths_B > step).sum())  # the longest sessions stand first
        place_B = starts_B[:going] + step
        gathered_MBH = gathered_MBH[:, :going]
        gate_MBH = torch.baddbmm(
            params["gate.bias"][:, None], gathered_MBH, params["gate.weight"]
        ).sigmoid()
        step_MBH = gate_MBH * cell_MNH[:, place_B]
        gathered_MBH = gathered_MBH + step_MBH
        steps.append(step_MBH)
        places.append(place_B)
    order_N = torch.cat(places).argsort()
    rewards_MN = _last_layer(params, torch.cat(steps, dim=1)[:, order_N])
    is_first_N = torch.zeros(layout.num_turns, device=rewards_MN.device, dtype=rewards_MN.dtype)
    is_first_N[layout.starts_B] = 1.0
    return rewards_MN + params["output.bias"][:, None] * is_first_N


def _drop(values_M: Tensor, rate: float, noise: Sequence[Generator] | None) -> Tensor:
    """Values with a share of them set to 0 and the others raised to make up for it."""
    if rate == 0.0 or noise is None:
        return values_M
    shape = values_M.shape[1:]
    random = torch.stack([torch.rand(shape, generator=generator) for generator in noise])
    return values_M * (random.to(values_M.device) >= rate) / (1.0 - rate)
