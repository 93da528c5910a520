"""Does a small model learn from the trees it grows? SmolLM2-135M on ToolWOZ (see README.md here).

    python -m experiments.toolwoz_smollm2.study [--small]

Every stage is a run of run.py below outputs/. A second start goes on where the first was stopped;
remove outputs/toolwoz_smollm2 to start anew. Writes `results.json` beside this file (with --small
below outputs/, so that the study's own stays) and prints the table.
"""

from __future__ import annotations

import argparse
import json
import platform
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from drl.evaluation.comparison import compare_all
from drl.evaluation.run_result import read_result
from drl.llm.base import ADAPTER_OF_RUN
from drl.models.adapter import ADAPTER_CONFIG, ADAPTER_WEIGHTS
from experiments.toolwoz_smollm2.table import table

HERE: Final = Path(__file__).parent
ROOT: Final = HERE.parents[1]
SHIPPED: Final = HERE / "adapter"
"""What `llm=hf/smollm2_toolwoz` uses."""
EXPERIMENT: Final = "+experiment=toolwoz_josh_smollm2"


@dataclass(frozen=True)
class Size:
    """How large the study is. Tokens are those of one epoch, prompts included.

    Without `start_tokens` the policy that the study ships stands for arm b, so that a small study
    has one that succeeds at times.
    """

    folder: str
    start_tasks: int
    start_tokens: int | None
    josh_tasks: int
    arm_tokens: int
    kto_rows: int
    val_tasks: int
    test_tasks: int
    test_trials: int


WHOLE: Final = Size(
    folder="outputs/toolwoz_smollm2",
    start_tasks=450,
    start_tokens=300_000,
    josh_tasks=120,
    arm_tokens=100_000,
    kto_rows=240,
    val_tasks=60,
    test_tasks=200,
    test_trials=3,
)
SMALL: Final = Size(
    folder="outputs/toolwoz_smollm2_small",
    start_tasks=450,
    start_tokens=None,
    josh_tasks=8,
    arm_tokens=6_000,
    kto_rows=16,
    val_tasks=4,
    test_tasks=12,
    test_trials=1,
)

ARMS: Final = {
    "base": "a: SmolLM2-135M-Instruct as it comes",
    "start": "b: SFT on dialogues of the rule agent",
    "josh_sft": "c: b, then SFT on the golden paths of its own JOSH trees",
    "josh_kto": "c: b, then KTO on its own JOSH trees",
    "rejection_sft": "d: b, then SFT on its own successes in independent dialogues",
    "shuffled_kto": "e: as JOSH-KTO, with shuffled labels",
    "teacher": "f: the rule agent, which wrote the start set",
}
PHRASINGS: Final = ("heldout", "train")
COMPARED: Final = {
    "base": ("start",),
    "start": ("josh_sft", "josh_kto", "rejection_sft", "shuffled_kto"),
    "rejection_sft": ("josh_sft", "josh_kto"),
    "shuffled_kto": ("josh_kto",),
}
TEST_LOOKS: Final = ("this study, once, after all arms were trained",)


