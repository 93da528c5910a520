"""What is trained on what: losses at the first update, held against sums done by hand.

The adapter changes nothing at first, so that all log-probabilities are those of the start model,
which is asked here without TRL and token by token.
"""

import math

import pytest
import torch
from trainer.trainings import (
    agent,
    metrics,
    model_of,
    toy_rows,
    train,
    trainer_of,
    user,
    write_rows,
)
from transformers import AutoModelForCausalLM

from drl.finetune.kto_batches import mismatched
from drl.models.adapter import put_in
from tests.finetune.adapters import save_adapter
from tests.llm.asking import ask_one, request
from tests.llm.tiny_model import END_ID, byte_tokenizer, save_tiny_model

TOKENIZER = byte_tokenizer()
Ids = list[int]


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    return save_tiny_model(tmp_path_factory.mktemp("model") / "base")


def ids(text: str) -> Ids:
    return TOKENIZER(text, add_special_tokens=False)["input_ids"]


def prompt_ids(*messages: dict) -> Ids:
    text = "".join(f"<|start|>{m['role']}\n{m['content']}<|end|>" for m in messages)
    return ids(text + "<|start|>assistant\n")


def output_ids(text: str) -> Ids:
    return [*ids(text), END_ID]


class Reckoner:
    """Log-probabilities of outputs by a model, in nats."""

    def __init__(self, base, adapter=None) -> None:
        self._model = AutoModelForCausalLM.from_pretrained(base, dtype=torch.float32)
        if adapter is not None:
            put_in(self._model, base, adapter)
        self._model.eval()

    def each(self, prompt: Ids, output: Ids) -> list[float]:
        """Of each token of an output after a prompt."""
        with torch.no_grad():
            logits = self._model(torch.tensor([prompt + output])).logits[0]
        logs = logits.log_softmax(-1)
        return [
            float(logs[place - 1, token]) for place, token in enumerate(output, start=len(prompt))
        ]

    def sum(self, prompt: Ids, output: Ids) -> float:
        return sum(self.each(prompt, output))


def first(folder) -> dict[str, float]:
    return metrics(folder)[0]


def softplus(x: float) -> float:
    return math.log1p(math.exp(x))


def test_sft_learns_the_tokens_of_the_agent_and_no_others(base, tmp_path):
    rows = [
        {"messages": [user("Hello"), agent("yes"), user("Sure?"), agent("oh yes")]},
        {"messages": [user("Now"), agent("not this"), user("And?"), agent("no")], "trained": [3]},
    ]
    source = write_rows(tmp_path / "rows.jsonl", rows)
    summary = train(trainer_of("sft", source), model_of(base), tmp_path / "run")

    model = Reckoner(base)
    first_row, second_row = (row["messages"] for row in rows)
    logs = [
        *model.each(prompt_ids(first_row[0]), output_ids("yes")),
        *model.each(prompt_ids(*first_row[:3]), output_ids("oh yes")),
        *model.each(prompt_ids(*second_row[:3]), output_ids("no")),
    ]
    assert summary["data"]["trained_tokens"] == len(logs) == 4 + 7 + 3
    assert first(tmp_path / "run")["loss"] == pytest.approx(-sum(logs) / len(logs), rel=1e-5)


def test_sft_weighs_every_trained_token_of_an_update_the_same(base, tmp_path):
    # one row a batch, two batches an update: still the mean over all tokens of both
    rows = [{"messages": [user("a"), agent("y")]}, {"messages": [user("b"), agent("a long no")]}]
    source = write_rows(tmp_path / "rows.jsonl", rows)
    trainer = trainer_of("sft", source, fit={"batch_size": 1, "accumulation": 2})
    train(trainer, model_of(base), tmp_path / "run")
    model = Reckoner(base)
    logs = [
        log
        for row in rows
        for log in model.each(
            prompt_ids(row["messages"][0]), output_ids(row["messages"][1]["content"])
        )
    ]
    assert first(tmp_path / "run")["loss"] == pytest.approx(-sum(logs) / len(logs), rel=1e-5)


