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
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Final

from drl.evaluation.comparison import compare_all
from drl.evaluation.run_result import read_result
from drl.models.adapter import ADAPTER_CONFIG, ADAPTER_WEIGHTS
from drl.runtime.run_dir import ADAPTER_OF_RUN
from experiments.runs import summary_of
from experiments.toolwoz_smollm2.stages import HERE, SHIPPED, SMALL, WHOLE, Study
from experiments.toolwoz_smollm2.table import table

ARMS: Final = {
    "base": "a: SmolLM2-135M-Instruct as it comes",
    "start": "b: SFT on dialogues of the rule agent",
    "josh_sft": "c: b, then SFT on the golden paths of its own JOSH trees",
    "josh_kto": "c: b, then KTO on its own JOSH trees",
    "rejection_sft": "d: b, then SFT on its own successes in independent dialogues",
    "shuffled_kto": "e: as JOSH-KTO, with shuffled labels",
    "teacher": "f: the rule agent, which wrote the start set",
}
UNTAUGHT: Final = "base"
"""It learned from no customer, so no wordings are those of its training."""
COMPARED: Final = {
    "base": ("start",),
    "start": ("josh_sft", "josh_kto", "rejection_sft", "shuffled_kto"),
    "rejection_sft": ("josh_sft", "josh_kto"),
    "shuffled_kto": ("josh_kto",),
}
TEST_LOOKS: Final = ("this study, once, after all arms were trained",)


def main() -> None:
    """Run all stages, then write and print what they gave."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--small", action="store_true", help="an hour of a core, to see that it runs"
    )
    is_small = parser.parse_args().small
    study = Study(SMALL if is_small else WHOLE)
    stages = (study.start, study.josh_sft, study.rejection_sft, study.josh_kto, study.shuffled_kto)
    for stage in stages:
        stage()
    chosen_on_val = choose(study)
    record = {
        "machine": f"{platform.machine()}, Python {platform.python_version()}",
        "size": asdict(study.size),
        "arms": evaluate_all(study, "heldout", tuple(ARMS)),
        "arms_on_training_phrasing": evaluate_all(
            study, "train", [arm for arm in ARMS if arm != UNTAUGHT]
        ),
        "differences": differences(study),
        "val": chosen_on_val,
        "training": {arm: _training(study, arm) for arm in ARMS if (study.folder / arm).is_dir()},
        "test_looks": TEST_LOOKS,
        "commands": study.runs.commands,
    }
    folder = study.folder if is_small else HERE
    if not is_small:
        ship(study.folder / str(chosen_on_val["best"]) / ADAPTER_OF_RUN)
    (folder / "results.json").write_text(json.dumps(record, indent=2) + "\n")
    print(table(record))


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


def evaluate_all(study: Study, phrasing: str, arms: Sequence[str]) -> dict[str, object]:
    """Arms on the test tasks, with customers of one phrasing."""
    return {
        arm: {"what": ARMS[arm], **_estimates(study.evaluate(arm, "test", phrasing))}
        for arm in arms
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
    summary = summary_of(folder)
    kept = ("mean_reward", "full_success", "agent_calls", "metrics", "n_errors")
    counts = {"n": summary["n_tasks"], "seeds": summary["n_trials"]}
    return {**counts, **{key: summary[key] for key in kept}}


def _training(study: Study, arm: str) -> dict[str, object]:
    summary = summary_of(study.folder / arm)
    return {key: summary.get(key) for key in ("start", "data", "training", "forgetting", "seconds")}


if __name__ == "__main__":
    main()
