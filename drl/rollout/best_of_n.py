"""Independent dialogues of which the best one counts: the baseline that a search must beat."""

from dataclasses import dataclass

from drl.agent.base import Agent
from drl.errors import ConfigError
from drl.play.cast import Cast
from drl.play.dialogue import play_dialogue
from drl.play.moves import Play, together
from drl.rollout.base import Rollout
from drl.runtime.settings import check_positive
from drl.tree.dialogue_tree import DialogueTree
from drl.types import Task


@dataclass(kw_only=True)
class BestOfNRollout(Rollout):
    """Plays dialogues by count, or by a budget of agent calls.

    By count (`num_dialogues`) they run side by side, each to its end. By budget (`agent_calls`)
    they run one after the other until every goal was reached in one of them or the budget is
    spent; the dialogue that spends it ends after its turn, censored.
    """

    is_search = True

    num_dialogues: int | None
    agent_calls: int | None
    max_steps: int
    concurrency: int

    def __post_init__(self) -> None:
        """Check the settings against each other."""
        if (self.num_dialogues is None) == (self.agent_calls is None):
            raise ConfigError(
                f"rollout.num_dialogues={self.num_dialogues} and rollout.agent_calls="
                f"{self.agent_calls}: exactly one of the two decides how long to try; "
                "set the other to null"
            )
        self.cuts_branches = self.num_dialogues is None
        size = self.num_dialogues or self.agent_calls or 0
        name = "agent_calls" if self.num_dialogues is None else "num_dialogues"
        check_positive(
            "rollout", **{name: size}, max_steps=self.max_steps, concurrency=self.concurrency
        )

    def check(self, agent: Agent) -> None:
        """Any agent will do."""

    async def run(self, task: Task, trial: int, cast: Cast) -> DialogueTree:
        """All dialogues, as a tree with one root each."""
        tree = DialogueTree.of(task, trial)
        play = Play(task, trial, cast)
        if self.num_dialogues is not None:
            await self._by_count(tree, play, self.num_dialogues)
        elif self.agent_calls is not None:
            await self._by_budget(tree, play, self.agent_calls)
        tree.mark_successful()
        await play.grade(tree)
        best = tree.best_leaf()
        if best is not None and best.score:
            tree.mark_golden(best.id)
        return tree

    async def _by_count(self, tree: DialogueTree, play: Play, num_dialogues: int) -> None:
        """Side by side; each grows in a tree of its own, so node ids do not depend on timing."""
        parts = [tree.empty() for _ in range(num_dialogues)]
        await together(
            play_dialogue(part, play, play.start(root), max_steps=self.max_steps)
            for root, part in enumerate(parts)
        )
        for part in parts:
            tree.graft(part, below=None)

    async def _by_budget(self, tree: DialogueTree, play: Play, agent_calls: int) -> None:
        root = 0
        while tree.num_agent_calls < agent_calls:
            branch = play.start(root)
            before = tree.num_agent_calls
            await play_dialogue(
                tree,
                play,
                branch,
                max_steps=self.max_steps,
                max_calls=agent_calls - before,
                stop_at_open=0 if play.task.goals else None,
            )
            reached_all = bool(play.task.goals) and not branch.open_goals
            if reached_all or tree.num_agent_calls == before:
                return  # found, or dialogues that break before the agent moves: trying on is vain
            root += 1
