"""What a policy said in places of recorded conversations, and what each reply is worth to whom."""

from __future__ import annotations

import json
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from drl.agent.base import Agent, Situation
from drl.environment.base import Environment
from drl.errors import ConfigError, DataError
from drl.evaluation.policy_course import HIDDEN, JUDGE, KL, PROXY, Reply
from drl.evaluation.reply_measures import distinct_pairs, num_words
from drl.llm.base import Weights, chat_text
from drl.runtime.run_dir import ROLLOUTS, RunDir
from drl.tree.store import read_trees
from drl.turn_reward.session import Utterance
from drl.types import Role, Task

if TYPE_CHECKING:
    from drl.evaluation.kl_to_start import WrittenText
    from drl.models.chat_template import ChatTemplate
    from drl.turn_reward.model import TurnRewardModel

_HUMAN_REPLIES = 512
"""How many tell how far rewards spread, about."""

_ALIKE = 1e-9


@dataclass(frozen=True, slots=True)
class Said:
    """The reply to a context. `is_cut`: a limit of tokens ended it."""

    task: Task
    text: str
    is_cut: bool

    @property
    def utterances(self) -> Sequence[Utterance]:
        """The context and the reply."""
        before = [Utterance(turn.role, turn.text or "") for turn in self.task.opening]
        return [*before, Utterance(Role.AGENT, self.text)]


class Measured(NamedTuple):
    """Replies with all that is known of them; broken ones are counted, and not among them."""

    replies: Sequence[Reply]
    num_broken: int


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


def unit_of(model: TurnRewardModel, tasks: Sequence[Task]) -> float:
    """The deviation of a model's rewards over what humans said in some of the contexts.

    Models differ in how far their rewards spread, and so does what a weight of the KL means beside
    them. It is rounded, so that it is the same where the last digits are not.

    Raises:
        ConfigError: the dataset does not tell what humans said.
        DataError: the model finds all of it alike.
    """
    some = tasks[:: max(1, len(tasks) // _HUMAN_REPLIES)]
    said = [Said(task, human_reply_to(task), is_cut=False).utterances for task in some]
    deviation = statistics.pstdev(model.rewards_of([(each, len(each) - 1) for each in said]))
    if deviation < _ALIKE:
        raise DataError(
            f"a turn reward model finds {len(some)} human replies alike (deviation {deviation:.2g})"
            ", so nothing can be learned from it; see the reports of stage-1 and stage-2, and train"
            " it longer or on more conversations"
        )
    return float(f"{deviation:.3g}")


def said_in(folder: Path, tasks: Sequence[Task]) -> tuple[list[Said], int]:
    """What was said in a run of single replies, and how many of its dialogues broke."""
    by_id = {task.id: task for task in tasks}
    found: list[Said] = []
    num_broken = 0
    for tree in read_trees(folder / ROLLOUTS):
        turn = next((n.turn for n in tree.nodes if n.turn.role is Role.AGENT), None)
        if turn is None or turn.failure is not None or turn.text is None:
            num_broken += 1
        else:
            is_cut = bool(turn.steps) and turn.steps[-1].is_cut
            found.append(Said(by_id[tree.task_id], turn.text, is_cut))
    return found, num_broken


def conversation_of(task: Task) -> str:
    """The conversation that a context is of.

    Raises:
        ConfigError: the dataset does not tell.
    """
    return _told(task, "conversation_id")


def human_reply_to(task: Task) -> str:
    """What a human said in this place.

    Raises:
        ConfigError: the dataset does not tell.
    """
    return _told(task, "human_reply")


def written(
    said: Sequence[Said], agent: Agent, environment: Environment, template: ChatTemplate
) -> list[WrittenText]:
    """The replies as tokens, after what the agent's model read before each."""
    from drl.evaluation.kl_to_start import WrittenText

    found = []
    for each in said:
        history = tuple(
            turn if turn.role is Role.AGENT else turn.public() for turn in each.task.opening
        )
        toolbox = environment.open(each.task).toolbox
        request = agent.request(Situation(history=history, steps=(), toolbox=toolbox, seed=0))
        prompt = chat_text(template, request.messages, request.tools, reply_follows=True)
        found.append(WrittenText(template.ids(prompt), template.ids(each.text), each.is_cut))
    return found


def distances(
    said: Sequence[Said],
    weights: Weights,
    adapter: Path,
    agent: Agent,
    environment: Environment,
    temperature: float,
) -> list[float]:
    """The distance to the start of each reply of the policy with this adapter, in nats."""
    from drl.evaluation.kl_to_start import kls_to_start
    from drl.models.adapter import put_in
    from drl.models.chat_template import ChatTemplate
    from drl.models.load import load_base

    loaded = load_base(weights.folder, weights.dtype, weights.device)
    policy = put_in(loaded.model, weights.folder, adapter)
    template = ChatTemplate(loaded.tokenizer, weights.chat_template)
    return kls_to_start(policy, written(said, agent, environment, template), temperature)


def keep(run_dir: RunDir, name: str, measured: Measured) -> None:
    """Store measured replies in a small file of the run."""
    replies = [asdict(reply) for reply in measured.replies]
    run_dir.write_json(name, {"num_broken": measured.num_broken, "replies": replies})


def kept(run_dir: RunDir, name: str) -> Measured | None:
    """What `keep` stored; None if it did not."""
    path = run_dir.path / name
    if not path.exists():
        return None
    read = json.loads(path.read_text(encoding="utf-8"))
    return Measured([Reply(**each) for each in read["replies"]], read["num_broken"])


def _told(task: Task, key: str) -> str:
    value = task.world.get(key) if isinstance(task.world, Mapping) else None
    if not isinstance(value, str):
        raise ConfigError(
            f"dataset: task {task.id} does not tell its {key}, which comparisons need; use "
            "dataset=candor"
        )
    return value
