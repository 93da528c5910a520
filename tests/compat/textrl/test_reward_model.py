import pytest

from drl.compat.textrl import RewardModelTrainer, load_model
from drl.compat.textrl.data import from_list
from drl.errors import ConfigError
from tests.compat.textrl.small import PAIRS, config, moved, weights_of


def trainer(model, tokenizer, folder, **changes):
    return RewardModelTrainer(
        model, tokenizer, config("reward_model", folder, **changes), train_dataset=from_list(PAIRS)
    )


@pytest.mark.parametrize("peft", [None, {"r": 2}])
def test_an_update_moves_weights_and_what_is_saved_is_a_classifier(tiny, tmp_path, peft):
    model, tokenizer, reference = load_model(str(tiny), reward_model=True, peft=peft)
    assert reference is None
    made = trainer(model, tokenizer, tmp_path)
    before = weights_of(made.trl_trainer.model)
    made.train()
    assert moved(made.trl_trainer.model, before)
    made.save_model()
    if peft is None:
        again = load_model(str(tmp_path), reward_model=True).policy
        assert not moved(again, weights_of(made.trl_trainer.model))


@pytest.mark.slow
def test_a_name_gets_a_new_score(tiny, tmp_path):
    tokenizer = load_model(str(tiny), load_ref=False).tokenizer
    made = trainer(str(tiny), tokenizer, tmp_path)
    assert made.trl_trainer.model.config.num_labels == 1


def test_a_causal_model_is_refused(tiny, tmp_path):
    model, tokenizer, _ = load_model(str(tiny), load_ref=False)
    with pytest.raises(ConfigError, match="LlamaForCausalLM scores tokens, not texts"):
        trainer(model, tokenizer, tmp_path)
