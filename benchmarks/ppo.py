"""How much faster texts are generated and learned from than token by token as in TextRL 0.2.

    python -m benchmarks.ppo

A tiny random GPT-2 (4 layers, width 256, vocabulary 50,257) on the CPU writes 16 texts of 32 tokens
for prompts of 48, and learns from them by PPO: every token is a decision, one reward at the end,
the output layer and a value head learn, all 512 tokens are in each of 2 steps. `drl.ppo` is
measured against TextRL's way acted out again (`_reference_textrl`, on the same weights): its texts
grow one at a time, so 2 of the 16 tell its pace. Both take turns in one run, on the same weights,
with as many tokens and steps; the faster of two repeats counts. Seconds are those of the processor,
on one thread, so that what else a machine does hardly matters.

`speedup` is generated tokens per second from prompts as text to texts, ours over theirs;
`calls_per_token` and `positions_per_token` count what the trunk had to read. `update_speedup` is
trained tokens per second (tokens times steps, over the whole update), ours over theirs.

`peak_mb` is the most memory that tensors of one update held at once beyond what was there before
it (weights, the reference's weights, texts), as PyTorch's allocator counted it. The gradient of the
output layer (51 MB) is counted; an optimizer's state is not, since SGD has none. `peak_limit_mb`
is half of the logits of all places (batch x length x vocabulary x 4 bytes); all in 10^6 bytes.
"""

import json
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple

import torch
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import WhitespaceSplit
from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedModel, PreTrainedTokenizerFast
from transformers.modeling_outputs import BaseModelOutput

from benchmarks import _reference_textrl
from benchmarks._reference_textrl import Actor, Episode
from drl.ppo.generate import Drawing, generate
from drl.ppo.learner import PPOLearner
from drl.ppo.policy import Policy
from drl.ppo.settings import CriticSettings, PPOSettings
from drl.ppo.trainable import train_only
from drl.ppo.trajectory import Trajectory, TurnRecord
from drl.types import Sampled

LAYERS: Final = 4
WIDTH: Final = 256
VOCABULARY: Final = 50_257
PROMPT_TOKENS: Final = 48
NEW_TOKENS: Final = 32
SEQUENCES: Final = 16
EPOCHS: Final = 2
REPEATS: Final = 2
SAMPLE: Final = 2
SEED: Final = 1
PEAK_LIMIT_MB: Final = SEQUENCES * (PROMPT_TOKENS + NEW_TOKENS) * VOCABULARY * 4 / 2 / 1e6

SETTINGS: Final = PPOSettings(
    level="token",
    gamma=_reference_textrl.GAMMA,
    lam=1.0,
    baseline="critic",
    whiten=True,
    mean_over="token",
    epochs=EPOCHS,
    minibatches=1,
    micro_batch_tokens=4096,
    clip=_reference_textrl.CLIP,
    value_clip=None,
    value_weight=1.0,
    entropy_weight=0.0,
    kl_weight=0.0,
    kl_as="reward",
    kl_estimator="k3",
    target_kl=None,
    optimizer="sgd",
    learning_rate=_reference_textrl.LEARNING_RATE,
    value_learning_rate=_reference_textrl.LEARNING_RATE,
    weight_decay=0.0,
    max_grad_norm=_reference_textrl.MAX_GRAD_NORM,
)
"""As in TextRL, whose values do not shape the trunk."""
CRITIC: Final = CriticSettings(kind="shared", head="linear", detach=True)


@dataclass
class Read:
    """How often a trunk was called, and for how many places."""

    calls: int = 0
    positions: int = 0

    def note(self, module: object, inputs: object, output: BaseModelOutput) -> None:
        """What a trunk calls after its forward pass."""
        assert output.last_hidden_state is not None
        self.calls += 1
        self.positions += output.last_hidden_state.shape[:2].numel()


class Rollout(NamedTuple):
    """Seconds, what the trunk read, and how many tokens came of it."""

    seconds: float
    read: Read
    tokens: int


def main() -> None:
    """Print one JSON object with the results."""
    torch.set_num_threads(1)
    torch.manual_seed(SEED)
    model, tokenizer = make_model(), make_tokenizer()
    train_only(model, "lm_head")
    prompts = make_prompts()
    actor = Actor.of(model, tokenizer)
    learner = PPOLearner(Policy(model, CRITIC, 1.0, SEED), SETTINGS, SEED)
    written = [
        (write(model, tokenizer, prompts), step(actor, prompts[:SAMPLE])) for _ in range(REPEATS)
    ]
    (_, texts), (_, episodes) = written[0]
    figures = compare(
        fastest([ours for (ours, _), _ in written]), fastest([theirs for _, (theirs, _) in written])
    )
    trajectories = [trajectory(number, text) for number, text in enumerate(texts)]
    # its pace does not depend on what the texts say, so the 2 stand for all 16
    episodes = [episodes[number % SAMPLE] for number in range(SEQUENCES)]
    learned = [
        (
            seconds_of(lambda: learner.update(trajectories)),
            seconds_of(lambda: learn_as_textrl(actor, episodes)),
        )
        for _ in range(REPEATS)
    ]
    ours_s, theirs_s = (min(seconds) for seconds in zip(*learned, strict=True))
    trained = SEQUENCES * NEW_TOKENS * EPOCHS
    figures |= {
        "trained_tokens_per_s": trained / ours_s,
        "trained_tokens_per_s_reference": trained / theirs_s,
        "update_speedup": theirs_s / ours_s,
        "peak_mb": peak_mb(lambda: learner.update(trajectories)),
        "peak_limit_mb": PEAK_LIMIT_MB,
    }
    print(json.dumps({name: float(f"{value:.4g}") for name, value in figures.items()}))


