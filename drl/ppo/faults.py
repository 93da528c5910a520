"""Why a trajectory cannot be learned from, if it cannot, before anything is computed."""

from __future__ import annotations

from itertools import chain

from drl.ppo.trajectory import Trajectory

LARGEST_REWARD = 1e15
"""What a trajectory may earn in all: sums of squares of more overflow float32."""


def fault_of(trajectory: Trajectory) -> str | None:
    """What is wrong with it, and what to do, as the end of a sentence about it; None: nothing."""
    calls = [call for turn in trajectory.turns for call in turn.calls]
    if not all(turn.calls for turn in trajectory.turns):
        return "has a turn without a model call; give its reward to the turn before it"
    if not any(call.token_ids for call in calls):
        return "holds no sampled token, so there is nothing to learn from it; leave it out"
    if not all(call.prompt_ids for call in calls) or trajectory.next_prompt == ():
        return (
            "has a prompt without tokens, so its first token cannot be scored; begin it with the "
            "tokenizer's bos_token"
        )
    return _fault_of_shapes(trajectory) or _fault_of_sizes(trajectory)


def _fault_of_shapes(trajectory: Trajectory) -> str | None:
    for number, turn in enumerate(trajectory.turns):
        if turn.token_rewards is None:
            continue
        wanted = [len(call.token_ids) for call in turn.calls]
        given = [len(row) for row in turn.token_rewards]
        if wanted != given:
            return (
                f"has in turn {number} rewards for {given} tokens, but its calls have {wanted}; "
                "give one number for each token"
            )
    return None


def _fault_of_sizes(trajectory: Trajectory) -> str | None:
    earned: list[float] = []
    for turn in trajectory.turns:
        rows = turn.token_rewards or ()
        earned += [turn.reward, turn.advantage or 0.0, *chain.from_iterable(rows)]
    in_all = sum(map(abs, earned))
    if in_all <= LARGEST_REWARD:  # which NaN is not
        return None
    return (
        f"has rewards of {in_all:g} in all, of which gradients would be no numbers; let the reward "
        f"give finite numbers, and of at most {LARGEST_REWARD:g} in all"
    )
