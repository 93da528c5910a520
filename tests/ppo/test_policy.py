import re

import pytest
import torch
from ppo.models import KINDS, call, critic, dialogue, make
from transformers import LlamaConfig, LlamaModel

from drl.errors import ConfigError
from drl.ppo.batches import micro_batches
from drl.ppo.layout import lay_out
from drl.ppo.policy import Policy
from drl.ppo.trainable import train_only
from drl.ppo.trajectory import Trajectory, TurnRecord
from drl.ppo.trunk import Trunk

ENCODER_DECODER = {"t5": 0, "flan_t5": 0, "bart": 2}
DIALOGUES = [
    dialogue([1, 11, 12], ([21, 22, 23], 1.0), ([24, 2], 0.0)),
    dialogue([1, 13], ([25, 2], 0.0)),
]


def _policy(kind, temperature=1.0, with_critic=True):
    return Policy(make(kind), critic() if with_critic else None, temperature, seed=0)


def _scores(policy, trajectories, budget):
    start = ENCODER_DECODER.get(policy.model.config.model_type)
    if policy.model.config.is_encoder_decoder:
        start = policy.model.config.decoder_start_token_id
    layout = lay_out(trajectories, "turn", start)
    log_probs = torch.zeros(len(layout.token_decision))
    with torch.no_grad():
        for each in micro_batches(layout.sequences, budget, torch.device("cpu")):
            log_probs[each.tokens_N] = policy(each.batch).log_probs
    return log_probs


def _plain(model, trajectories, temperature):
    """Log-probabilities from the model's own forward pass, one call at a time."""
    found = []
    for trajectory in trajectories:
        for turn in trajectory.turns:
            for each in turn.calls:
                prompt, text = list(each.prompt_ids), list(each.token_ids)
                with torch.no_grad():
                    if model.config.is_encoder_decoder:
                        start = model.config.decoder_start_token_id
                        logits = model(
                            input_ids=torch.tensor([prompt]),
                            decoder_input_ids=torch.tensor([[start, *text[:-1]]]),
                        ).logits[0]
                    else:
                        logits = model(input_ids=torch.tensor([prompt + text])).logits[0]
                        logits = logits[len(prompt) - 1 : -1]
                scores = (logits / temperature).log_softmax(dim=-1)
                found += scores[torch.arange(len(text)), torch.tensor(text)].tolist()
    return torch.tensor(found)


@pytest.mark.parametrize("kind", KINDS)
def test_scores_are_those_of_the_models_own_pass_whatever_the_padding(kind):
    policy = _policy(kind, temperature=0.7)
    wanted = _plain(policy.model, DIALOGUES, 0.7)
    for budget in (1, 4096):  # each sequence alone; all padded to the longest
        torch.testing.assert_close(_scores(policy, DIALOGUES, budget), wanted)


def test_logits_with_a_cap_or_a_scale_are_not_taken_from_the_head():
    assert not Trunk(make("gemma2"))._is_split
    assert not Trunk(make("t5"))._is_split
    assert Trunk(make("gpt2"))._is_split
    assert Trunk(make("flan_t5"))._is_split


def test_a_head_of_a_class_of_its_own_gives_the_same_scores_and_gradients():
    class Own(torch.nn.Linear):
        """What an adapter or a quantised layer may be."""

    found = []
    for kind in (torch.nn.Linear, Own):
        policy = _policy("flan_t5", with_critic=False)
        head = policy.model.get_output_embeddings()
        head.__class__ = kind
        layout = lay_out(DIALOGUES, "turn", 0)
        (micro_batch,) = micro_batches(layout.sequences, 4096, torch.device("cpu"))
        scores = policy(micro_batch.batch)
        (scores.log_probs.sum() + scores.entropies.sum()).backward()
        found.append((scores.log_probs, scores.entropies, head.weight.grad))
    torch.testing.assert_close(*found, rtol=1e-4, atol=1e-4)  # sums of another order


def test_values_begin_at_nothing():
    policy = _policy("gpt2")
    layout = lay_out(DIALOGUES, "turn", None)
    (micro_batch,) = micro_batches(layout.sequences, 4096, torch.device("cpu"))
    assert policy(micro_batch.batch).values.tolist() == [0.0, 0.0, 0.0]


@pytest.mark.parametrize("kind", ["gpt2", "llama", "flan_t5", "bart", "opt", "bloom"])
@pytest.mark.parametrize("num_blocks", [0, 1, 2])
def test_training_the_last_blocks_leaves_the_logits_as_they_are_and_the_rest_frozen(
    kind, num_blocks
):
    plain, chosen = make(kind), make(kind)
    train_only(chosen, "last_blocks", num_blocks)
    trajectories = DIALOGUES[:1]
    torch.testing.assert_close(_plain(chosen, trajectories, 1.0), _plain(plain, trajectories, 1.0))
    learning = {name for name, weight in chosen.named_parameters() if weight.requires_grad}
    assert "lm_head.weight" in learning
    first = [name for name in learning if re.search(r"(?<!encoder)\.(h|layers|block)\.0\.", name)]
    assert bool(first) == (num_blocks == 2)
    embedding = chosen.get_input_embeddings().weight
    assert not embedding.requires_grad


