"""TextRL's second example: an encoder-decoder model learns to sound good to a classifier.

    python examples/textrl/flan_t5_sentiment.py
    python examples/textrl/flan_t5_sentiment.py --model google/flan-t5-base --lr 3e-4 \
        --classifier cardiffnlp/twitter-roberta-base-sentiment-latest

TextRL's readme takes `train_agent_with_evaluation` from `pfrl.experiments`; it is the same here.
"""

import argparse
import logging
import tempfile
from collections.abc import Sequence
from pathlib import Path

from tiny import load, sentiment

from drl.compat.textrl import TextRLActor, TextRLEnv, train_agent_with_evaluation


class MyRLEnv(TextRLEnv):
    """Pays ten times the sentiment of a finished text, as one number."""

    classifier = "words"

    def get_reward(self, input_item, predicted_list, finish):
        """Rewards of the candidates with their last token."""
        reward = 0
        if finish or len(predicted_list[0]) >= self.env_max_length:
            text = self.tokenizer.convert_tokens_to_string(predicted_list[0])
            reward = sentiment([input_item["input"] + " " + text], self.classifier)[0] * 10
        return reward


def main(arguments: Sequence[str] | None = None) -> None:
    """Train, and show what changed."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--model", default="tiny", help="an id on the hub, or a folder")
    parser.add_argument("--classifier", default="words", help="a model, or words for a rule")
    parser.add_argument("--steps", type=int, default=800, help="TextRL has 3000")
    parser.add_argument("--lr", type=float, default=1e-2)
    parser.add_argument("--max_length", type=int, default=12, help="of a text, in tokens")
    parser.add_argument("--outdir", default=tempfile.mkdtemp())
    given = parser.parse_args(arguments)
    logging.basicConfig(level="WARNING")

    model, tokenizer = load(given.model, encoder_decoder=True)
    MyRLEnv.classifier = given.classifier
    observation_list = [{"input": "write a review of this film"}]
    env = MyRLEnv(
        model,
        tokenizer,
        observation_input=observation_list,
        max_length=given.max_length,
        compare_sample=1,
    )
    actor = TextRLActor(
        env, model, tokenizer, optimizer="adamw", temperature=0.8, top_k=100, top_p=0.85
    )
    agent = actor.agent_ppo(update_interval=50, minibatch_size=3, epochs=10, lr=given.lr)
    print("before:", actor.predict(observation_list[0]))
    train_agent_with_evaluation(
        agent,
        env,
        steps=given.steps,
        eval_n_steps=None,
        eval_n_episodes=1,
        train_max_episode_len=100,
        eval_interval=10,
        outdir=given.outdir,
    )
    agent.load(Path(given.outdir) / "best")
    print("after:", actor.predict(observation_list[0]))


if __name__ == "__main__":
    main()
