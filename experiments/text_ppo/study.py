"""Does PPO lift a rule reward, and by more than drawing several texts and keeping the best?

    python -m experiments.text_ppo.study [--seeds 3]

Runs `+experiment=text_ppo` with several seeds and draws many texts of the start (see README.md
here). Every stage is a run of run.py below outputs/text_ppo_study; a second start goes on. Writes
`results.json` beside this file and prints it.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Final

from drl.evaluation.best_of_n import expected_best, tries_at
from drl.evaluation.intervals import mean_over_tasks
from drl.evaluation.reply_measures import distinct_pairs
from drl.tree.store import read_trees
from drl.types import Role
from experiments.runs import ROOT, Runs, summary_of
from experiments.text_ppo.rewards import short_words

HERE: Final = Path(__file__).parent
RUNS: Final = Runs("outputs/text_ppo_study")
EXPERIMENT: Final = "+experiment=text_ppo"
DRAWS: Final = 64
"""Texts of the start for each prompt of the evaluation."""
TRIALS: Final = 16
"""Texts of a trained policy for each."""


def main() -> None:
    """Run what is missing, then hold the policies against the best of n."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=3)
    seeds = range(parser.parse_args().seeds)
    RUNS.run("start", *_evaluation(None, DRAWS))
    for seed in seeds:
        RUNS.run(f"seed-{seed}", EXPERIMENT, f"seed={seed}", "trainer.evaluate_trials=0")
        RUNS.run(f"after-{seed}", *_evaluation(f"seed-{seed}", TRIALS))
    found = results(seeds)
    (HERE / "results.json").write_text(json.dumps(found, indent=2) + "\n")
    print(json.dumps(found))


def results(seeds: Sequence[int]) -> dict[str, object]:
    """What the start, the policies and the best of n texts earn on prompts that none learned on."""
    start = _texts("start")
    return {
        "prompts": len(start),
        "start": _described(start),
        "ppo": [_policy(seed, start) for seed in seeds],
    }


def _policy(seed: int, start: Mapping[str, Sequence[str]]) -> dict[str, object]:
    """A policy, and the best of as many texts of the start as take it as far from the start."""
    training = summary_of(ROOT / RUNS.place(f"seed-{seed}"))
    kl = training["training"]["last_kl"]
    number = tries_at(kl, DRAWS)
    best = {
        prompt: [expected_best([short_words(prompt, text) for text in texts], number)]
        for prompt, texts in start.items()
    }
    estimate = mean_over_tasks(best)
    assert estimate is not None, "there are prompts"
    return {
        "seed": seed,
        "kl_to_start": kl,
        "policy": _described(_texts(f"after-{seed}")),
        "best_of": {"n": number, "reward": asdict(estimate)},
        "curve": training["curves"]["episode/score"]["y"],
    }


def _described(texts: Mapping[str, Sequence[str]]) -> dict[str, object]:
    """The reward, and what it does not see, with intervals over prompts."""
    measures = {
        "reward": lambda prompt, text: short_words(prompt, text),
        "distinct_pairs": lambda prompt, text: distinct_pairs(text),
        "words": lambda prompt, text: float(len(text.split())),
    }
    found: dict[str, object] = {}
    for name, measure in measures.items():
        values = {
            prompt: [measure(prompt, text) for text in each] for prompt, each in texts.items()
        }
        estimate = mean_over_tasks(values)
        assert estimate is not None, "there are prompts"
        found[name] = asdict(estimate)
    return found


def _texts(stage: str) -> dict[str, list[str]]:
    """All texts of a run, by prompt."""
    found: dict[str, list[str]] = {}
    for prompt, text in _pairs(ROOT / RUNS.place(stage)):
        found.setdefault(prompt, []).append(text)
    return found


def _pairs(folder: Path) -> Iterator[tuple[str, str]]:
    for tree in read_trees(folder / "rollouts.jsonl"):
        asked, answered = tree.nodes[:2]
        assert answered.turn.role is Role.AGENT, "one prompt and one text"
        yield asked.turn.text or "", answered.turn.text or ""


def _evaluation(arm: str | None, trials: int) -> list[str]:
    """Texts for the prompts that no policy learned on."""
    adapter = [] if arm is None else [f"llm.adapter={RUNS.place(arm)}"]
    return [
        *(EXPERIMENT, "trainer=evaluate", f"trainer.trials={trials}", "~credit"),
        *("~trainer.evaluate_trials", "dataset.prompts=${eval_dataset.prompts}", *adapter),
    ]


if __name__ == "__main__":
    main()