def test_more_blocks_than_there_are_are_refused():
    with pytest.raises(ConfigError, match="has 2 blocks"):
        train_only(make("gpt2"), "last_blocks", 3)


def test_a_model_that_cannot_write_is_refused():
    body = LlamaModel(
        LlamaConfig(
            vocab_size=20,
            hidden_size=8,
            intermediate_size=8,
            num_hidden_layers=1,
            num_attention_heads=1,
        )
    )
    with pytest.raises(ConfigError, match="no language-model head"):
        Policy(body, None, 1.0, seed=0)


def test_a_policy_of_which_nothing_learns_is_refused():
    with pytest.raises(ConfigError, match="nothing can learn"):
        Policy(make("gpt2").requires_grad_(False), None, 1.0, seed=0)


def test_the_reference_is_the_start_whatever_was_learned_since():
    policy = _policy("llama")
    before = _scores(policy, DIALOGUES, 4096)
    with torch.no_grad():
        for weight in policy.learning().values():
            weight.add_(0.1)
    assert not torch.allclose(_scores(policy, DIALOGUES, 4096), before)
    after = {name: weight.clone() for name, weight in policy.learning().items()}
    with policy.as_at_start():
        torch.testing.assert_close(_scores(policy, DIALOGUES, 4096), before)
    for name, weight in policy.learning().items():
        torch.testing.assert_close(weight, after[name])


def test_only_what_was_sampled_has_a_gradient():
    """The scores of a batch depend on no logit but those before its sampled tokens."""
    policy = _policy("gemma2")  # whose logits are computed whole, so each can be looked at
    layout = lay_out(DIALOGUES, "turn", None)
    (micro_batch,) = micro_batches(layout.sequences, 4096, torch.device("cpu"))
    states = policy.trunk(micro_batch.batch.inputs)
    states.logits.retain_grad()
    scores = policy.trunk.scores(
        states,
        micro_batch.batch.token_rows_N,
        micro_batch.batch.token_places_N,
        micro_batch.batch.token_ids_N,
        1.0,
    )
    scores.log_probs.sum().backward()
    touched = states.logits.grad.abs().sum(dim=-1) > 0
    wanted = torch.zeros_like(touched)
    # dialogue 1: prompt of 3, three tokens, two of the user, two tokens; dialogue 2: 2 and 2
    for row, place in [(0, 2), (0, 3), (0, 4), (0, 7), (0, 8), (1, 1), (1, 2)]:
        wanted[row, place] = True
    assert touched.tolist() == wanted.tolist()


@pytest.mark.parametrize("kind", ["shared", "separate"])
@pytest.mark.parametrize("head", ["linear", "mlp"])
def test_a_critic_reads_values_and_a_separate_one_moves_no_weight_of_the_policy(kind, head):
    policy = Policy(make("llama"), critic(kind=kind, head=head), 1.0, seed=0)
    with torch.no_grad():
        for weight in policy.head.parameters():
            weight.normal_(std=0.5)
    layout = lay_out(DIALOGUES, "turn", None)
    (micro_batch,) = micro_batches(layout.sequences, 4096, torch.device("cpu"))
    policy(micro_batch.batch).values.sum().backward()
    own = [weight.grad is not None for weight in policy.learning().values()]
    assert any(own) == (kind == "shared")
    assert all(weight.grad is not None for weight in policy.critic_parameters())


def test_a_state_goes_into_an_equal_policy_and_into_no_other():
    policy, twin = _policy("gpt2"), _policy("gpt2")
    with torch.no_grad():
        for weight in [*policy.learning().values(), *policy.critic_parameters()]:
            weight.add_(0.05)
    twin.load_state(policy.state())
    torch.testing.assert_close(_scores(twin, DIALOGUES, 4096), _scores(policy, DIALOGUES, 4096))
    with pytest.raises(ConfigError, match="other weights"):
        _policy("gpt2", with_critic=False).load_state(policy.state())


def test_separate_calls_need_no_common_beginning():
    turn = TurnRecord((call([1, 2], [7, 8]), call([3], [9])), 0.0)
    policy = _policy("llama")
    trajectories = [Trajectory((turn,), "g")]
    torch.testing.assert_close(
        _scores(policy, trajectories, 4096), _plain(policy.model, trajectories, 1.0)
    )
