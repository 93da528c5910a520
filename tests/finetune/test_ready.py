"""What we replace of TRL is there in the TRL that is installed, and does what TRL would do."""

import inspect

import pytest
from datasets import Dataset
from trainer.trainings import metrics, model_of, toy_rows, train, trainer_of, write_rows
from trl.trainer.dpo_config import DPOConfig
from trl.trainer.dpo_trainer import DPOTrainer
from trl.trainer.kto_config import KTOConfig
from trl.trainer.kto_trainer import KTOTrainer
from trl.trainer.sft_trainer import SFTTrainer

from drl.finetune.fit import arguments
from drl.finetune.learner import load_learner
from drl.finetune.ready import ReadyDPOTrainer, ReadyKTOTrainer, ReadySFTTrainer
from tests.llm.tiny_model import save_tiny_model
from tests.trainer.trainings import LORA

REPLACED = {
    ReadySFTTrainer: (SFTTrainer, {"_send_telemetry"}),
    ReadyKTOTrainer: (KTOTrainer, {"_send_telemetry", "_prepare_dataset"}),
    ReadyDPOTrainer: (
        DPOTrainer,
        {
            *("__init__", "_send_telemetry", "_prepare_dataset", "_compute_loss"),
            "_set_signature_columns_if_needed",
        },
    ),
}


@pytest.mark.parametrize("ready", REPLACED)
def test_what_is_replaced_is_there(ready):
    original, names = REPLACED[ready]
    own = {name for name, value in vars(ready).items() if inspect.isfunction(value)}
    assert own == names
    assert all(inspect.isfunction(getattr(original, name)) for name in names)


def test_what_a_dpo_loss_is_given_is_what_it_takes():
    ours, theirs = (
        list(inspect.signature(each._compute_loss).parameters)
        for each in (ReadyDPOTrainer, DPOTrainer)
    )
    assert ours == theirs


@pytest.mark.parametrize("form", ["dpo", "kto"])
def test_ready_tokens_give_the_first_loss_that_trl_gives_for_the_same_messages(tmp_path, form):
    """For a template that writes nothing after the end of a reply, as that of the tiny model."""
    base = save_tiny_model(tmp_path / "base")
    rows = toy_rows(form, 4)
    options = {"max_updates": 1, "batch_size": 4}
    ours = trainer_of(form, write_rows(tmp_path / "rows.jsonl", rows), fit=options)
    train(ours, model_of(base), tmp_path / "ours")
    found = metrics(tmp_path / "ours")[0]

    learner = load_learner(model_of(base).weights(), LORA, "eager", 0)
    made = arguments(ours.fit, seed=0, device="cpu", resume=tmp_path / "theirs")
    if form == "dpo":
        made |= {"loss_type": ["sigmoid", "sft"], "loss_weights": [1.0, 0.2]}
    config, trainer = (DPOConfig, DPOTrainer) if form == "dpo" else (KTOConfig, KTOTrainer)
    theirs = trainer(
        model=learner.model,
        args=config(**made),
        train_dataset=Dataset.from_list(rows),
        processing_class=learner.tokenizer,
    )
    theirs.train()
    said = theirs.state.log_history[0]
    for key in ("loss", "logps/chosen", "logps/rejected", "entropy"):
        assert found[key] == pytest.approx(said[key], rel=1e-4)
