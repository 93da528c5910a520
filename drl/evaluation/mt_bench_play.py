"""Questions that were played and judged, as marks for tables and as lines of FastChat's files.

    model_answer/MODEL.jsonl           one line a question, with all trials as choices
    model_judgment/JUDGE_single.jsonl  one line a turn of the first trial: only that is judged there
    model_judgment/JUDGE_pair.jsonl    the same for comparisons

Equal trees give equal lines, so that writing them again changes nothing and doubles nothing.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from drl.domains.mt_bench.answer_file import answer_row
from drl.domains.mt_bench.questions import Question
from drl.evaluation.mt_bench import Mark, Outcome
from drl.tree.dialogue_tree import DialogueTree, Node
from drl.types import JSON, Role, StopReason

RATED = "judge"
COMPARED = "judge_pair"
"""The sources of what reward=judge says."""

UNANSWERED = "ERROR"
"""What FastChat writes in place of an answer that a model could not give."""

NO_SCORE = -1
"""What FastChat writes for a judgment without a rating; its tools leave such lines out."""

_OUTCOMES: Mapping[str, Outcome] = {"model_1": "win", "model_2": "loss", "tie": "tie"}

Detail = Mapping[str, JSON]
"""What a judge was asked and said about one turn, with its `source`."""


@dataclass(frozen=True, slots=True)
class Played:
    """One trial of a question: what was answered, turn by turn, and what a judge said of it.

    `answers` end early where the model's context was too small for more.
    """

    question: Question
    trial: int
    answers: tuple[str, ...]
    said: tuple[Detail, ...]

    @property
    def num_unanswered(self) -> int:
        """Turns without an answer."""
        return max(0, len(self.question.turns) - len(self.answers))

    def marks(self) -> list[Mark]:
        """What was said of each turn."""
        return [_mark(self, detail) for detail in self.said]

    def causes(self) -> list[str]:
        """Why turns could not be judged, one for each."""
        return [str(detail["cause"]) for detail in self.said if "cause" in detail]


def played(question: Question, tree: DialogueTree) -> Played | None:
    """What a tree without branches holds; None where the dialogue broke."""
    leaf = next(tree.leaves(), None)
    if leaf is None or leaf.stop is StopReason.ERROR:
        return None
    path = tree.path(leaf.id)
    answers = [
        node.turn.text or ""
        for node in path
        if node.turn.role is Role.AGENT and node.turn.failure is None
    ]
    said = tuple(detail for node in path for detail in _said(node))
    return Played(question, tree.trial, tuple(answers), said)


def answer_rows(games: Iterable[Played], model: str, tstamp: float) -> list[dict[str, JSON]]:
    """The lines of the file of answers, by question."""
    choices: dict[int, dict[int, tuple[str, ...]]] = defaultdict(dict)
    for game in games:
        missing = (UNANSWERED,) * game.num_unanswered
        choices[game.question.number][game.trial] = (*game.answers, *missing)
    return [
        answer_row(number, model, of_question, tstamp)
        for number, of_question in sorted(choices.items())
    ]


def single_rows(games: Iterable[Played], model: str, tstamp: float) -> list[dict[str, JSON]]:
    """The lines of the file of ratings, by question and turn."""
    return [
        {
            "question_id": game.question.number,
            "model": model,
            "judge": [detail["judge"], detail["prompt"]],
            "user_prompt": detail["user_prompt"],
            "judgment": detail["judgment"],
            "score": _score(detail["points"]),
            "turn": detail["turn"],
            "tstamp": tstamp,
        }
        for game, detail in _first_trials(games, RATED)
    ]


def pair_rows(games: Iterable[Played], model: str, tstamp: float) -> list[dict[str, JSON]]:
    """The lines of the file of comparisons, by question and turn; `model` is model 1."""
    return [
        {
            "question_id": game.question.number,
            "model_1": model,
            "model_2": detail["baseline"],
            "g1_winner": detail["g1_winner"],
            "g2_winner": detail["g2_winner"],
            "judge": [detail["judge"], detail["prompt"]],
            "g1_user_prompt": detail["g1_user_prompt"],
            "g1_judgment": detail["g1_judgment"],
            "g2_user_prompt": detail["g2_user_prompt"],
            "g2_judgment": detail["g2_judgment"],
            "turn": detail["turn"],
            "tstamp": tstamp,
        }
        for game, detail in _first_trials(games, COMPARED)
    ]


def _said(node: Node) -> list[Detail]:
    earned = [{"source": event.source, **event.detail} for event in node.events]
    return [each for each in (*earned, *node.unscored) if each.get("source") in (RATED, COMPARED)]


def _mark(game: Played, detail: Detail) -> Mark:
    question, turn = game.question, detail["turn"]
    assert isinstance(turn, int), "reward=judge counts turns"
    points = detail.get("points")
    return Mark(
        question=str(question.number),
        category=question.category,
        turn=turn,
        trial=game.trial,
        points=float(points) if isinstance(points, int | float) else None,
        outcome=_outcome(detail),
        agrees=detail.get("g1_winner") == detail.get("g2_winner"),
    )


def _outcome(detail: Detail) -> Outcome | None:
    """How a comparison ended: a tie where the orders do not agree, nothing where one is unread."""
    winners = [str(detail.get(f"g{game}_winner")) for game in (1, 2)]
    if any(winner not in _OUTCOMES for winner in winners):
        return None
    return _OUTCOMES[winners[0]] if winners[0] == winners[1] else "tie"


def _first_trials(games: Iterable[Played], source: str) -> Sequence[tuple[Played, Detail]]:
    found = [
        (game, detail)
        for game in games
        if game.trial == 0
        for detail in game.said
        if detail["source"] == source
    ]
    return sorted(found, key=lambda pair: (pair[0].question.number, str(pair[1]["turn"])))


def _score(points: JSON) -> JSON:
    """A whole number without its point, as FastChat reads it."""
    if not isinstance(points, int | float):
        return NO_SCORE
    return int(points) if float(points).is_integer() else points
