"""What we rely on in TRL is there in the TRL that is installed, and does what we take it for."""

import inspect
import re

import pytest
import torch
from trainer.trainings import LORA, model_of
from transformers import GPT2Config, TrainerCallback
from trl.trainer.grpo_config import GRPOConfig
from trl.trainer.grpo_trainer import GRPOTrainer

from drl.ppo.layout import lay_out
from drl.ppo.trajectory import Trajectory, TurnRecord
from drl.trainer._dialogue_grpo import COMPLETIONS, DialogueBatch, DialogueGRPOTrainer
from drl.trainer._flat_rows import flat_rows
from drl.trainer._policy import WeightsSettings, load_policy
from drl.trainer._turn_advantages import advantages_of
from drl.types import Sampled
from tests.llm.tiny_model import END_ID, VOCABULARY, save_tiny_model

# TRL 1.16 asks transformers 5.24 for a setting under its old name; `fit.train` passes over that
pytestmark = pytest.mark.filterwarnings("ignore:`is_gradient_checkpointing`:FutureWarning")
TEMPERATURE = 0.7
ABSOLUTE = GPT2Config(
    vocab_size=VOCABULARY, n_embd=32, n_layer=2, n_head=4, n_positions=64, eos_token_id=END_ID
)
CALLS = (
    # two calls in one row with words of the customer between them, and a row with a longer prompt
    ((1, 2), (3, 4), 0.5),
    ((1, 2, 3, 4, 5, 6), (7,), -2.0),
    ((8, 9, 10, 11), (12, 13, 14), 1.5),
)


@pytest.fixture(scope="module", params=[None, ABSOLUTE], ids=["llama", "gpt2"])
def base(request, tmp_path_factory):
    return save_tiny_model(tmp_path_factory.mktemp("model"), request.param)


@pytest.fixture(scope="module")
def llama(tmp_path_factory):
    return save_tiny_model(tmp_path_factory.mktemp("llama"))


def log_probs_of(model, prompt, said):
    """Of each token that was said, without TRL."""
    logits = model(torch.tensor([[*prompt, *said]])).logits[0] / TEMPERATURE
    logs = logits.log_softmax(-1)[len(prompt) - 1 : -1]
    return logs.gather(1, torch.tensor(said)[:, None])[:, 0]


def batch_of(model, pieces, is_skipped=False):
    with torch.no_grad():
        calls = [
            Sampled(prompt, said, tuple(log_probs_of(model, prompt, said).tolist()))
            for prompt, said, _ in CALLS
        ]
    first, second, other = (
        TurnRecord((call,), 0.0, advantage=advantage)
        for call, (_, _, advantage) in zip(calls, CALLS, strict=True)
    )
    trajectories = [Trajectory((first, second), "a"), Trajectory((other,), "a")]
    layout = lay_out(trajectories, "turn", None)
    judged = advantages_of(trajectories, layout, "dialogue")
    return DialogueBatch(flat_rows(layout, judged, END_ID, pieces), {}, is_skipped)


def policy_of(base, train="all"):
    return load_policy(
        model_of(base).weights(), WeightsSettings(train=train, num_blocks=0, lora=LORA), 0
    )


def trainer_of(learning, folder, skipped=(), **changes):
    pieces = changes.get("steps_per_generation", 1)
    options = {
        "output_dir": str(folder),
        "per_device_train_batch_size": COMPLETIONS,
        "num_generations": COMPLETIONS,
        "steps_per_generation": pieces,
        "temperature": TEMPERATURE,
        "activation_checkpointing": False,
        "disable_dropout": True,
        "learning_rate": 0.1,
        "lr_scheduler_type": "constant",
        "max_grad_norm": 1e9,
        "beta": 0.0,
        "bf16": False,
        "use_cpu": True,
        "report_to": [],
        "save_strategy": "no",
        "disable_tqdm": True,
        "max_steps": 1,
    }
    return DialogueGRPOTrainer(
        model=learning.model if learning.adapted is None else learning.adapted.model,
        args=GRPOConfig(**(options | changes)),
        tokenizer=learning.loaded.tokenizer,
        play=lambda update: batch_of(learning.model, pieces, update in skipped),
    )


def weights_of(model):
    return {name: weight.detach().clone() for name, weight in model.named_parameters()}


def test_what_is_replaced_is_there():
    own = {name for name, value in vars(DialogueGRPOTrainer).items() if inspect.isfunction(value)}
    helpers = {"_log_probs", "_as_at_start"}
    assert own - helpers == {
        *("__init__", "log", "_send_telemetry", "_generate_and_score_completions")
    }
    assert all(inspect.isfunction(getattr(GRPOTrainer, name)) for name in own - helpers)
    assert not any(name in dir(GRPOTrainer) for name in helpers)
    for name, parameters in {
        "_generate_and_score_completions": ["inputs"],
        "log": ["logs", "start_time"],
        "_get_per_token_logps_and_entropies": [
            *("model", "input_ids", "attention_mask", "logits_to_keep", "batch_size")
        ],
    }.items():
        found = list(inspect.signature(getattr(GRPOTrainer, name)).parameters)[1:]
        assert found[: len(parameters)] == parameters


