"""JOSH: a beam of dialogues that is cut to the branch which earned a reward (arXiv:2409.04617).

Live branches are doubled as long as the beam holds them. As soon as a branch reaches a goal,
all others are cut, the goal is taken off the list and the search goes on from there.

Without the cut (`collapse_to=never`) the tree is a sample of what the agent does: where it
branches depends on what was said before, never on what comes of it. `drl.credit.tree` learns from
such trees. Their best leaf was still chosen by its reward, so they are reported as search.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from drl.agent.base import Agent
from drl.errors import ConfigError
from drl.play.cast import Cast
from drl.play.dialogue import play_dialogue
from drl.play.moves import Branch, Play, together
from drl.rollout.base import Rollout
from drl.runtime.settings import check_positive
from drl.tree.dialogue_tree import DialogueTree
from drl.types import Role, StopReason, Task, Turn


@dataclass(kw_only=True)
class JoshRollout(Rollout):
    """Keeps the rewarded branches of a dialogue tree.

    A beam of 1 never branches: a plain dialogue.
    `branch_at`: a branching point is a whole agent turn, or each of its steps.
    `collapse_to`: among branches rewarded in one turn the search goes on with the one that
    reached most goals (leftmost among equals), or with the leftmost. `never`: with all branches,
    each to its own end; the best of them is then marked golden. Such trees branch also without
    goals, for what else their dialogues may be worth.
    `label_cut`: a branch that a collapse cuts is censored, or counts as failed as in josh-train.
    `resolve_censored`: continue each branch that a collapse censored so many times to find out
    how it ends.
    `final_harvest`: branches after the last reward count; otherwise they are censored.
    `stop_at_goals`: the search ends with its last goal; otherwise the golden branch goes on alone
    until somebody ends it, for grades that look at what is said and done after it.
    `allow_greedy`: accept an agent whose siblings are all equal (a control).
    """

    is_search = True

    beam_size: int
    branching: int
    max_steps: int
    branch_at: Literal["turn", "step"]
    collapse_to: Literal["most_goals", "leftmost", "never"]
    label_cut: Literal["censored", "failed"]
    resolve_censored: int
    final_harvest: bool
    stop_at_goals: bool
    allow_greedy: bool
    concurrency: int

    def __post_init__(self) -> None:
        """Check the settings against each other."""
        check_positive(
            "rollout",
            beam_size=self.beam_size,
            branching=self.branching,
            max_steps=self.max_steps,
            concurrency=self.concurrency,
        )
        if self.branching > self.beam_size > 1:
            raise ConfigError(
                f"rollout.branching={self.branching} exceeds rollout.beam_size={self.beam_size}: "
                "no beam could keep its children; lower branching or raise beam_size"
            )
        if self.resolve_censored < 0:
            raise ConfigError(
                f"rollout.resolve_censored={self.resolve_censored} must not be negative; "
                "0 leaves censored branches unresolved"
            )
        if self.resolve_censored and self.label_cut == "failed":
            raise ConfigError(
                f"rollout.resolve_censored={self.resolve_censored} finds nothing to continue with "
                "rollout.label_cut=failed; set label_cut=censored, or resolve_censored=0"
            )
        self.cuts_branches = self.collapse_to != "never"
        if not self.cuts_branches and (self.resolve_censored or not self.final_harvest):
            raise ConfigError(
                f"rollout.collapse_to={self.collapse_to} censors no branch; set "
                "rollout.resolve_censored=0 and rollout.final_harvest=true, or another collapse_to"
            )

    def check(self, agent: Agent) -> None:
        """Refuse an agent whose siblings would all be equal."""
        if not (agent.explores or self.allow_greedy or self.beam_size == 1):
            raise ConfigError(
                "agent: this one takes the same step in every sibling (its temperature is 0, or it "
                "has none), so a josh rollout has nothing to search; raise agent.temperature, "
                "choose another agent, or set rollout.allow_greedy=true for a control"
            )

    async def run(self, task: Task, trial: int, cast: Cast) -> DialogueTree:
        """The tree of one search, graded."""
        tree = DialogueTree.of(task, trial)
        search = _Search(self, Play(task, trial, cast), tree)
        await search.grow()
        await search.resolve()
        await search.play.grade(tree)
        best = None if self.cuts_branches else tree.best_leaf()
        if best is not None and best.score:
            tree.mark_golden(best.id)
        return tree


class _Search:
    """The state of one search: the tree so far, and the branches cut from it."""

    def __init__(self, settings: JoshRollout, play: Play, tree: DialogueTree) -> None:
        self.settings = settings
        self.play = play
        self.tree = tree
        self.censored: list[Branch] = []
        self.ended: list[Branch] = []
        """Branches that the agent itself has ended in the phase that goes on."""
        self.last_collapse = 0
        """The first node after it."""

    async def grow(self) -> None:
        """Alternate the two sides until no goal is open, no branch lives or the steps are over."""
        start = self.play.start()
        live = [start] if start.awaits_agent else await self._user_phase([start])
        for step in range(self.settings.max_steps):
            if not live:
                break
            num_open = len(live[0].open_goals)  # of every branch, where collapses keep them level
            live = await self._agent_phase(live)
            if self.settings.cuts_branches:
                live = self._collapse(live, num_open)
            live = self._unfinished(live)
            if step + 1 < self.settings.max_steps:
                live = await self._user_phase(live)
        else:
            self._stop(live, StopReason.MAX_TURNS)
        if not self.settings.final_harvest:
            for leaf in self.tree.leaves():
                is_broken = leaf.stop is StopReason.ERROR  # which is never censored
                leaf.censored |= leaf.id >= self.last_collapse and not is_broken
        self.tree.mark_successful()

    async def _user_phase(self, live: list[Branch]) -> list[Branch]:
        turns = await together(self.play.user_turn(branch) for branch in live)
        return await self._record(live, turns)

    async def _agent_phase(self, live: list[Branch]) -> list[Branch]:
        """One agent turn on every live branch, after branching where the beam has room."""
        self.ended = []
        if self.settings.branch_at == "turn":
            live = self._expand(live)
            turns = await together(self.play.agent_turn(branch) for branch in live)
            return await self._record(live, turns)
        done: list[Branch] = []
        while len(done) < len(live):
            live = self._expand(live, done)
            movers = [branch for branch in live if branch not in done]
            parts = await together(self.play.agent_step(branch) for branch in movers)
            alive = await self._record(movers, parts)
            done += [branch for branch in alive if not branch.steps]
            live = [branch for branch in live if branch in done or branch in alive]
        return live

    def _expand(self, live: list[Branch], done: Sequence[Branch] = ()) -> list[Branch]:
        """Every branch but those `done` becomes `branching` equal ones, if the beam holds all.

        Without open goals there is nothing to search for, so the one dialogue goes on alone.
        """
        is_vain = self.settings.cuts_branches and not any(branch.open_goals for branch in live)
        branching = 1 if is_vain else self.settings.branching
        num_after = (len(live) - len(done)) * branching + len(done)
        if branching == 1 or num_after > self.settings.beam_size:
            return live
        return [
            twin
            for branch in live
            for twin in ([branch] if branch in done else map(branch.fork, range(branching)))
        ]

    async def _record(self, live: list[Branch], turns: list[Turn]) -> list[Branch]:
        """Store a turn on each branch, in order; those that go on."""
        alive = []
        for branch, turn in zip(live, turns, strict=True):
            was_won = bool(self.tree.num_goals) and not branch.open_goals
            stop = await self.play.record(self.tree, branch, turn)
            if self.settings.cuts_branches and was_won:
                self.tree.mark_golden(_node(branch))  # it goes on alone
            if stop is None:
                alive.append(branch)
            elif stop is StopReason.AGENT_ENDED:
                self.ended.append(branch)
        return alive

    def _collapse(self, live: list[Branch], num_open: int) -> list[Branch]:
        """Cut every branch but one of the rewarded, if any was; those that go on.

        A branch that the agent has ended goes on nowhere, so with goals open it is the last choice.
        """
        rewarded = [branch for branch in (*live, *self.ended) if len(branch.open_goals) < num_open]
        if not rewarded:
            return live
        self.last_collapse = len(self.tree.nodes)
        target = rewarded[0]
        if self.settings.collapse_to == "most_goals":
            target = min(rewarded, key=self._distance)
        self.tree.mark_golden(_node(target))
        for branch in live:
            if branch is target:
                continue
            leaf = self.tree.nodes[_node(branch)]
            leaf.stop = StopReason.COLLAPSED
            if branch not in rewarded and self.settings.label_cut == "censored":
                leaf.censored = True
                self.censored.append(branch)
        return [target] if target in live else []

    def _distance(self, branch: Branch) -> tuple[bool, int]:
        """How far a branch is from all goals; a dead end is farther than whatever goes on."""
        num_open = len(branch.open_goals)
        return bool(num_open) and branch in self.ended, num_open

    def _unfinished(self, live: list[Branch]) -> list[Branch]:
        """Stop the branches that have reached every goal, if that ends them; those that go on."""
        if not self.settings.stop_at_goals:
            return live
        done = [branch for branch in live if self.tree.num_goals and not branch.open_goals]
        self._stop(done, StopReason.GOALS_REACHED)
        return [branch for branch in live if branch not in done]

    def _stop(self, live: list[Branch], reason: StopReason) -> None:
        for branch in live:
            self.tree.nodes[_node(branch)].stop = reason

    async def resolve(self) -> None:
        """Continue each branch that a collapse censored, to find out whether it would succeed."""
        tries = self.settings.resolve_censored
        ways = [(branch, index) for branch in self.censored for index in range(tries)]
        found = await together(self._continue(branch, index) for branch, index in ways)
        for (branch, _), (part, hit) in zip(ways, found, strict=True):
            leaf = self.tree.nodes[_node(branch)]
            self.tree.graft(part, below=leaf.id)
            if hit is not None:
                num_hits, num_tries = leaf.resolved or (0, 0)
                leaf.resolved = (num_hits + hit, num_tries + 1)

    async def _continue(self, branch: Branch, index: int) -> tuple[DialogueTree, bool | None]:
        """One continuation as a tree, and whether it earned a reward (None: it broke)."""
        part = self.tree.empty()
        twin = branch.fork(f"continue {index}")
        twin.node = None
        said = branch.agent_view[len(self.tree.opening) :]
        num_turns = sum(turn.role is Role.AGENT for turn in said)
        stop = await play_dialogue(
            part,
            self.play,
            twin,
            max_steps=max(1, self.settings.max_steps - num_turns),
            stop_at_open=len(branch.open_goals) - 1,
        )
        for node in part.nodes:
            node.continuation = True
        if stop is StopReason.ERROR:
            return part, None
        return part, len(twin.open_goals) < len(branch.open_goals)


def _node(branch: Branch) -> int:
    assert branch.node is not None, "a branch has a node once anyone has spoken"
    return branch.node
