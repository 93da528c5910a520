"""One dialogue: what the policy does alone."""

from dataclasses import dataclass

from drl.agent.base import Agent
from drl.play.cast import Cast
from drl.play.dialogue import play_dialogue
from drl.play.moves import Play
from drl.rollout.base import Rollout
from drl.runtime.settings import check_positive
from drl.tree.dialogue_tree import DialogueTree
from drl.types import Task


@dataclass(kw_only=True)
class SingleRollout(Rollout):
    """Plays one dialogue of at most `max_steps` agent turns.

    `max_calls` bounds the agent's steps, as tau-bench does; the turn that passes it is played.
    """

    is_search = False
    cuts_branches = False

    max_steps: int
    max_calls: int | None
    concurrency: int

    def __post_init__(self) -> None:
        """Check the settings."""
        check_positive("rollout", max_steps=self.max_steps, concurrency=self.concurrency)
        if self.max_calls is not None:
            check_positive("rollout", max_calls=self.max_calls)

    def check(self, agent: Agent) -> None:
        """Any agent will do."""

    async def run(self, task: Task, trial: int, cast: Cast) -> DialogueTree:
        """The one dialogue, as a tree without branches."""
        tree = DialogueTree.of(task, trial)
        play = Play(task, trial, cast)
        await play_dialogue(
            tree,
            play,
            play.start(),
            max_steps=self.max_steps,
            max_calls=self.max_calls,
            is_cut_by_calls=False,
        )
        tree.mark_successful()
        await play.grade(tree)
        return tree
