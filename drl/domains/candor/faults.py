"""What can be wrong with recordings: reasons to leave one out, and what was mended and is counted.

Real recordings have all of these. None stops a run: each is counted under the words below, and
named by conversation in the report of the data set.
"""

from __future__ import annotations

from collections import Counter
from enum import StrEnum
from typing import TypeAlias


class Reason(StrEnum):
    """Why a conversation, or one listener's session of it, is left out."""

    NO_TRANSCRIPT = "no transcript"
    EMPTY_TRANSCRIPT = "empty transcript"
    NO_SURVEY = "no survey"
    EMPTY_SURVEY = "empty survey"
    MISSING_COLUMN = "a column is missing"
    UNREADABLE = "an unreadable file"
    NOT_TWO_SPEAKERS = "not two speakers"
    SPEAKER_NOT_IN_SURVEY = "speaker not in the survey"
    DUPLICATE = "a conversation twice"
    TOO_FEW_TURNS = "too few turns"
    NO_SCORE = "no score"
    SCORE_OUTSIDE_SCALE = "score outside the scale"
    NO_FACE = "no face of the listener"
    CLOCKS_APART = "clocks of transcript and signals apart"


class Note(StrEnum):
    """What was mended, dropped or cut within a conversation that is used all the same."""

    OTHER_ENCODING = "files that are not UTF-8, read as Windows-1252"
    SHORT_ROWS = "rows with too few fields, dropped"
    LONG_ROWS = "rows with more fields than columns (texts with separators need quotes), dropped"
    QUOTED_ROWS = "rows that a stray quotation mark joined with those after them, dropped"
    DUPLICATE_TURN_IDS = "turns with an id that was there before, dropped"
    BAD_TURN_IDS = "turns whose id is no number, dropped"
    BAD_TIMES = "turns whose times are missing, reversed or no seconds with a point, dropped"
    EMPTY_TURNS = "turns without words or speaker, dropped"
    UNORDERED_TURNS = "transcripts that were not in the order of their ids, sorted"
    MERGED_TURNS = "rows merged into the turn before, by the same speaker"
    CUT_TURNS = "turns after the longest time allowed, cut"
    NO_METADATA = "metadata.json cannot be read, or tells no id"
    OTHER_ID = "metadata.json names another conversation than the folder does"
    DUPLICATE_ANSWERS = "people with several rows in the survey, the first kept"
    SCORE_OUTSIDE_SCALE = "scores outside the scale, taken as missing"
    NO_SIGNALS = "no file of signals, or none that can be read"
    BAD_SIGNAL_TIMES = "rows of signals whose time cannot be read, dropped"
    CUT_SIGNALS = "rows of signals after the longest time allowed, cut"
    DUPLICATE_SECONDS = "rows of signals for a second that was there before, dropped"
    NO_FACE_ROWS = "rows of signals without a complete face"
    CLOCKS_SHIFTED = "conversations whose signals were shifted in time"
    CLOCKS_UNKNOWN = "conversations whose clocks could not be compared"


Notes: TypeAlias = Counter[Note]


class UnusableError(Exception):
    """A recording cannot be used. `where` names the file, row or person; made to be counted."""

    def __init__(self, reason: Reason, where: str) -> None:
        super().__init__(reason, where)
        self.reason = reason
        self.where = where

    def __str__(self) -> str:
        return f"{self.reason}: {self.where}"
