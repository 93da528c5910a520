"""TextRL's example of a model too large for one machine: its trunk lies elsewhere.

    python examples/textrl/petals_like.py

Here the trunk is a tiny model in this process. For a swarm, write a class with the same method
`hidden`: ids of tokens go in, the last hidden states come out, final norm included.
"""

import argparse
import logging
import tempfile
from collections.abc import Sequence

import torch
from tiny import GOOD, load

from drl.compat.textrl import TextRLActor, TextRLEnv, train_agent_with_evaluation
from drl.compat.textrl.petals import RemoteTrunkModel


class LocalTrunk:
    """Stands for machines elsewhere."""

    def __init__(self, model):
        self.model = model.eval()

    def hidden(self, ids_L: torch.Tensor) -> torch.Tensor:
        """The last hidden states of one sequence."""
        return self.model.base_model(input_ids=ids_L[None]).last_hidden_state[0]


class MyRLEnv(TextRLEnv):
    """Pays for the share of good words."""

    def get_reward(self, input_item, predicted_list, finish):
        """Rewards of the candidates with their last token."""
        if finish:
            return [sum(t in GOOD for t in tokens) / len(tokens) for tokens in predicted_list]
        return None


def main(arguments: Sequence[str] | None = None) -> None:
    """Train, and show what changed."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--steps", type=int, default=600)
    parser.add_argument("--outdir", default=tempfile.mkdtemp())
    given = parser.parse_args(arguments)
    logging.basicConfig(level="WARNING")

    whole, tokenizer = load("tiny", encoder_decoder=False)
    model = RemoteTrunkModel(LocalTrunk(whole), whole.get_output_embeddings().weight)
    env = MyRLEnv(model, tokenizer, [{"input": "today it is"}], max_length=10)
    actor = TextRLActor(env, model, tokenizer, optimizer="adamw")
    agent = actor.agent_ppo(update_interval=30, minibatch_size=100, epochs=5, lr=1e-2)
    print("before:", actor.predict("today it is")[0])
    train_agent_with_evaluation(
        agent,
        env,
        steps=given.steps,
        eval_n_steps=None,
        eval_n_episodes=1,
        eval_interval=200,
        outdir=given.outdir,
    )
    print("after:", actor.predict("today it is")[0])


if __name__ == "__main__":
    main()
