import pytest
import torch
from tests.compat.textrl.small import CHAT, PROMPTS, config, letters, moved, weights_of

from drl.compat.textrl import OnlineTrainer, TextRLConfig, load_model, reward_fn
from drl.compat.textrl.data import from_list
from drl.errors import ConfigError


def trainer(tiny, folder, algo, *, peft=None, reward=letters, prompts=PROMPTS, **changes):
    model, tokenizer, reference = load_model(str(tiny), peft=peft)
    return OnlineTrainer(
        model,
        tokenizer,
        config(algo, folder, **changes),
        ref_model=reference,
        reward=reward,
        train_dataset=from_list(prompts),
    )


def logged(trainer, name):
    return [entry[name] for entry in trainer.trl_trainer.state.log_history if name in entry]


@pytest.mark.parametrize("peft", [None, {"type": "lora", "r": 2}])
@pytest.mark.parametrize("algo", ["grpo", "rloo", "reinforce_pp"])
def test_an_update_moves_weights_and_starts_without_divergence(tiny, tmp_path, algo, peft):
    groups = {} if algo == "reinforce_pp" else {"num_generations": 2}
    made = trainer(tiny, tmp_path, algo, peft=peft, beta=0.1, **groups)
    before = weights_of(made.trl_trainer.model)
    made.train()
    assert moved(made.trl_trainer.model, before)
    assert logged(made, "kl") == [pytest.approx(0.0, abs=1e-6)]
    assert len(logged(made, "rewards/letters/mean")) == 1
