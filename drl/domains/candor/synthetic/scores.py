"""survey.csv: what either person answered afterwards about the other.

The answer that counts, `overall_affect`, is the mean hidden reward of the other's turns in points,
with the rater's own strictness, the warmth of the conversation, and chance. Other impressions
follow it loosely; questions about oneself follow oneself.
"""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from drl.domains.candor.synthetic.people import Person
from drl.domains.candor.synthetic.settings import Settings

_MOMENTS: Final = ("overall", "begin", "middle", "end", "worst", "best")
_TRAITS: Final = (
    *("intelligent", "quickwitted", "competent", "kind", "friendly", "warm", "humble", "giving"),
    *("fair", "trustworthy", "agreeable", "playful", "funny", "polite", "good_listener"),
)
_SLIDERS: Final = ("conversationalist", "my_friends_like_you", "good_for_advice")
_IMPRESSIONS: Final = (
    *("how_enjoyable", "i_like_you", "you_like_me", "in_common", "next_seven_days"),
    *("i_felt_close_to_my_partner", "i_would_like_to_become_friends"),
    *("i_paid_attention_to_my_partner", "my_partner_paid_attention_to_me"),
    *("my_partner_was_clear_and_coherent", "interested_in_exchanging_contact_info"),
    *(f"you_are_{trait}" for trait in _TRAITS),
    *(f"you_think_i_am_{trait}" for trait in _TRAITS[:6]),
    *("responsive_1", "responsive_2", "responsive_3"),
    # of the eight items on a shared reality two names are published; the others are filled in
    "our_thoughts_synced_up_sr1",
    *(f"shared_reality_sr{number}" for number in range(2, 8)),
    "saw_world_in_same_way_sr8",
)
_ABOUT_ONESELF: Final = (
    *(f"i_am_{trait}" for trait in _TRAITS),
    *("topic_diversity", "turn_overlap_gap", "i_disclosed", "you_disclosed", "conv_leader"),
    *("conv_pace", "my_mind_wander", "your_mind_wander", "my_status", "your_status"),
    *(f"loneliness_{number}" for number in range(1, 4)),
)
_HOPED_FOR: Final = 0.4
"""Points by which people feel better before a conversation than after an average one."""
_DEVIATION: Final = 1.3
"""Points of `overall_affect` that its answers spread by, about; other impressions follow in it."""
_RACES: Final = ("asian", "black_or_african_american", "hispanic_or_latino", "white", "mixed")
_SCHOOLING: Final = ("high_school", "some_college", "bachelors", "masters", "doctorate")
_WORK: Final = ("employed", "self-employed", "student", "unemployed", "retired")


def answers(
    rewards: NDArray[np.float64],
    warmth: float,
    rater: Person,
    settings: Settings,
    random: np.random.Generator,
) -> dict[str, str | int]:
    """One row of the survey but for the keys: what a rater thinks of such turns of the other."""
    before = settings.score_base + _HOPED_FOR - rater.strictness
    fixed = before - _HOPED_FOR + warmth + float(random.normal(0, settings.score_noise))
    points = fixed + settings.score_gain * float(rewards.mean())
    row: dict[str, str | int] = {
        "pre_affect": _choice(before + random.normal(0, 0.8), 1, 9),
        "pre_arousal": _choice(random.normal(5, 1.5), 1, 9),
        "affect": _choice(points + random.normal(0, 0.5), 1, 9),
        "arousal": _choice(random.normal(5.5, 1.5), 1, 9),
    }
    for moment, value in zip(_MOMENTS, _moments(rewards, fixed, settings), strict=True):
        noise = 0.0 if moment == "overall" else float(random.normal(0, 0.3))
        row[f"{moment}_affect"] = _choice(value + noise, 1, 9)
        row[f"{moment}_arousal"] = _choice(random.normal(5.5, 1.4), 1, 9)
        row[f"{moment}_memory_rating"] = _choice(value + random.normal(-0.5, 1), 1, 9)
    liking = (points - settings.score_base) / _DEVIATION
    row |= {name: _choice(random.normal(70 + 14 * liking, 10), 0, 100) for name in _SLIDERS}
    row |= {name: _choice(random.normal(5 + 0.9 * liking, 0.7), 1, 7) for name in _IMPRESSIONS}
    row |= {name: _choice(random.normal(4.6, 1.2), 1, 7) for name in _ABOUT_ONESELF}
    return row | _person(rater, random)


def write(path: Path, conversation_id: str, rows: Sequence[tuple[Person, dict]]) -> None:
    """Write the two rows, with the keys before them."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["user_id", "convo_id", *rows[0][1]])
        writer.writerows([who.user_id, conversation_id, *row.values()] for who, row in rows)


def _moments(rewards: NDArray[np.float64], fixed: float, settings: Settings) -> list[float]:
    """In points: all of it, its three thirds, and its worst and best moment."""
    thirds = [float(part.mean()) if len(part) else 0.0 for part in np.array_split(rewards, 3)]
    means = [float(rewards.mean()), *thirds]
    gained = [settings.score_gain * each for each in means]
    return [fixed + each for each in gained] + [
        fixed + settings.score_gain * min(thirds) - 1,
        fixed + settings.score_gain * max(thirds) + 1,
    ]


def _person(rater: Person, random: np.random.Generator) -> dict[str, str | int]:
    place = int(rater.user_id[:8], 16)  # a person answers these the same each time
    return {
        "sex": rater.sex,
        "politics": 1 + place % 7,
        "race": _RACES[place % len(_RACES)],
        "edu": _SCHOOLING[place // 7 % len(_SCHOOLING)],
        "employ": _WORK[place // 35 % len(_WORK)],
        "age": rater.age,
        "how_know_partner": "stranger",
        "critical_positive": "They were easy to follow, and curious.",
        "critical_negative": "The sound dropped out once, nothing else.",
        "rest_of_day_open": "Dinner, and an early night." if random.random() < 0.5 else "",
    }


def _choice(value: float, lowest: int, highest: int) -> int:
    return int(np.clip(round(float(value)), lowest, highest))
