"""Runs in josh-train's environment: one rollout of its synchronous class on a fake model."""

import json
import sys
import time

from josh_train.josh import JOSH, BaseJOSHAgent, BaseRewards  # pyright: ignore[reportMissingImports]


def main() -> None:
    """Print a JSON object with the seconds and calls of one rollout as stdin describes it."""
    given = json.load(sys.stdin)
    calls = {"agent": 0, "user": 0}

    def say(agent: BaseJOSHAgent, side: str) -> None:
        calls[side] += 1
        time.sleep(given["latency_s"])
        agent.add_message({"role": "assistant" if side == "agent" else "user", "content": "hello"})

    def agent_step(agent: BaseJOSHAgent, **_: object) -> tuple[BaseJOSHAgent, bool]:
        say(agent, "agent")
        return agent, True

    def user_step(_: object, agent: BaseJOSHAgent) -> tuple[BaseJOSHAgent, bool]:
        say(agent, "user")
        return agent, False

    start = time.perf_counter()
    agent, _ = user_step(None, BaseJOSHAgent())
    rollout = JOSH(
        rewards=BaseRewards(["never"]),
        agent_step=agent_step,
        user_step=user_step,
        add_error_message=lambda agent: agent,
        root_agent=agent,
        user=None,
        beam_size=given["beam_size"],
    )
    for _ in range(given["max_steps"]):
        rollout.step()
    print(json.dumps({"seconds": time.perf_counter() - start, "calls": calls}))


if __name__ == "__main__":
    main()
