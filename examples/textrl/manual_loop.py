"""TextRL's loop written out: act, step, observe; statistics from time to time.

    python examples/textrl/manual_loop.py

Each step reads the texts anew; `train_agent_with_evaluation` writes whole batches at once and is
many times faster.
"""

import argparse
import logging
from collections.abc import Sequence

from tiny import GOOD, load

from drl.compat.textrl import TextRLActor, TextRLEnv


class MyRLEnv(TextRLEnv):
    """Pays each token at once: 1 for a good word."""

    def get_reward(self, input_item, predicted_list, finish):
        """Rewards of the candidates with their last token."""
        return [float(tokens[-1] in GOOD) for tokens in predicted_list]


def main(arguments: Sequence[str] | None = None) -> None:
    """Train, and show what changed."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--model", default="tiny", help="an id on the hub, or a folder")
    parser.add_argument("--episodes", type=int, default=100)
    parser.add_argument("--lr", type=float, default=1e-2)
    given = parser.parse_args(arguments)
    logging.basicConfig(level="WARNING")

    model, tokenizer = load(given.model, encoder_decoder=False)
    env = MyRLEnv(model, tokenizer, observation_input=[{"input": "the weather is"}], max_length=8)
    actor = TextRLActor(env, model, tokenizer, optimizer="adamw")
    agent = actor.agent_ppo(update_interval=20, minibatch_size=100, epochs=5, lr=given.lr)
    max_episode_len = 8
    for episode in range(1, given.episodes + 1):
        obs = env.reset()
        total = 0
        t = 0
        while True:
            action = agent.act(obs)
            obs, reward, done, _ = env.step(action)
            total += reward
            t += 1
            reset = t == max_episode_len
            agent.observe(obs, reward, done, reset)
            if done or reset:
                break
        if episode % 50 == 0:
            print("episode:", episode, "R:", total)
            print("statistics:", agent.get_statistics())
    with agent.eval_mode():
        print(actor.predict({"input": "the weather is"}))


if __name__ == "__main__":
    main()
