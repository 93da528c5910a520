"""The text of a turn as an encoder reads it: what came before, and what the agent said then.

It is the one place that makes such texts, so a turn reads the same whether a reward is learned from
it, given to it in a rollout, or printed. Who turns text into tokens (`drl.turn_reward.encoder`)
cuts the context from the left where it is too long, and never the response.

The code released with GELI (arXiv:2403.11330) has four formats, one for each of its stages; they
stand in `RELEASED`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from hashlib import blake2b
from typing import Literal, NamedTuple

from drl.errors import ConfigError
from drl.runtime.settings import check_not_negative
from drl.turn_reward.session import Utterance
from drl.types import Role

Opening = Literal["first", "second", "agent"]


class TurnText(NamedTuple):
    """A turn in two parts; between them stand so many of the encoder's own separator tokens.

    Neither part holds special tokens: whatever looks like one in it is plain text.
    """

    context: str
    response: str
    separators: int


@dataclass(frozen=True, kw_only=True)
class TextFormat:
    """How a turn and what came before it are written down.

    The context is the last `max_turns` turns before the response, or, where there are more than
    that, the last `kept_turns`. `opening` is where it begins: with the first turn there is; with
    the second of the session, whose first is dropped; or with the agent's first within the context.
    Each turn is written as `entry`, which names {role} and {text}, and joined by one space to the
    next. The response is written as `response`, with {role} and {text} too.
    """

    max_turns: int
    kept_turns: int
    opening: Opening
    agent_name: str
    listener_name: str
    entry: str
    response: str
    separators: int

    def __post_init__(self) -> None:
        """Check the settings."""
        check_not_negative(
            None,
            max_turns=self.max_turns,
            kept_turns=self.kept_turns,
            separators=self.separators,
        )
        if self.kept_turns > self.max_turns:
            raise ConfigError(
                f"kept_turns={self.kept_turns} is more than max_turns={self.max_turns}; lower it"
            )
        for name, form in (("entry", self.entry), ("response", self.response)):
            _check_form(name, form)

    @property
    def digest(self) -> str:
        """A hash of all settings: what was made with another one is not comparable."""
        text = json.dumps(asdict(self), sort_keys=True)
        return blake2b(text.encode(), digest_size=8).hexdigest()

    def render(self, utterances: Sequence[Utterance], place: int) -> TurnText:
        """The text of the agent's turn at `place` of a dialogue.

        Raises:
            ValueError: it was not the agent who spoke there.
        """
        said = utterances[place]
        if said.role is not Role.AGENT:
            raise ValueError(f"turn {place} is the {said.role}'s, and only agents earn rewards")
        entries = (self._written(self.entry, each) for each in self._context(utterances, place))
        return TurnText(" ".join(entries), self._written(self.response, said), self.separators)

    def _context(self, utterances: Sequence[Utterance], place: int) -> Sequence[Utterance]:
        first = 1 if self.opening == "second" else 0
        num_before = max(0, place - first)
        num_kept = num_before if num_before <= self.max_turns else self.kept_turns
        kept = utterances[place - num_kept : place]
        if self.opening != "agent":
            return kept
        by_agent = (at for at, each in enumerate(kept) if each.role is Role.AGENT)
        return kept[next(by_agent, len(kept)) :]

    def _written(self, form: str, utterance: Utterance) -> str:
        name = self.agent_name if utterance.role is Role.AGENT else self.listener_name
        # not str.format: what people say holds braces too
        text = " ".join(utterance.text.split())
        return text.join(form.replace("{role}", name).split("{text}"))


def _check_form(name: str, form: str) -> None:
    if form.count("{text}") != 1:
        raise ConfigError(f"{name}={form!r} must hold {{text}} once; say '{{role}}: {{text}}'")


_GELI = TextFormat(
    max_turns=19,
    kept_turns=19,
    opening="first",
    agent_name="AI",
    listener_name="User",
    entry=" {role}: {text}",
    response="{role}: {text}",
    separators=1,
)

RELEASED: Mapping[str, TextFormat] = {
    "geli_training": _GELI,
    "geli_validation": TextFormat(**{**asdict(_GELI), "opening": "second"}),
    "li_training": TextFormat(
        **{
            **asdict(_GELI),
            "kept_turns": 9,  # of 20 entries with the response, else the last 10
            "response": " {role}: {text} AI:",  # the name at the end is an oversight there
            "separators": 2,
        }
    ),
    "rl_scoring": TextFormat(
        **{
            **asdict(_GELI),
            "max_turns": 20,  # of the prompt, in which the response is not yet
            "kept_turns": 10,
            "opening": "agent",
            "response": " {role}: {text}",
            "separators": 2,
        }
    ),
}
"""What the released code writes at each of its stages."""