def test_trl_reads_no_more_of_a_batch_than_it_is_given(llama, tmp_path):
    images = {
        *("pixel_values", "image_grid_thw", "num_images", "pixel_attention_mask", "num_tiles"),
        *("spatial_shapes", "image_sizes", "token_type_ids", "mm_token_type_ids"),
        "image_position_ids",
    }
    of_vllm = {"sampling_per_token_logps", "importance_sampling_ratio"}
    source = inspect.getsource(GRPOTrainer._compute_loss)
    read = set(re.findall(r'inputs(?:\.get\(|\[)"(\w+)"', source))
    given = set(
        trainer_of(policy_of(llama, "lora"), tmp_path, beta=0.1)._generate_and_score_completions([])
    )
    assert read - images - of_vllm | {"tool_mask"} == given


def test_trl_takes_any_number_of_rows_and_advantages_of_tokens():
    source = inspect.getsource(GRPOTrainer)
    for line in (
        "generate_every = self.args.steps_per_generation * self.num_iterations",
        "if self._step % generate_every == 0 or self._buffered_inputs is None:",
        "generation_batch = self._generate_and_score_completions(generation_batch)",
        "split_tensor_dict(generation_batch, self.args.steps_per_generation)",
        "if advantages.dim() == 1:",
        'completion_mask if "tool_mask" not in inputs else completion_mask * inputs["tool_mask"]',
    ):
        assert line in source, line


def test_the_gradient_is_that_of_the_policy_worked_out_without_trl(base, tmp_path):
    learning, plain = policy_of(base), policy_of(base).model
    trainer = trainer_of(learning, tmp_path)
    trainer.current_gradient_accumulation_steps = 1
    learning.model.train()
    batch = trainer._generate_and_score_completions([])
    trainer.compute_loss(learning.model, batch).backward()

    num_tokens = sum(len(said) for _, said, _ in CALLS)
    loss = sum(-a * log_probs_of(plain, prompt, said).sum() for prompt, said, a in CALLS)
    (loss / num_tokens).backward()
    for (name, ours), theirs in zip(
        learning.model.named_parameters(), plain.parameters(), strict=True
    ):
        torch.testing.assert_close(ours.grad, theirs.grad, atol=1e-6, rtol=1e-4, msg=name)


def test_log_probabilities_are_those_that_the_tokens_were_drawn_with(base, tmp_path):
    trainer = trainer_of(policy_of(base), tmp_path)
    trainer._generate_and_score_completions([])
    assert trainer._batch.numbers["sampler/log_prob_gap"] < 1e-5


def test_what_the_policy_did_not_write_has_no_part_in_the_loss(llama, tmp_path):
    learning = policy_of(llama, "lora")
    trainer = trainer_of(learning, tmp_path, steps_per_generation=3)
    trainer.current_gradient_accumulation_steps = 3
    learning.model.train()
    batch = trainer._generate_and_score_completions([])
    model = learning.adapted.model
    with torch.no_grad():
        loss = trainer.compute_loss(model, batch)
        batch["advantages"][batch["tool_mask"] == 0] = 1000.0
        assert torch.equal(trainer.compute_loss(model, batch), loss)
        batch["advantages"][batch["tool_mask"] == 1] = 1000.0
        assert not torch.equal(trainer.compute_loss(model, batch), loss)


def test_pieces_of_a_batch_make_the_step_of_the_whole(llama, tmp_path):
    after = []
    for pieces in (1, 2, 3):
        learning = policy_of(llama)
        trainer_of(
            learning,
            tmp_path / str(pieces),
            steps_per_generation=pieces,
            gradient_accumulation_steps=pieces,
            optim="sgd",
        ).train()
        after.append(weights_of(learning.model))
    before = weights_of(policy_of(llama).model)
    name = "model.layers.0.mlp.up_proj.weight"
    assert not torch.equal(after[0][name], before[name])
    for other in after[1:]:
        for key, weight in after[0].items():
            torch.testing.assert_close(other[key], weight, atol=1e-6, rtol=1e-4)


def test_an_update_that_is_skipped_changes_no_weight(llama, tmp_path):
    learning = policy_of(llama, "lora")
    trainer = trainer_of(learning, tmp_path, skipped=(1,), max_steps=3, weight_decay=0.1)
    after = []

    class Keeper(TrainerCallback):
        def on_step_end(self, args, state, control, **kwargs):
            after.append(weights_of(learning.model))

    trainer.add_callback(Keeper())
    trainer.train()
    assert all(torch.equal(after[1][name], weight) for name, weight in after[0].items())
    assert any(not torch.equal(after[2][name], weight) for name, weight in after[0].items())


def test_the_reference_is_the_adapter_at_the_start(llama, tmp_path):
    first = policy_of(llama, "lora")
    trainer_of(first, tmp_path / "first").train()
    first.save(tmp_path)
    weights = model_of(llama, adapter=str(tmp_path / "checkpoints" / "final")).weights()
    again = load_policy(weights, WeightsSettings(train="lora", num_blocks=0, lora=LORA), 0)
    trainer = trainer_of(again, tmp_path / "again", beta=0.1)
    batch = trainer._generate_and_score_completions([])
    torch.testing.assert_close(batch["ref_per_token_logps"], batch["old_per_token_logps"])
