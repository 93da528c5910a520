import pytest

from drl.compat.textrl import PreferenceTrainer, load_model
from drl.compat.textrl.config import DPO_LOSSES
from drl.compat.textrl.data import from_list
from drl.errors import ConfigError, DataError
from tests.compat.textrl.small import LABELS, PAIRS, config, moved, weights_of

IMPLICIT = [
    {
        "chosen": [{"role": "user", "content": f"{n}?"}, {"role": "assistant", "content": "yes"}],
        "rejected": [{"role": "user", "content": f"{n}?"}, {"role": "assistant", "content": "no"}],
    }
    for n in range(4)
]


def trainer(tiny, folder, algo, rows, *, peft=None, **changes):
    model, tokenizer, reference = load_model(str(tiny), peft=peft)
    return PreferenceTrainer(
        model,
        tokenizer,
        config(algo, folder, **changes),
        ref_model=reference,
        train_dataset=from_list(rows),
    )


def losses(trainer):
    return [entry["loss"] for entry in trainer.trl_trainer.state.log_history if "loss" in entry]


def learns(trainer):
    before = weights_of(trainer.trl_trainer.model)
    trainer.train()
    return moved(trainer.trl_trainer.model, before)


@pytest.mark.slow
@pytest.mark.parametrize("algo", DPO_LOSSES)
def test_an_update_on_pairs_moves_weights(tiny, tmp_path, algo):
    smoothing = {"label_smoothing": 0.1} if algo in ("robust", "exo_pair") else {}
    made = trainer(tiny, tmp_path, algo, PAIRS, extra=smoothing)
    assert made.trl_trainer.args.loss_type == [DPO_LOSSES[algo]]
    assert learns(made)


def test_the_first_loss_of_dpo_is_that_of_a_coin(tiny, tmp_path):
    made = trainer(tiny, tmp_path, "dpo", PAIRS)
    made.train()
    assert losses(made) == [pytest.approx(0.6931, abs=1e-4)]  # -log(1/2): policy is reference


@pytest.mark.slow
@pytest.mark.parametrize(("algo", "rows"), [("dpo", PAIRS), ("kto", LABELS)])
def test_an_adapter_learns_too(tiny, tmp_path, algo, rows):
    assert learns(trainer(tiny, tmp_path, algo, rows, peft={"r": 2}))


@pytest.mark.parametrize("loss", [None, "apo_zero_unpaired"])
def test_an_update_on_labels_moves_weights(tiny, tmp_path, loss):
    assert learns(trainer(tiny, tmp_path, "kto", LABELS, loss_type=loss))


@pytest.mark.slow
def test_pairs_of_chats_may_have_their_prompt_in_them(tiny, tmp_path):
    assert learns(trainer(tiny, tmp_path, "ipo", IMPLICIT))


@pytest.mark.slow
@pytest.mark.parametrize(("algo", "rows"), [("dpo", PAIRS), ("kto", LABELS)])
def test_without_a_reference_the_model_is_copied(tiny, tmp_path, algo, rows):
    model, tokenizer, _ = load_model(str(tiny), load_ref=False)
    model.config._name_or_path = ""
    made = PreferenceTrainer(
        model, tokenizer, config(algo, tmp_path), train_dataset=from_list(rows)
    )
    assert learns(made)


def test_kto_takes_more_than_one_row_at_a_time(tiny, tmp_path):
    with pytest.raises(ConfigError, match="per_device_train_batch_size=1 is too few"):
        trainer(tiny, tmp_path, "kto", LABELS, per_device_train_batch_size=1)


def test_labels_are_no_pairs(tiny, tmp_path):
    with pytest.raises(DataError, match="needs chosen, rejected"):
        trainer(tiny, tmp_path, "dpo", LABELS)
