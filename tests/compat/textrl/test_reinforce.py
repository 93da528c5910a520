import inspect

import pytest
import torch

from drl.compat.textrl import OnlineTrainer, load_model
from drl.compat.textrl.data import from_list
from drl.compat.textrl.reinforce import (
    ReinforcePlusPlusTrainer,
    moments,
    normalised,
    returns,
    weighted,
)
from drl.errors import ConfigError
from tests.compat.textrl.small import PROMPTS, config, letters

# TRL 1.16 asks transformers 5.24 for a setting under its old name; `train` passes over that
pytestmark = pytest.mark.filterwarnings("ignore:`is_gradient_checkpointing`:FutureWarning")
NAN = float("nan")


def made(tiny, folder, **changes):
    model, tokenizer, reference = load_model(str(tiny))
    return OnlineTrainer(
        model,
        tokenizer,
        config("reinforce_pp", folder, **changes),
        ref_model=reference,
        reward=letters,
        train_dataset=from_list(PROMPTS),
    )


def test_a_token_pays_for_its_own_kl_and_that_of_those_after_it():
    raw = returns(torch.tensor([1.0, -1.0]), torch.tensor([[1.0, 2.0, 3.0], [0.5, 0.0, 0.0]]), 0.1)
    # 1 - 0.1 * (1 + 2 + 3), 1 - 0.1 * (2 + 3), 1 - 0.1 * 3; -1 - 0.1 * 0.5, -1, -1
    expected = [[0.4, 0.5, 0.7], [-1.05, -1.0, -1.0]]
    torch.testing.assert_close(raw, torch.tensor(expected))


def test_advantages_are_normalised_over_all_tokens_that_count():
    raw = torch.tensor([[1.0, 1.0, 1.0], [-2.0, 9.0, 9.0]])
    mask = torch.tensor([[True, True, True], [True, False, False]])
    # of 1, 1, 1, -2: mean 1/4, mean square 7/4, variance 27/16
    deviation = (27 / 16) ** 0.5
    above, below = 0.75 / deviation, -2.25 / deviation
    expected = torch.tensor([[above, above, above], [below, 0.0, 0.0]])
    torch.testing.assert_close(normalised(raw, mask, moments(raw, mask)), expected)


def test_two_processes_normalise_as_one():
    raw, mask = torch.tensor([[1.0, 2.0], [5.0, 7.0]]), torch.ones(2, 2, dtype=torch.bool)
    sums = moments(raw[:1], mask[:1]) + moments(raw[1:], mask[1:])
    whole = normalised(raw, mask, moments(raw, mask))
    torch.testing.assert_close(normalised(raw[1:], mask[1:], sums), whole[1:])


def test_rewards_all_alike_teach_nothing():
    raw, mask = torch.full((2, 3), 0.7), torch.ones(2, 3, dtype=torch.bool)
    assert not normalised(raw, mask, moments(raw, mask)).any()


def test_a_completion_that_no_reward_applies_to_has_none():
    rewards = torch.tensor([[1.0, 2.0], [NAN, 2.0], [NAN, NAN]])
    total = weighted(rewards, torch.tensor([3.0, 0.5]))
    torch.testing.assert_close(total, torch.tensor([4.0, 1.0, NAN]), equal_nan=True)


@pytest.mark.slow
def test_a_batch_has_one_completion_of_each_prompt_and_mean_advantage_zero(tiny, tmp_path):
    trainer = made(tiny, tmp_path).trl_trainer
    inputs = [{"prompt": prompt} for prompt in PROMPTS]
    output = trainer._generate_and_score_completions(inputs)
    mask = output["completion_mask"].bool()
    advantages = output["advantages"]
    assert advantages.shape == mask.shape
    assert not advantages[~mask].any()
    assert float(advantages[mask].mean()) == pytest.approx(0.0, abs=1e-6)
    assert float(advantages[mask].std(correction=0)) == pytest.approx(1.0, abs=1e-5)
    assert (trainer.num_generations, trainer.args.num_generations) == (1, 1)


@pytest.mark.slow
def test_the_kl_is_in_the_reward_and_not_in_the_loss(tiny, tmp_path):
    trainer = made(tiny, tmp_path, beta=0.5).trl_trainer
    head = trainer.ref_model.lm_head.weight.data
    head += 0.3 * head.roll(1, 0)
    batch = trainer._generate_and_score_completions([{"prompt": prompt} for prompt in PROMPTS])
    mask = batch["completion_mask"].bool()
    kl = (trainer._log_probs(batch) - batch["ref_per_token_logps"]) * mask
    raw = returns(trainer._rewards_BF[:, 0], kl, 0.5)
    torch.testing.assert_close(batch["advantages"], normalised(raw, mask, moments(raw, mask)))
    assert float(kl.abs().max()) > 0.01

    trainer.current_gradient_accumulation_steps = 1
    with torch.no_grad():
        loss = trainer._compute_loss(trainer.model, batch)
        batch["ref_per_token_logps"] -= 1.0
        assert torch.equal(trainer._compute_loss(trainer.model, batch), loss)
    assert trainer.beta == 0.5


def test_a_batch_of_one_is_refused(tmp_path):
    with pytest.raises(ConfigError, match="batches of one completion"):
        config("reinforce_pp", tmp_path, per_device_train_batch_size=1).to_trl_config()


def test_trl_still_has_what_is_overridden():
    base = ReinforcePlusPlusTrainer.__mro__[2]
    assert base.__name__ == "GRPOTrainer"
    parameters = {
        "_calculate_rewards": ["inputs", "prompts", "completions", "completion_ids_list"],
        "_generate_and_score_completions": ["inputs"],
        "_compute_loss": ["model", "inputs"],
    }
    for name, expected in parameters.items():
        assert list(inspect.signature(vars(base)[name]).parameters)[1:] == expected
    source = inspect.getsource(base)
    assert "if advantages.dim() == 1:" in source, "advantages by token are read"
    assert "if self.beta != 0.0:\n            per_token_loss = per_token_loss + self.beta" in source
