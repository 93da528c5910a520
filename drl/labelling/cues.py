"""What was seen and heard of a listener, in words.

Which cues there are is up to the dataset. Those with words of their own: `face` with `face_share`,
`gaze_share`, `pitch_z` and `intensity_z` of the reply (standard deviations from the person's own
mean), `backchannels`, `reply_latency_s`, `overlap_s`. Others are told by their name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import Final

from drl.types import JSON

USUAL_BELOW = 0.5
MUCH_FROM = 1.5
"""In standard deviations: closer is as usual, further is much."""


def describe(cues: Mapping[str, JSON], order: Random | None) -> str:
    """The cues in one line, in an order that is drawn or else always the same; "" without any."""
    told = [name for name, value in cues.items() if value is not None and name != "face_share"]
    if order is not None:
        order.shuffle(told)
    return "; ".join(_tell(name, cues[name], cues) for name in told)


def _tell(name: str, value: JSON, cues: Mapping[str, JSON]) -> str:
    if name == "face":
        share = cues.get("face_share")
        often = f", {share:.0%} of the time" if isinstance(share, float | int) else ""
        return f"face shows {value}{often}"
    if name in _NUMBERS and isinstance(value, float | int):
        return _NUMBERS[name](float(value))
    return f"{name.replace('_', ' ')}: {value}"


def _voice(words: Sequence[str]) -> Callable[[float], str]:
    """From standard deviations to words: for lower, for higher."""
    lower, higher = words

    def tell(deviations: float) -> str:
        if abs(deviations) < USUAL_BELOW:
            return f"replies neither {higher} nor {lower} than usual"
        much = "much " if abs(deviations) >= MUCH_FROM else ""
        return f"replies in a voice {much}{higher if deviations > 0 else lower} than usual"

    return tell


def _backchannels(count: float) -> str:
    return f"{count:.0f} short acknowledgement{'s' if count != 1 else ''}"


_NUMBERS: Final[Mapping[str, Callable[[float], str]]] = {
    "gaze_share": lambda share: f"looks at the screen {share:.0%} of the time",
    "pitch_z": _voice(("lower", "higher")),
    "intensity_z": _voice(("softer", "louder")),
    "backchannels": _backchannels,
    "reply_latency_s": lambda seconds: f"answers after {seconds:.1f} s",
    "overlap_s": lambda seconds: (
        f"talks over the last {seconds:.1f} s" if seconds > 0 else "lets the turn end"
    ),
}