class Study:
    """The stages, in order; each knows the run that it needs."""

    def __init__(self, size: Size) -> None:
        self.size = size
        self.folder = ROOT / size.folder
        self.commands: dict[str, str] = {}

    def start_trees(self) -> Path:
        """Dialogues of the rule agent on training tasks."""
        return self._run(
            "start_trees",
            *("+experiment=toolwoz_josh", "rollout=single", "agent=rule"),
            *self._training_tasks(0, self.size.start_tasks),
        )

    def start(self) -> Path:
        """SFT of the base on them, or the policy that is shipped."""
        if self.size.start_tokens is None:
            return SHIPPED
        self.start_trees()
        return self._sft("start", ["start_trees"], None, self.size.start_tokens)

    def josh_trees(self) -> Path:
        """JOSH trees that the started model grows, on other training tasks."""
        return self._run(
            "josh_trees",
            *(EXPERIMENT, "rollout.beam_size=4", "rollout.max_steps=8"),
            *self._own("start"),
            *self._training_tasks(self.size.start_tasks, self.size.josh_tasks),
        )

    def independent_dialogues(self) -> Path:
        """Dialogues on the same tasks, as many as generate what the trees did."""
        trees = _summary(self.josh_trees())
        one = self._run(
            "single_dialogues",
            *(EXPERIMENT, "rollout=single", "rollout.max_steps=8"),
            *self._own("start"),
            *self._training_tasks(self.size.start_tasks, self.size.josh_tasks),
        )
        trials = max(1, round(_value(trees, "agent_calls") / _value(_summary(one), "agent_calls")))
        return self._run(
            "independent_dialogues",
            *(EXPERIMENT, "rollout=single", "rollout.max_steps=8", f"trainer.trials={trials}"),
            *self._own("start"),
            *self._training_tasks(self.size.start_tasks, self.size.josh_tasks),
        )

    def josh_sft(self) -> Path:
        """SFT on golden paths."""
        self.josh_trees()
        return self._sft("josh_sft", ["josh_trees"], "start", self.size.arm_tokens)

    def rejection_sft(self) -> Path:
        """SFT on successes of independent dialogues, with as many trained tokens."""
        self.independent_dialogues()
        used = _summary(self.josh_sft())["data"]
        assert isinstance(used, dict), "a training counts its data"
        tokens = int(used["tokens"])
        return self._sft("rejection_sft", ["independent_dialogues"], "start", tokens)

    def josh_kto(self) -> Path:
        """KTO on the outputs of the trees."""
        return self._kto("josh_kto")

    def shuffled_kto(self) -> Path:
        """The same with labels dealt out anew."""
        return self._kto("shuffled_kto", "trainer.shuffle_labels=true")

    def evaluate(self, arm: str, split: str, phrasing: str) -> Path:
        """An arm's policy alone on tasks that nothing was chosen on (test), or on val."""
        is_main = split == "test" and phrasing == "heldout"
        trials = self.size.test_trials if is_main and arm != "base" else 1  # the base is a floor
        tasks = self.size.test_tasks if split == "test" else self.size.val_tasks
        if arm == "teacher":
            policy = ["+experiment=toolwoz_josh", "agent=rule"]
        else:
            policy = [EXPERIMENT, "agent.temperature=0", *self._own(arm)]
        return self._run(
            f"{split}_{phrasing}_{arm}",
            *policy,
            *("rollout=single", "rollout.max_steps=15", "trainer=evaluate"),
            *(f"trainer.trials={trials}", f"user_simulator.phrasing={phrasing}"),
            *(f"dataset.split={split}", "dataset.shuffle=0", f"dataset.limit={tasks}"),
        )

    def _kto(self, name: str, *more: str) -> Path:
        self.josh_trees()
        return self._run(
            name,
            *("trainer=kto/cpu", "miner=josh_paper", "agent=react/compact", "llm=hf/smollm2"),
            *self._own("start"),
            f"trainer.source=[{self._relative('josh_trees')}]",
            f"trainer.data.max_rows={self.size.kto_rows}",
            *more,
        )

    def _sft(self, name: str, trees: Sequence[str], start: str | None, tokens: int) -> Path:
        rate = "1e-3" if start is None else "3e-4"
        return self._run(
            name,
            *("trainer=sft/cpu", "miner=josh_clean", "agent=react/compact", "llm=hf/smollm2"),
            *(self._own(start) if start else ()),
            f"trainer.source=[{','.join(map(self._relative, trees))}]",
            *(f"trainer.data.max_tokens={tokens}", f"trainer.fit.learning_rate={rate}"),
        )

    def _training_tasks(self, start: int, count: int) -> tuple[str, ...]:
        """A part of the training split that no other stage shares."""
        return (
            *("dataset.split=train", "dataset.shuffle=1"),
            *(f"dataset.start={start}", f"dataset.limit={count}"),
        )

    def _own(self, arm: str) -> tuple[str, ...]:
        """The model of an arm; the base has no adapter."""
        if arm == "base":
            return ()
        is_shipped = arm == "start" and self.size.start_tokens is None
        adapter = SHIPPED.relative_to(ROOT) if is_shipped else self._relative(arm)
        return (f"llm.adapter={adapter}",)

    def _relative(self, stage: str) -> str:
        return f"{self.size.folder}/{stage}"

    def _run(self, stage: str, *overrides: str) -> Path:
        """Start or go on with one run; a run that is over only tells so."""
        folder = self.folder / stage
        command = ["run.py", "name=toolwoz_smollm2", *overrides]
        self.commands[stage] = " ".join(["python", *command])
        if not (folder / "summary.json").exists():
            where = f"hydra.run.dir={self._relative(stage)}"
            subprocess.run([sys.executable, *command, where], cwd=ROOT, check=True)
        return folder


