"""What each reply of a stage is worth to whom, measured once: it is kept beside the stages."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from drl.dataset.base import SessionDataset
from drl.evaluation.policy_course import HIDDEN, JUDGE, KL, PROXY, Reply
from drl.evaluation.reply_measures import distinct_pairs, num_words, sentiment_lexicon
from drl.runtime.run_dir import RunDir
from drl.trainer._online import temperature_of
from drl.trainer._policy_distance import distances
from drl.trainer._policy_replies import Said, conversation_of, said_in
from drl.trainer._policy_stages import Stages
from drl.trainer.base import Parts, chosen
from drl.turn_reward.session import Utterance
from drl.types import Task

if TYPE_CHECKING:
    from drl.turn_reward.model import TurnRewardModel


class Measured(NamedTuple):
    """Replies with all that is known of them; broken ones are counted, and not among them."""

    replies: Sequence[Reply]
    num_broken: int


@dataclass
class Measuring:
    """Holds the models that measure; they are loaded when there is something to measure."""

    parts: Parts
    run_dir: RunDir
    stages: Stages

    def replies(self, folder: Path, tasks: Sequence[Task], update: int) -> Measured:
        """All that is known of the replies in a folder.

        Args:
            folder: of a stage.
            tasks: its contexts.
            update: which policy replied; 0 is the start.
        """
        name = f"measured-{'-'.join(folder.relative_to(self.stages.folder).parts)}.json"
        known = _kept(self.run_dir, name)
        if known is not None:
            return known
        said, num_broken = said_in(folder, tasks)
        adapter = self.stages.adapter(update)
        kls = [0.0] * len(said)
        if adapter is not None and said:
            parts = self.parts
            agent, environment = chosen(parts.agent), chosen(parts.environment)
            temperature = temperature_of(parts, tasks[0])
            weights = chosen(parts.llm).weights()
            kls = distances(said, weights, adapter, agent, environment, temperature)
        measured = Measured(self._rulers.measure(said, kls), num_broken)
        _keep(self.run_dir, name, measured)
        return measured

    @cached_property
    def _rulers(self) -> Rulers:
        from drl.evaluation.hidden_worth import hidden_worth
        from drl.turn_reward.model import TurnRewardModel

        dataset = chosen(self.parts.dataset)
        is_synthetic = isinstance(dataset, SessionDataset) and dataset.is_synthetic
        return Rulers(
            proxy=TurnRewardModel.load(self.stages.reward_model),
            judge=TurnRewardModel.load(self.stages.judge),
            proxy_unit=self.stages.unit("reward_model"),
            judge_unit=self.stages.unit("judge"),
            hidden=hidden_worth if is_synthetic else None,
            sentiment=sentiment_lexicon(),
        )


@dataclass(frozen=True, slots=True)
class Rulers:
    """What tells of a reply what it is worth; None is not there.

    `hidden` tells the true worth of a turn of generated conversations, or None where it answers
    none of their turns; `sentiment` is of a text. Rewards of models are told in their units.
    """

    proxy: TurnRewardModel
    judge: TurnRewardModel
    proxy_unit: float
    judge_unit: float
    hidden: Callable[[Sequence[Utterance], int], float | None] | None
    sentiment: Callable[[str], float] | None

    def measure(self, said: Sequence[Said], kls: Sequence[float]) -> list[Reply]:
        """All measures of all replies; `kls` are their distances to the start."""
        asked = [(each.utterances, len(each.utterances) - 1) for each in said]
        proxy, judge = self.proxy.rewards_of(asked), self.judge.rewards_of(asked)
        rows = zip(said, asked, proxy, judge, kls, strict=True)
        return [
            Reply(
                each.task.id,
                conversation_of(each.task),
                each.text,
                {
                    PROXY: by_proxy / self.proxy_unit,
                    JUDGE: by_judge / self.judge_unit,
                    HIDDEN: None if self.hidden is None else self.hidden(*place),
                    KL: kl,
                    "sentiment": None if self.sentiment is None else self.sentiment(each.text),
                    "words": float(num_words(each.text)),
                    "distinct_pairs": distinct_pairs(each.text),
                },
            )
            for each, place, by_proxy, by_judge, kl in rows
        ]


def _keep(run_dir: RunDir, name: str, measured: Measured) -> None:
    """Store measured replies in a small file of the run."""
    replies = [asdict(reply) for reply in measured.replies]
    run_dir.write_json(name, {"num_broken": measured.num_broken, "replies": replies})


def _kept(run_dir: RunDir, name: str) -> Measured | None:
    """What `_keep` stored; None if it did not."""
    path = run_dir.path / name
    if not path.exists():
        return None
    read = json.loads(path.read_text(encoding="utf-8"))
    return Measured([Reply(**each) for each in read["replies"]], read["num_broken"])