def make_model() -> PreTrainedModel:
    """Random weights."""
    config = GPT2Config(
        vocab_size=VOCABULARY,
        n_layer=LAYERS,
        n_embd=WIDTH,
        n_head=4,
        n_positions=PROMPT_TOKENS + NEW_TOKENS,
    )
    return GPT2LMHeadModel(config).eval()


def make_tokenizer() -> PreTrainedTokenizerFast:
    """A tokenizer whose tokens are words, which is quicker than the pairs of bytes of GPT-2."""
    words = WordLevel({f"w{number}": number for number in range(VOCABULARY)}, unk_token="w0")
    tokenizer = Tokenizer(words)
    tokenizer.pre_tokenizer = WhitespaceSplit()
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer)


def make_prompts() -> list[str]:
    """Random words."""
    ids = torch.randint(VOCABULARY, (SEQUENCES, PROMPT_TOKENS)).tolist()
    return [" ".join(f"w{number}" for number in row) for row in ids]


def write(
    model: PreTrainedModel, tokenizer: PreTrainedTokenizerFast, prompts: Sequence[str]
) -> tuple[Rollout, list[Sampled]]:
    """Texts for all prompts at once."""
    generator = torch.Generator().manual_seed(SEED)
    drawing = Drawing(max_tokens=NEW_TOKENS, stop_ids=frozenset())
    read = Read()
    counted = model.base_model.register_forward_hook(read.note)
    start = time.process_time()
    sampled = generate(model, tokenizer(list(prompts))["input_ids"], drawing, generator)
    tokenizer.batch_decode([list(text.token_ids) for text in sampled])
    seconds = time.process_time() - start
    counted.remove()
    return Rollout(seconds, read, sum(len(text.token_ids) for text in sampled)), sampled


def step(actor: Actor, prompts: Sequence[str]) -> tuple[Rollout, list[Episode]]:
    """Texts for prompts one after another, token by token."""
    read = Read()
    counted = actor.model.base_model.register_forward_hook(read.note)
    start = time.process_time()
    episodes = [actor.write(prompt, NEW_TOKENS) for prompt in prompts]
    seconds = time.process_time() - start
    counted.remove()
    return Rollout(seconds, read, NEW_TOKENS * len(prompts)), episodes


def fastest(rollouts: Sequence[Rollout]) -> Rollout:
    """The one that took least."""
    return min(rollouts, key=lambda rollout: rollout.seconds)


def compare(ours: Rollout, theirs: Rollout) -> dict[str, float]:
    """The figures of generation."""
    return {
        "speedup": (ours.tokens / ours.seconds) / (theirs.tokens / theirs.seconds),
        "tokens_per_s": ours.tokens / ours.seconds,
        "tokens_per_s_reference": theirs.tokens / theirs.seconds,
        "calls_per_token": ours.read.calls / ours.tokens,
        "calls_per_token_reference": theirs.read.calls / theirs.tokens,
        "positions_per_token": ours.read.positions / ours.tokens,
        "positions_per_token_reference": theirs.read.positions / theirs.tokens,
    }


def reward(number: int) -> float:
    """What a text earns at its end; that it differs is all that matters here."""
    return float(number % 2)


def trajectory(number: int, text: Sampled) -> Trajectory:
    """A text of one turn that earned something."""
    return Trajectory((TurnRecord((text,), reward(number)),), f"prompt {number}")


def learn_as_textrl(actor: Actor, episodes: Sequence[Episode]) -> None:
    """One update, in minibatches of all tokens."""
    rewards = [reward(number) for number in range(len(episodes))]
    size = SEQUENCES * NEW_TOKENS
    _reference_textrl.update(actor, episodes, rewards, epochs=EPOCHS, minibatch_size=size)


def seconds_of(action: Callable[[], object]) -> float:
    """Processor time that something takes."""
    start = time.process_time()
    action()
    return time.process_time() - start


def peak_mb(action: Callable[[], object]) -> float:
    """The most that tensors hold at once while something runs, beyond what they held before."""
    with torch.profiler.profile(
        activities=[torch.profiler.ProfilerActivity.CPU], profile_memory=True
    ) as profile:
        action()
    with tempfile.TemporaryDirectory() as folder:
        trace = Path(folder) / "trace.json"
        profile.export_chrome_trace(str(trace))
        events = json.loads(trace.read_text())["traceEvents"]
    held = [event["args"]["Total Allocated"] for event in events if event["name"] == "[memory]"]
    return max(held) / 1e6


if __name__ == "__main__":
    main()
