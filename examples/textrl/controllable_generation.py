"""TextRL's example of controllable generation: how bad can Elon Musk on Dogecoin sound?

    python examples/textrl/controllable_generation.py
    python examples/textrl/controllable_generation.py --model huggingtweets/elonmusk --lr 1e-5 \
        --classifier cardiffnlp/twitter-roberta-base-sentiment-latest

Candidates of one prompt are rewarded by comparison: how much worse they sound than the others.
"""

import argparse
import logging
import tempfile
from collections.abc import Sequence

from tiny import load, sentiment

from drl.compat.textrl import TextRLActor, TextRLEnv, train_agent_with_evaluation


class NegativeEnv(TextRLEnv):
    """Pays for negative sentiment, less what the other candidates of the prompt got on average."""

    classifier = "words"
    reward_calls = "final"  # once for each text is enough

    def get_reward(self, input_item, predicted_list, finish):
        """Rewards of the candidates with their last token."""
        texts = [self.tokenizer.convert_tokens_to_string(tokens) for tokens in predicted_list]
        scores = [-score for score in sentiment(texts, self.classifier)]
        others = [(sum(scores) - score) / max(len(scores) - 1, 1) for score in scores]
        return [score - other for score, other in zip(scores, others, strict=True)]


def main(arguments: Sequence[str] | None = None) -> None:
    """Train, and show what changed."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--model", default="tiny", help="an id on the hub, or a folder")
    parser.add_argument("--classifier", default="words", help="a model, or words for a rule")
    parser.add_argument("--steps", type=int, default=1500)
    parser.add_argument("--lr", type=float, default=1e-2)
    parser.add_argument("--outdir", default=tempfile.mkdtemp())
    given = parser.parse_args(arguments)
    logging.basicConfig(level="WARNING")

    model, tokenizer = load(given.model, encoder_decoder=False)
    NegativeEnv.classifier = given.classifier
    observation_list = [{"input": "i think Dogecoin is"}]
    env = NegativeEnv(
        model,
        tokenizer,
        observation_input=observation_list,
        max_length=15,
        compare_sample=4,
        unfreeze_layer_from_past=1,
    )
    actor = TextRLActor(
        env, model, tokenizer, optimizer="adamw", unfreeze_layer_from_past=1, temperature=1.0
    )
    agent = actor.agent_ppo(update_interval=64, minibatch_size=64, epochs=5, lr=given.lr)
    print("before:", actor.predict(observation_list[0])[0])
    train_agent_with_evaluation(
        agent,
        env,
        steps=given.steps,
        eval_n_steps=None,
        eval_n_episodes=1,
        eval_interval=500,
        outdir=given.outdir,
    )
    print("after:", actor.predict(observation_list[0])[0])


if __name__ == "__main__":
    main()