PAIRS = [
    {"prompt": [user("a?")], "chosen": [agent("yes")], "rejected": [agent("never")]},
    {"prompt": [user("and b?")], "chosen": [agent("surely")], "rejected": [agent("no")]},
]


@pytest.mark.parametrize("adapted", [False, True])
def test_dpo_starts_from_equal_log_probabilities_of_outputs_alone(base, tmp_path, adapted):
    """With an adapter to go on from, model and reference are the base with that adapter."""
    adapter = save_adapter(base, tmp_path / "adapter") if adapted else None
    llm = model_of(base, adapter=None if adapter is None else str(adapter))
    source = write_rows(tmp_path / "rows.jsonl", PAIRS)
    train(trainer_of("dpo", source), llm, tmp_path / "run")
    found = first(tmp_path / "run")

    model = Reckoner(base, adapter)
    sums = {
        side: [
            model.sum(prompt_ids(*row["prompt"]), output_ids(row[side][0]["content"]))
            for row in PAIRS
        ]
        for side in ("chosen", "rejected")
    }
    for side, values in sums.items():
        assert found[f"logps/{side}"] == pytest.approx(sum(values) / 2, rel=1e-5)
        assert found[f"rewards/{side}"] == 0
    # -log sigmoid(0) + 0.2 x mean NLL of the chosen tokens: 3 + 1 and 6 + 1 of them
    expected = math.log(2) - 0.2 * sum(sums["chosen"]) / 11
    assert found["loss"] == pytest.approx(expected, rel=1e-5)


def trained_dpo(base, tmp_path, **changes):
    """Metrics of two updates on the same two pairs, and the adapter after the first of them.

    With it the margins are not zero any more, which the second update sees.
    """
    weights = changes.pop("weights", (1.0, 1.0))
    rows = [row | {"weight": weight} for row, weight in zip(PAIRS, weights, strict=True)]
    source = write_rows(tmp_path / "rows.jsonl", rows)
    one = trainer_of("dpo", source, fit={"epochs": 1.0}, **changes)
    train(one, model_of(base), tmp_path / "one")
    two = trainer_of("dpo", source, fit={"epochs": 2.0}, **changes)
    train(two, model_of(base), tmp_path / "two")
    return metrics(tmp_path / "two")[1], tmp_path / "one" / "checkpoints" / "final"


def margins(base, adapter):
    """beta x (log-ratio of chosen less that of rejected), of each pair."""
    start, now = Reckoner(base), Reckoner(base, adapter)
    found = []
    for row in PAIRS:
        prompt = prompt_ids(*row["prompt"])
        better, worse = (output_ids(row[side][0]["content"]) for side in ("chosen", "rejected"))
        ratios = [now.sum(prompt, output) - start.sum(prompt, output) for output in (better, worse)]
        found.append(0.1 * (ratios[0] - ratios[1]))
    return found


def test_dpo_multiplies_the_loss_of_a_pair_by_its_weight(base, tmp_path):
    weights = (0.5, 0.9)
    found, adapter = trained_dpo(base, tmp_path, weights=weights)
    now = Reckoner(base, adapter)
    losses = []
    for row, margin in zip(PAIRS, margins(base, adapter), strict=True):
        logs = now.each(prompt_ids(*row["prompt"]), output_ids(row["chosen"][0]["content"]))
        losses.append(softplus(-margin) - 0.2 * sum(logs) / len(logs))
    expected = sum(w * loss for w, loss in zip(weights, losses, strict=True)) / 2
    assert found["loss"] == pytest.approx(expected, rel=1e-4)
    assert found["rewards/margins"] == pytest.approx(sum(margins(base, adapter)) / 2, rel=1e-3)


