"""How much memory heads take that learn on as many turns as CANDOR has."""

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Final

import numpy as np

from drl.trainer.reward_model import RewardModelTrainer
from drl.turn_reward.fit import fit
from drl.turn_reward.member import Member
from drl.turn_reward.ragged import Corpus, Truth
from drl.turn_reward.settings import HeadSettings
from drl.turn_reward.store import EmbeddingStore

CONVERSATIONS: Final = 1656
AGENT_TURNS: Final = 80
"""Of 160 turns of a conversation either person has half."""
WIDTH: Final = 384
EPOCHS: Final = 2
SEED: Final = 1


def memory(trainer: RewardModelTrainer, folder: Path) -> dict[str, float]:
    """The figures of a run on as many turns as CANDOR has; random embeddings go into `folder`."""
    num_sessions = 2 * CONVERSATIONS
    embeddings = _random_embeddings(folder, num_sessions)
    with _watched() as peak:
        num_heads = _learn(trainer, embeddings)
    on_disk_mb = num_sessions * AGENT_TURNS * WIDTH * 4 / 1e6
    return {
        "peak_mb": peak[0],
        "peak_limit_mb": on_disk_mb / 2,
        "on_disk_mb": on_disk_mb,
        "peak_heads": num_heads,
    }


def _learn(trainer: RewardModelTrainer, embeddings: Sequence[np.ndarray]) -> int:
    """Learn all heads of a trainer, those of one kind at once; how many they are."""
    rng = np.random.default_rng(SEED)
    num_turns = len(embeddings) * AGENT_TURNS
    truth = Truth(
        scores_B=rng.integers(1, 10, len(embeddings)).astype(float),
        labels_N=rng.integers(-1, 2, num_turns).astype(float),
        targets_N=np.full(num_turns, np.nan),
    )
    held_out = len(embeddings) // 10
    corpus = Corpus(embeddings, train=range(held_out, len(embeddings)), val=range(held_out))
    members: dict[HeadSettings, list[Member]] = {}
    for arm in trainer.arms.arms(trainer.objective, trainer.training.learning_rate):
        for seed in range(trainer.seeds):
            # a control has a shuffle of its own for each seed
            known = truth if arm.shuffled is None else _shuffled(truth, rng)
            member = Member(
                name=arm.name,
                objective=arm.objective,
                seed=seed,
                learning_rate=arm.learning_rate,
                truth=known,
            )
            members.setdefault(arm.head(trainer.head), []).append(member)
    training = replace(trainer.training, epochs=EPOCHS)
    for head, group in members.items():
        fit(corpus, group, head=head, training=training, score_range=(1.0, 9.0), seed=SEED)
    return sum(map(len, members.values()))


def _random_embeddings(folder: Path, num_sessions: int) -> Sequence[np.ndarray]:
    """Of each session, mapped from disk."""
    store = EmbeddingStore(folder, WIDTH, "float32", {"what": "random numbers"})
    rng = np.random.default_rng(SEED)
    together = 64
    with store.writing() as writer:
        for start in range(0, num_sessions, together):
            num_rows = min(together, num_sessions - start) * AGENT_TURNS
            rows = rng.standard_normal((num_rows, WIDTH), dtype=np.float32)
            writer.append({str(start): rows})
    matrix = store.matrix()
    return [
        matrix[number * AGENT_TURNS : (number + 1) * AGENT_TURNS] for number in range(num_sessions)
    ]


def _shuffled(truth: Truth, rng: np.random.Generator) -> Truth:
    return replace(truth, labels_N=rng.permutation(truth.labels_N))


@contextmanager
def _watched() -> Iterator[list[float]]:
    """The most memory of one's own, in MB, beyond what there was; told when it is over."""
    before, highest, is_over = _own_mb(), [0.0], threading.Event()

    def watch() -> None:
        while not is_over.wait(0.005):
            highest[0] = max(highest[0], _own_mb() - before)

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield highest
    finally:
        is_over.set()
        thread.join()


def _own_mb() -> float:
    """Memory of this process that no file stands behind, as Linux counts it."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("RssAnon:"):
            return int(line.split()[1]) * 1024 / 1e6
    raise OSError("/proc/self/status tells no RssAnon: this benchmark needs Linux")
