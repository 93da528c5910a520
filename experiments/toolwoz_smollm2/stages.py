"""The stages of the study, and what each needs of those before it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from experiments.runs import ROOT, Runs, summary_of

HERE: Final = Path(__file__).parent
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
    test_tasks=6,
    test_trials=1,
)


class Study:
    """The stages, in order; each knows the run that it needs."""

    def __init__(self, size: Size) -> None:
        self.size = size
        self.folder = ROOT / size.folder
        self.runs = Runs(size.folder)

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
            "llm.prefix_cache_mb=6144",  # 64 trees of four branches
            *self._own("start"),
            *self._training_tasks(self.size.start_tasks, self.size.josh_tasks),
        )

    def independent_dialogues(self) -> Path:
        """Dialogues on the same tasks, as many as generate what the trees did."""
        trees = summary_of(self.josh_trees())
        one = self._run(
            "single_dialogues",
            *(EXPERIMENT, "rollout=single", "rollout.max_steps=8"),
            *self._own("start"),
            *self._training_tasks(self.size.start_tasks, self.size.josh_tasks),
        )
        trials = max(1, round(_mean(trees, "agent_calls") / _mean(summary_of(one), "agent_calls")))
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
        used = summary_of(self.josh_sft())["data"]
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
            f"trainer.source=[{self.runs.place('josh_trees')}]",
            f"trainer.data.max_rows={self.size.kto_rows}",
            *more,
        )

    def _sft(self, name: str, trees: Sequence[str], start: str | None, tokens: int) -> Path:
        rate = "1e-3" if start is None else "3e-4"
        return self._run(
            name,
            *("trainer=sft/cpu", "miner=josh_clean", "agent=react/compact", "llm=hf/smollm2"),
            *(self._own(start) if start else ()),
            f"trainer.source=[{','.join(map(self.runs.place, trees))}]",
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
        adapter = SHIPPED.relative_to(ROOT) if is_shipped else self.runs.place(arm)
        return (f"llm.adapter={adapter}",)

    def _run(self, stage: str, *overrides: str) -> Path:
        return self.runs.run(stage, "name=toolwoz_smollm2", *overrides)


def _mean(summary: Mapping[str, object], key: str) -> float:
    estimate = summary[key]
    assert isinstance(estimate, dict)
    return float(estimate["value"])
