"""Models whose trunk lies elsewhere: a local one stands for the swarm."""

import pytest
import torch
from compat.textrl.words import PROMPTS, Ruled, tokenizer
from ppo.models import make

from drl.compat.textrl import TextRLActor
from drl.compat.textrl.petals import RemoteTrunkModel
from drl.compat.textrl.trainer import train_agent
from drl.errors import ConfigError


class Local:
    """A trunk in this process; it counts how often it is asked."""

    def __init__(self, kind: str) -> None:
        self.whole = make(kind)
        self.num_calls = 0

    def hidden(self, ids_L: torch.Tensor) -> torch.Tensor:
        self.num_calls += 1
        return self.whole.base_model(input_ids=ids_L[None]).last_hidden_state[0]


@pytest.fixture(params=["bloom", "llama"])
def trunk(request):
    return Local(request.param)


def actor_of(trunk, **settings):
    model = RemoteTrunkModel(trunk, trunk.whole.get_output_embeddings().weight)
    env = Ruled(model, tokenizer(), PROMPTS, max_length=4)
    return TextRLActor(env, model, tokenizer(), optimizer="adamw", **settings)


def test_it_writes_as_the_whole_model_does(trunk):
    env = Ruled(trunk.whole, tokenizer(), PROMPTS, max_length=4)
    whole = TextRLActor(env, trunk.whole, tokenizer())
    remote = actor_of(trunk)
    for item in PROMPTS:
        assert remote.predict(item) == whole.predict(item)
    assert trunk.num_calls > 0


def test_only_the_output_layer_is_here_and_learns(trunk, tmp_path):
    actor = actor_of(trunk)
    assert [name for name, _ in actor.model.named_parameters()] == ["lm_head.weight"]
    agent = actor.agent_ppo(update_interval=8, epochs=2, lr=0.05)
    before = {name: weight.clone() for name, weight in trunk.whole.named_parameters()}
    told = actor.predict(PROMPTS[0])
    train_agent(agent, actor.env, 24, tmp_path)
    assert agent.weight_change() > 1e-3
    assert all(torch.equal(w, before[name]) for name, w in trunk.whole.named_parameters())
    other = actor_of(trunk)
    assert other.predict(PROMPTS[0]) == told
    other.agent_ppo(update_interval=8, epochs=2, lr=0.05).load(tmp_path / "24_finish")
    assert other.predict(PROMPTS[0]) == actor.predict(PROMPTS[0])


def test_blocks_that_lie_elsewhere_cannot_be_unfrozen(trunk):
    with pytest.raises(ConfigError, match="the blocks of a remote trunk lie elsewhere"):
        actor_of(trunk, unfreeze_layer_from_past=1)
