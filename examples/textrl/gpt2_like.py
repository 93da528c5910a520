"""TextRL's first example: a causal model learns from a reward for finished texts.

    python examples/textrl/gpt2_like.py
    python examples/textrl/gpt2_like.py --model bigscience/bloomz-7b1-mt

What differs from TextRL's readme: the environment is the subclass with the reward (there the base
class was made, so rewards were 0), and the optimizer is AdamW with a rate at which something
happens.
"""

import argparse
import logging
import tempfile
from collections.abc import Sequence

from tiny import GOOD, load

from drl.compat.textrl import TextRLActor, TextRLEnv, train_agent_with_evaluation


class MyRLEnv(TextRLEnv):
    """Pays for the share of good words."""

    def get_reward(self, input_item, predicted_list, finish):
        """Rewards of the candidates with their last token."""
        if not finish:
            return [0]  # for all candidates
        texts = [self.tokenizer.convert_tokens_to_string(tokens) for tokens in predicted_list]
        return [sum(word in GOOD for word in text.split()) / 20 for text in texts]


def main(arguments: Sequence[str] | None = None) -> None:
    """Train, and show what changed."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--model", default="tiny", help="an id on the hub, or a folder")
    parser.add_argument("--steps", type=int, default=400)
    parser.add_argument("--lr", type=float, default=1e-2, help="for a real model, 1e-5 or so")
    parser.add_argument("--outdir", default=tempfile.mkdtemp())
    given = parser.parse_args(arguments)
    logging.basicConfig(level="WARNING")

    model, tokenizer = load(given.model, encoder_decoder=False)
    observation_list = [{"input": "explain the weather today"}]
    env = MyRLEnv(
        model, tokenizer, observation_input=observation_list, max_length=20, compare_sample=2
    )
    actor = TextRLActor(
        env,
        model,
        tokenizer,
        optimizer="adamw",
        act_deterministically=False,
        temperature=1.0,
        top_k=0,
        top_p=1.0,
    )
    agent = actor.agent_ppo(update_interval=2, minibatch_size=2, epochs=10, lr=given.lr)
    print("before:", actor.predict(observation_list[0]))
    _, history = train_agent_with_evaluation(
        agent,
        env,
        steps=given.steps,
        eval_n_steps=None,
        eval_n_episodes=1,
        eval_interval=2,
        outdir=given.outdir,
    )
    print("score of evaluations:", [round(row["eval_score"], 2) for row in history])
    print("after:", actor.predict(observation_list[0]))


if __name__ == "__main__":
    main()
