"""A text game for a tiny model: prompts, pay for the first half of the alphabet, a training."""

import json
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file

from drl.launch import run
from tests.llm.tiny_model import save_tiny_model

ADAPTER = "checkpoints/final/adapter_model.safetensors"
CONF = Path(__file__).parents[2] / "conf"
PPO = ("trainer=ppo", "trainer.ppo.learning_rate=5e-3", "trainer.ppo.value_learning_rate=5e-3")
GRPO = (
    *("trainer=grpo", "trainer.grpo.learning_rate=3e-2"),
    *("trainer.grpo.steps_per_generation=2", "trainer.grpo.gradient_accumulation_steps=1"),
)
RULES = """
from pathlib import Path

STOP = Path(__file__).with_name("stop_at")

def letters(prompt, text):
    if STOP.exists():  # so many more texts until somebody presses Ctrl-C
        left = int(STOP.read_text()) - 1
        STOP.write_text(str(left))
        if not left:
            STOP.unlink()
            raise KeyboardInterrupt
    return sum(letter < "n" for letter in text) / 8

def places(prompt, text):
    return [(end + 1, 1 / 8) for end, letter in enumerate(text) if letter < "n"]

def named(prompt, text):
    return {"early": sum(letter < "n" for letter in text) / 8, "always": 0.25}

def same(prompt, text):
    return 0.5

def breaks(prompt, text):
    raise KeyError("no such thing")
"""


def make_game(folder: Path, learner: tuple[str, ...] = PPO) -> list[str]:
    """What is said on the command line to learn the game; files lie in the folder."""
    model = save_tiny_model(folder / "model", template=None)
    rules = folder / "letter_rules.py"
    rules.write_text(RULES)
    return [
        *("dataset=prompts", "dataset.prompts=[Once,The moon,A cat,Why]", "environment=none"),
        *("agent=plain", "agent.max_tokens=8", "agent.temperature=1", "user_simulator=script"),
        *("reward=function", f"reward.function={rules}:letters", "credit=terminal"),
        *("rollout=single", "rollout.max_steps=1", f"data_dir={folder / 'data'}"),
        *("llm=hf", f"llm.model={model}", "llm.chat_template=plain_text"),
        *("llm.dtype=float32", "llm.device=cpu"),
        *learner,
        *("trainer.updates=2", "trainer.tasks_per_update=4", "trainer.trials=4"),
        *("trainer.check_forgetting=false", "trainer.evaluate_trials=0"),
    ]


def stop_after(game: list[str], num_texts: int) -> None:
    """Let the next run be interrupted when it has rewarded so many texts."""
    rules = next(each for each in game if each.startswith("reward.function="))
    path = Path(rules.split("=")[1].split(":")[0])
    path.with_name("stop_at").write_text(str(num_texts))


def play(game: list[str], folder: Path, *overrides: str) -> Path:
    """Run it in a folder, with changes."""
    return run(CONF, [*game, f"hydra.run.dir={folder}", *overrides])


def metrics_of(folder: Path) -> list[dict[str, float]]:
    """A line for each update of a run."""
    return [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]


def summary_of(folder: Path) -> dict[str, Any]:
    """What a run says of itself."""
    return json.loads((folder / "summary.json").read_text())


def same_weights(first: Path, second: Path, **tolerance: float) -> bool:
    """Whether two runs learned the same adapter."""
    one, two = load_file(first / ADAPTER), load_file(second / ADAPTER)
    return all(torch.allclose(one[name], two[name], **tolerance) for name in one)
