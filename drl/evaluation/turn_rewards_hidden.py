"""Sessions as evaluation looks at them, with hidden rewards where the data were generated.

It is called when all models are trained: no training may know what is hidden.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from drl.domains.candor.hidden import read_hidden
from drl.evaluation.turn_rewards import Observed
from drl.turn_reward.session import Session


def observe(sessions: Sequence[Session], folder: Path) -> list[Observed]:
    """What is known of sessions that have a score; the others are left out.

    Args:
        sessions: each with a turn of the agent.
        folder: of the data, in which hidden rewards may lie.

    Raises:
        DataError: the hidden rewards are there and cannot be read.
    """
    hidden = read_hidden(folder)
    found: list[Observed] = []
    for session in sessions:
        if session.score is None:
            continue
        turns = [session.turns[place] for place in session.agent_turns]
        labels = [turn.reaction.label if turn.reaction else None for turn in turns]
        true = [hidden.get((session.conversation_id, turn.number)) for turn in turns]
        known = [reward for reward in true if reward is not None]
        found.append(
            Observed(
                session_id=session.id,
                conversation_id=session.conversation_id,
                score=session.score,
                labels=np.array([np.nan if label is None else label for label in labels]),
                lengths=np.array([float(len(turn.text.split())) for turn in turns]),
                hidden=np.array(known) if len(known) == len(turns) else None,
            )
        )
    return found