def main() -> None:
    """Run all stages, then write and print what they gave."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--small", action="store_true", help="minutes, to see that it runs")
    is_small = parser.parse_args().small
    study = Study(SMALL if is_small else WHOLE)
    stages = (study.start, study.josh_sft, study.rejection_sft, study.josh_kto, study.shuffled_kto)
    for stage in stages:
        stage()
    chosen_on_val = choose(study)
    results = {phrasing: evaluate_all(study, phrasing) for phrasing in PHRASINGS}
    record = {
        "machine": f"{platform.machine()}, Python {platform.python_version()}",
        "size": asdict(study.size),
        "arms": results["heldout"],
        "arms_on_training_phrasing": results["train"],
        "differences": differences(study),
        "val": chosen_on_val,
        "training": {arm: _training(study, arm) for arm in ARMS if (study.folder / arm).is_dir()},
        "test_looks": TEST_LOOKS,
        "commands": study.commands,
    }
    folder = study.folder if is_small else HERE
    if not is_small:
        ship(study.folder / str(chosen_on_val["best"]) / ADAPTER_OF_RUN)
    (folder / "results.json").write_text(json.dumps(record, indent=2) + "\n")
    print(table(ARMS, results["heldout"], results["train"]))


def choose(study: Study) -> dict[str, object]:
    """All arms on val, and which of those that learned is the best there: that one is shipped."""
    scores = {arm: _estimates(study.evaluate(arm, "val", "train")) for arm in ARMS}
    learned = [arm for arm in ARMS if arm not in ("base", "teacher", "shuffled_kto")]
    best = max(learned, key=lambda arm: scores[arm]["mean_reward"]["value"])
    return {"arms": scores, "best": best}


def ship(adapter: Path) -> None:
    """Write an adapter beside the study: in bfloat16, under the public name of its base."""
    import torch
    from safetensors.torch import load_file, save_file

    SHIPPED.mkdir(exist_ok=True)
    weights = load_file(adapter / ADAPTER_WEIGHTS)
    rounded = {name: weight.to(torch.bfloat16) for name, weight in weights.items()}
    save_file(rounded, SHIPPED / ADAPTER_WEIGHTS, metadata={"format": "pt"})
    config = json.loads((adapter / ADAPTER_CONFIG).read_text())
    config["base_model_name_or_path"] = "HuggingFaceTB/SmolLM2-135M-Instruct"
    (SHIPPED / ADAPTER_CONFIG).write_text(json.dumps(config, indent=2, sort_keys=True) + "\n")


def evaluate_all(study: Study, phrasing: str) -> dict[str, object]:
    """Every arm on the test tasks, with customers of one phrasing."""
    return {
        arm: {"what": what, **_estimates(study.evaluate(arm, "test", phrasing))}
        for arm, what in ARMS.items()
    }


def differences(study: Study) -> list[object]:
    """The comparisons that the study is about, paired by task; Holm over those with one base."""
    found: list[object] = []
    for base, others in COMPARED.items():
        runs = [read_result(study.evaluate(arm, "test", "heldout")) for arm in (base, *others)]
        found += [
            {"base": base, "other": other, **comparison.to_json()}
            for other, comparison in zip(others, compare_all(runs[0], runs[1:]), strict=True)
        ]
    return found


def _estimates(folder: Path) -> dict[str, object]:
    """What results.json holds of a run of dialogues."""
    summary = _summary(folder)
    kept = ("mean_reward", "full_success", "agent_calls", "metrics", "n_errors")
    counts = {"n": summary["n_tasks"], "seeds": summary["n_trials"]}
    return {**counts, **{key: summary[key] for key in kept}}


def _training(study: Study, arm: str) -> dict[str, object]:
    summary = _summary(study.folder / arm)
    return {key: summary.get(key) for key in ("start", "data", "training", "forgetting", "seconds")}


def _summary(folder: Path) -> dict[str, object]:
    return json.loads((folder / "summary.json").read_text())


def _value(summary: Mapping[str, object], key: str) -> float:
    estimate = summary[key]
    assert isinstance(estimate, dict)
    return float(estimate["value"])


if __name__ == "__main__":
    main()
