"""A dialogue played to its end without branching."""

from drl.play.moves import Branch, Play
from drl.tree.dialogue_tree import DialogueTree
from drl.types import Role, StopReason


async def play_dialogue(
    tree: DialogueTree,
    play: Play,
    branch: Branch,
    *,
    max_steps: int,
    max_calls: int | None = None,
    is_cut_by_calls: bool = True,
    stop_at_open: int | None = None,
) -> StopReason:
    """Extend `branch` in turns until something ends it; returns why.

    The customer speaks first, unless it is the agent's move. `max_steps` counts agent turns, one
    that is in progress included. `max_calls` bounds the agent's decisions: the
    turn that would pass it is still played, so a dialogue is never cut inside a turn; it is then
    censored by a budget, or without `is_cut_by_calls` at its limit like any other. With
    `stop_at_open` it ends once no more than so many goals are open.
    """
    first = len(tree.nodes)
    roles = (Role.AGENT,) if branch.awaits_agent else (Role.USER, Role.AGENT)
    for _ in range(max_steps):
        for role in roles:
            turn = await (play.user_turn if role is Role.USER else play.agent_turn)(branch)
            stop = await play.record(tree, branch, turn)
            if stop is not None:
                return stop
        roles = (Role.USER, Role.AGENT)
        if stop_at_open is not None and len(branch.open_goals) <= stop_at_open:
            return _stop(tree, branch, StopReason.GOALS_REACHED)
        if max_calls is not None and _calls_since(tree, first) >= max_calls:
            spent = StopReason.BUDGET if is_cut_by_calls else StopReason.MAX_TURNS
            return _stop(tree, branch, spent)
    return _stop(tree, branch, StopReason.MAX_TURNS)


def _stop(tree: DialogueTree, branch: Branch, reason: StopReason) -> StopReason:
    assert branch.node is not None, "a dialogue stops after at least one turn"
    leaf = tree.nodes[branch.node]
    leaf.stop = reason
    leaf.censored = reason is StopReason.BUDGET
    return reason


def _calls_since(tree: DialogueTree, first: int) -> int:
    return sum(len(n.turn.steps) for n in tree.nodes[first:] if n.turn.role is Role.AGENT)
