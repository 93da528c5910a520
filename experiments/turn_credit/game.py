"""A dialogue game in which every turn earns its own reward: does turn credit learn faster?

    python -m experiments.turn_credit.game [--seeds 5]

The user names one of four things a turn, the agent answers with one token, and earns 1 / turns for
the one right answer. What came before does not matter, so whoever credits a turn with what the
others earned learns from noise. A tiny Llama learns from nothing by PPO; only the level of credit
differs. Prints how many updates each level needs until a batch's mean reward reaches the target.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict
from pathlib import Path
from typing import Final

import torch
from transformers import LlamaConfig, LlamaForCausalLM

from drl.evaluation.intervals import mean_over_tasks
from drl.ppo.generate import Drawing, generate
from drl.ppo.learner import PPOLearner
from drl.ppo.policy import Policy
from drl.ppo.settings import CriticSettings, PPOSettings
from drl.ppo.trajectory import Trajectory, TurnRecord

HERE: Final = Path(__file__).parent
LEVELS: Final = ("turn", "dialogue")
NUM_TURNS: Final = 16
THINGS: Final = range(4)
ANSWERS: Final = range(4, 12)
"""Tokens that the agent may say; that of thing i is i + 4."""
VOCABULARY: Final = 16
TARGET: Final = 0.8
DIALOGUES: Final = 8
MOST_UPDATES: Final = 300


def main() -> None:
    """Play with every seed at both levels, and compare."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=5)
    found = compare(range(parser.parse_args().seeds))
    (HERE / "results.json").write_text(json.dumps(found, indent=2) + "\n")
    print(json.dumps(found))


def compare(seeds: range) -> dict[str, object]:
    """Updates that each level needs with each seed, and their ratio, paired by seed."""
    needed = {level: [updates_needed(level, seed) for seed in seeds] for level in LEVELS}
    pairs = zip(seeds, needed["turn"], needed["dialogue"], strict=True)
    ratio = mean_over_tasks({str(seed): [turn / dialogue] for seed, turn, dialogue in pairs})
    assert ratio is not None, "there is at least one seed"
    return {"target": TARGET, "updates": needed, "turn_over_dialogue": asdict(ratio)}


def updates_needed(level: str, seed: int) -> int:
    """Updates until the mean reward of a batch reaches the target; `MOST_UPDATES` if never."""
    policy = Policy(
        _model(seed), CriticSettings(kind="shared", head="linear", detach=False), 1.0, seed
    )
    learner = PPOLearner(policy, _settings(level), seed)
    draw = torch.Generator().manual_seed(seed)
    for update in range(MOST_UPDATES):
        batch = play(policy, draw)
        if sum(trajectory.total for trajectory in batch) / len(batch) >= TARGET:
            return update
        learner.update(batch)
    return MOST_UPDATES


def play(policy: Policy, draw: torch.Generator) -> list[Trajectory]:
    """A batch of dialogues."""
    contexts: list[list[int]] = [[VOCABULARY - 1] for _ in range(DIALOGUES)]
    turns: list[list[TurnRecord]] = [[] for _ in range(DIALOGUES)]
    for _ in range(NUM_TURNS):
        things = torch.randint(len(THINGS), (DIALOGUES,), generator=draw).tolist()
        for context, thing in zip(contexts, things, strict=True):
            context.append(thing)
        drawing = Drawing(max_tokens=1, stop_ids=frozenset())
        said = generate(policy.model, contexts, drawing, draw)
        for context, turn, thing, call in zip(contexts, turns, things, said, strict=True):
            is_right = call.token_ids[0] == thing + ANSWERS.start
            turn.append(TurnRecord((call,), is_right / NUM_TURNS))
            context.extend(call.token_ids)
    return [Trajectory(tuple(turn), f"{number}") for number, turn in enumerate(turns)]


def _model(seed: int) -> LlamaForCausalLM:
    config = LlamaConfig(
        vocab_size=VOCABULARY,
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=2,
        bos_token_id=None,
        eos_token_id=None,
    )
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        return LlamaForCausalLM(config)


def _settings(level: str) -> PPOSettings:
    return PPOSettings(
        level=level,  # pyright: ignore[reportArgumentType] one of LEVELS
        gamma=1.0,
        lam=0.5,
        baseline="critic",
        whiten=True,
        mean_over="token",
        epochs=4,
        minibatches=2,
        micro_batch_tokens=4096,
        clip=0.2,
        value_clip=None,
        value_weight=0.5,
        entropy_weight=0.0,
        kl_weight=0.0,
        kl_as="reward",
        kl_estimator="k3",
        target_kl=None,
        optimizer="adamw",
        learning_rate=3e-3,
        value_learning_rate=3e-3,
        weight_decay=0.0,
        max_grad_norm=1.0,
    )


if __name__ == "__main__":
    main()
