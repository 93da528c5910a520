"""How many conversations are generated, of which kind, and how strong each signal in them is."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from drl.errors import ConfigError


class Length(StrEnum):
    """How long the conversations are."""

    SHORT = "short"
    """24 to 40 turns of a dozen words: a whole set is embedded in minutes on a CPU."""
    LONG = "long"
    """About 160 turns of 11 s and half an hour in all, as in CANDOR."""


class Signal(StrEnum):
    """Where the hidden reward leaves traces. What is cut off follows a stranger's rewards instead,
    so that nothing else about it changes."""

    ALL = "all"
    NO_SCORES = "no_scores"
    NO_FACES = "no_faces"
    NO_TEXT = "no_text"
    NONE = "none"


@dataclass(frozen=True, kw_only=True)
class Settings:
    """What to generate. Points are of the nine-point scale; rewards lie within -1 and 1.

    Raises:
        ConfigError: a size is out of range.
    """

    # 40 held out, for an interval over conversations needs 30, and about 125 to learn from. Their
    # 6,400 turns take a small encoder a few minutes on two cores, and 42 MB of disk.
    conversations: int = 200
    seed: int = 0
    length: Length = Length.SHORT
    signal: Signal = Signal.ALL

    # Twice the usual tenth: the set is a tenth of CANDOR, and 30 are needed. `dataset=candor` reads
    # the share in the manifest and splits by it.
    held_out_share: float = 0.2
    # CANDOR's people take part in 2.3 conversations; a rater's habits repeat in each.
    conversations_per_person: float = 2.3
    # Of the seats in held-out conversations so many go to people of training conversations, so
    # that a split has some to drop. More would cost most of a small training part.
    shared_seats: float = 0.1

    # A person picks moves by exp(tact * reward): at 0 blindly. The spread makes sessions differ:
    # their mean rewards have a standard deviation of 0.28, half that of single turns.
    tact_mean: float = 1.3
    tact_spread: float = 1.1
    tact_change: float = 0.6  # of one person between conversations

    # CANDOR's overall_affect lies about here and has a deviation of 1.3 points or so. With these
    # the true mean reward has a rank correlation of about 0.7 with the score: a session score is
    # mostly, and never only, what was said.
    score_base: float = 6.0
    score_gain: float = 3.6
    rater_spread: float = 0.6
    warmth_spread: float = 0.4  # of a conversation: both scores, and a little in both faces
    score_noise: float = 0.4

    # Logits of the face classes. A turn of hidden reward above 0 is told from the others by the
    # label of its face with an area under the curve of about 0.72: involuntary is not infallible.
    smile_gain: float = 6.5
    polite_chance: float = 0.1  # a smile out of manners; jokes and cheers get it thrice as often
    polite_gain: float = 2.5
    face_noise: float = 0.8
    turn_noise: float = 0.6  # a mood of the face that lasts a turn
    faceless_rows: float = 0.05  # seconds without a found face: empty cells

    def __post_init__(self) -> None:
        """Refuse sizes that cannot be generated."""
        if self.conversations < 4:
            raise ConfigError(
                f"conversations={self.conversations} is too few for two parts; use at least 4"
            )
        if not 0 < self.held_out_share < 1:
            raise ConfigError(
                f"held_out_share={self.held_out_share} must lie between 0 and 1; use 0.2"
            )

    @property
    def held_out(self) -> int:
        """How many conversations are held out: at least one."""
        return max(1, round(self.held_out_share * self.conversations))