def test_dpo_smooths_labels(base, tmp_path):
    # Chowdhury and others (arXiv:2403.00409): of flips with chance e the unbiased loss is
    # ((1 - e) x loss - e x loss of the flipped pair) / (1 - 2 e)
    found, adapter = trained_dpo(base, tmp_path, label_smoothing=0.2, sft_weight=0.0)
    losses = [(0.8 * softplus(-m) - 0.2 * softplus(m)) / 0.6 for m in margins(base, adapter)]
    assert found["loss"] == pytest.approx(sum(losses) / 2, rel=1e-4)


def test_kto_holds_each_output_against_the_outputs_of_its_batch(base, tmp_path):
    """After one update the policy differs; the second shows the reference point of the batch."""
    rows = [
        {"prompt": [user("a?")], "completion": [agent("yes")], "label": True},
        {"prompt": [user("and b?")], "completion": [agent("never")], "label": False},
    ]
    source = write_rows(tmp_path / "rows.jsonl", rows)
    for name, epochs in (("one", 1.0), ("two", 2.0)):
        train(trainer_of("kto", source, fit={"epochs": epochs}), model_of(base), tmp_path / name)
    adapter = tmp_path / "one" / "checkpoints" / "final"
    start, now = Reckoner(base), Reckoner(base, adapter)
    prompts = [prompt_ids(*row["prompt"]) for row in rows]
    outputs = [output_ids(row["completion"][0]["content"]) for row in rows]

    begun, found = metrics(tmp_path / "two")
    assert begun["logps/chosen"] == pytest.approx(start.sum(prompts[0], outputs[0]), rel=1e-5)
    assert begun["logps/rejected"] == pytest.approx(start.sum(prompts[1], outputs[1]), rel=1e-5)
    assert begun["loss"] == pytest.approx(0.5)  # 1 - sigmoid(0)

    def ratio(place: int, other: int) -> float:
        prompt, output = prompts[place], outputs[other]
        return now.sum(prompt, output) - start.sum(prompt, output)

    pairs = zip([0, 1], mismatched([0, 1]), strict=True)
    kl = max(0.0, sum(ratio(place, other) for place, other in pairs) / 2)
    assert found["kl"] == pytest.approx(kl, abs=1e-4)
    losses = [
        1 - 1 / (1 + math.exp(-0.1 * (ratio(0, 0) - kl))),
        1 - 1 / (1 + math.exp(-0.1 * (kl - ratio(1, 1)))),
    ]
    assert found["loss"] == pytest.approx(sum(losses) / 2, rel=1e-4)


def test_kto_has_the_start_adapter_in_its_reference(base, tmp_path):
    adapter = save_adapter(base, tmp_path / "adapter")
    source = write_rows(tmp_path / "rows.jsonl", toy_rows("kto", 2))
    train(trainer_of("kto", source), model_of(base, adapter=str(adapter)), tmp_path / "run")
    row = toy_rows("kto", 2)[0]
    model = Reckoner(base, adapter)
    log = model.sum(prompt_ids(*row["prompt"]), output_ids("yes"))
    assert first(tmp_path / "run")["logps/chosen"] == pytest.approx(log, rel=1e-5)
    assert first(tmp_path / "run")["rewards/chosen"] == 0


def test_a_run_is_an_adapter_that_its_model_answers_with(base, tmp_path):
    rows = [{"messages": [user("hello"), agent("yes")]}]
    source = write_rows(tmp_path / "rows.jsonl", rows)
    run = tmp_path / "run"
    train(trainer_of("sft", source, fit={"epochs": 32.0}), model_of(base), run)
    (before,) = ask_one(model_of(base), request(temperature=0.0)).choices
    (after,) = ask_one(model_of(base, adapter=str(run)), request(temperature=0.0)).choices
    assert before.text != after.text == "yes"
    by_hand = Reckoner(base, run / "checkpoints" / "final")
    assert after.sampled is not None
    assert after.sampled.log_probs == pytest.approx(
        by_hand.each(prompt_ids(user("hello")), output_ids("yes")), rel=1e-3
    )
