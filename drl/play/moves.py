"""One branch of a dialogue and the moves that extend it; all that plays is made of these."""

from __future__ import annotations

from asyncio import ensure_future, gather
from collections.abc import Awaitable, Iterable
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass, replace
from typing import TypeVar

from drl.agent.base import Situation
from drl.environment.base import Session
from drl.errors import DataError, DialogueError, DrlError
from drl.llm.base import ContextOverflowError
from drl.play.broken import OVERFLOW, broken, overflown, refuse_unwritable
from drl.play.calls import carry_out, carry_out_again
from drl.play.cast import Cast
from drl.runtime.seeds import derive
from drl.tree.dialogue_tree import DialogueTree
from drl.types import Place, Role, Step, StopReason, Task, Turn
from drl.user_simulator.base import Encounter

OUT_OF_CALLS = "Sorry, I could not finish that. Could you say once more what you need?"
"""What the customer hears when the agent has used up its calls and still does not reply."""

MAX_USER_STEPS = 20
"""Steps with calls that a customer may take before it has to speak."""

_Result = TypeVar("_Result")


@dataclass(slots=True, eq=False)
class Branch:
    """A leaf that is still alive: its place in the tree and what each side has seen so far.

    `key` stands for the path from the first root: it seeds the agent, so siblings differ.
    The views are shared with siblings and never change; a fork copies nothing but references.
    """

    node: int | None
    key: int
    session: Session
    open_goals: tuple[int, ...]
    agent_view: tuple[Turn, ...] = ()
    user_view: tuple[Turn, ...] = ()
    steps: tuple[Step, ...] = ()
    """Steps of the agent's turn in progress."""

    @property
    def awaits_agent(self) -> bool:
        """Whether it is the agent's move: the customer spoke last, or its turn goes on."""
        return bool(self.steps or (self.agent_view and self.agent_view[-1].role is Role.USER))

    def fork(self, child: int | str) -> Branch:
        """A branch that goes on from here as child number `child`."""
        return replace(self, key=derive(self.key, child), session=self.session.fork())

    def take(self, turn: Turn) -> None:
        """Append a finished turn to both sides' views."""
        public = turn.public()
        of_agent = turn.role is Role.AGENT
        self.agent_view += (turn if of_agent else public,)
        self.user_view += (public if of_agent else turn,)


@dataclass(frozen=True, slots=True)
class Play:
    """The moves of one (task, trial)."""

    task: Task
    trial: int
    cast: Cast

    def start(self, root: int = 0) -> Branch:
        """The branch at the task's opening; `root` tells independent dialogues apart."""
        opening = self.task.opening
        public = tuple(turn.public() for turn in opening)
        pairs = list(zip(opening, public, strict=True))
        return Branch(
            node=None,
            key=derive(self.cast.seed, self.task.id, self.trial, "agent", root),
            session=self.cast.environment.open(self.task),
            open_goals=tuple(range(len(self.task.goals))),
            agent_view=tuple(own if own.role is Role.AGENT else said for own, said in pairs),
            user_view=tuple(own if own.role is Role.USER else said for own, said in pairs),
        )

    async def at(self, tree: DialogueTree, node_id: int) -> Branch:
        """The branch at a stored node, made again by carrying out the calls on the way to it.

        Its `key` depends on the node, not on how the search came there, so what it does next is
        not what was done.

        Raises:
            DataError: a call gives another result than is stored, or the dialogue broke on the way.
        """
        branch = self.start()
        branch.key = derive(branch.key, "at", node_id)
        for node in tree.path(node_id):
            turn = node.turn
            if turn.failure is not None:
                raise DataError(f"{_where(tree, node.id)}: the dialogue broke there")
            branch.node = node.id
            branch.open_goals = node.open_goals
            await carry_out_again(branch.session, turn, _where(tree, node.id))
            if turn.role is Role.USER:
                branch.take(turn)
                continue
            branch.steps += turn.steps
            if turn.text is not None:
                branch.take(replace(turn, steps=branch.steps))
                branch.steps = ()
        return branch

    def encounter(self, branch: Branch, steps: tuple[Step, ...]) -> Encounter:
        """What the customer knows on a branch when it is its move, after `steps` of its turn.

        Siblings meet the same customer: one seed per turn index and step.
        """
        where = ("user", len(branch.user_view), *([len(steps)] if steps else []))
        return Encounter(
            brief=self.task.brief,
            history=branch.user_view,
            seed=derive(self.cast.seed, self.task.id, self.trial, *where),
            place=Place(self.task.id, self.trial, branch.node),
            toolbox=branch.session.user_toolbox,
            steps=steps,
            must_speak=len(steps) >= MAX_USER_STEPS,
        )

    async def user_turn(self, branch: Branch) -> Turn:
        """What the customer says next, after the calls that it makes before."""
        cast = self.cast
        steps: tuple[Step, ...] = ()
        stage = "user_simulator"
        try:
            while True:
                async with _room(cast, cast.user_simulator.uses_llm):
                    encounter = self.encounter(branch, steps)
                    turn = await cast.user_simulator.speak(encounter, cast.user_llm)
                refuse_unwritable(turn.text)
                if turn.text is not None:
                    break
                if len(steps) >= MAX_USER_STEPS:
                    raise DialogueError(f"the customer said nothing after {len(steps)} steps")
                stage = "environment"
                (step,) = turn.steps
                results = [await branch.session.call_by_user(call) for call in step.calls]
                steps += (replace(step, results=tuple(results) or step.results),)
                stage = "user_simulator"
            turn = replace(turn, steps=steps + turn.steps)
            branch.take(turn)
        except ContextOverflowError as error:
            return overflown(Role.USER, error)
        except DialogueError as error:
            return broken(Role.USER, (), stage, error)
        except DrlError:
            raise
        except Exception as error:
            return broken(Role.USER, (), stage, error)
        return turn

    def situation(self, branch: Branch) -> Situation:
        """What the agent knows on a branch when it is its move."""
        agent = self.cast.agent
        return Situation(
            history=branch.agent_view,
            steps=branch.steps,
            toolbox=branch.session.toolbox,
            seed=derive(branch.key, len(branch.agent_view), len(branch.steps)),
            must_reply=not agent.calls_left(branch.steps),
            goals=self.task.goals if agent.sees_goals else (),
            temperature=self.task.temperature,
            place=Place(self.task.id, self.trial, branch.node),
        )

    async def agent_step(self, branch: Branch) -> Turn:
        """The agent's next step as (part of) a turn; its calls have run.

        Calls past the agent's limit are not carried out, nor any after one that ends the dialogue.
        """
        cast = self.cast
        calls_left = cast.agent.calls_left(branch.steps)
        stage = "agent"
        try:
            async with _room(cast, cast.agent.uses_llm):
                step = await cast.agent.act(self.situation(branch), cast.llm)
            refuse_unwritable(step.text, step.plan, step.reply)
            if not calls_left and step.reply is None:
                step = replace(step, calls=(), results=(), reply=OUT_OF_CALLS)
            if step.calls:
                stage = "environment"
                calls = step.calls if cast.agent.counts_steps else step.calls[:calls_left]
                results = await carry_out(branch.session, calls)
                step = replace(step, calls=calls[: len(results)], results=results)
        except ContextOverflowError as error:
            return overflown(Role.AGENT, error)
        except DialogueError as error:
            return broken(Role.AGENT, (), stage, error)
        except DrlError:
            raise
        except Exception as error:
            return broken(Role.AGENT, (), stage, error)
        branch.steps += (step,)
        hangs_up = any(result.ends for result in step.results)
        text = "" if hangs_up else step.reply
        if text is not None:
            branch.take(Turn(Role.AGENT, text, branch.steps, hangs_up))
            branch.steps = ()
        return Turn(Role.AGENT, text, (step,), hangs_up)

    async def agent_turn(self, branch: Branch) -> Turn:
        """Steps of the agent until it replies, as one turn."""
        steps: list[Step] = []
        while True:
            part = await self.agent_step(branch)
            steps.extend(part.steps)
            if part.text is not None or part.failure is not None:
                return replace(part, steps=tuple(steps))

    async def record(self, tree: DialogueTree, branch: Branch, turn: Turn) -> StopReason | None:
        """Store the turn below the branch, with what it earned; why the branch stops, if so."""
        node = tree.add(branch.node, turn, branch.open_goals)
        branch.node = node.id
        if turn.failure is not None:
            is_overflow = turn.failure.stage == OVERFLOW
            node.stop = StopReason.CONTEXT_OVERFLOW if is_overflow else StopReason.ERROR
            # the agent is not to blame for a customer who can hear no more
            node.censored = is_overflow and turn.role is Role.USER
        if turn.role is Role.AGENT and node.stop is not StopReason.ERROR:
            judgement = await self.cast.reward.judge(
                self.task,
                self.cast.environment,
                self._before(branch),
                turn,
                branch.open_goals,
                self.cast.judge_llm,
            )
            node.events, node.unscored = judgement.events, judgement.unscored
            node.open_goals = branch.open_goals = judgement.open_goals
        if turn.hangs_up:
            of_agent = turn.role is Role.AGENT
            node.stop = StopReason.AGENT_ENDED if of_agent else StopReason.USER_ENDED
        return node.stop

    def _before(self, branch: Branch) -> tuple[Turn, ...]:
        """The finished turns before the agent's newest, without the opening."""
        said = branch.agent_view[len(self.task.opening) :]
        return said[:-1] if said and said[-1].role is Role.AGENT else said

    async def grade(self, tree: DialogueTree) -> None:
        """Score every dialogue that did not break; a censored one as far as it went."""
        for leaf in tree.leaves():
            if leaf.stop is not StopReason.ERROR:
                turns = [replace(turn, failure=None) for turn in tree.dialogue(leaf.id)]
                leaf.score = await self.cast.score.grade(
                    self.task, self.cast.environment, turns, self.cast.judge_llm
                )


async def together(moves: Iterable[Awaitable[_Result]]) -> list[_Result]:
    """Run moves side by side; results in the order given. One that raises ends the others."""
    tasks = [ensure_future(move) for move in moves]
    try:
        return list(await gather(*tasks))
    except BaseException:
        for task in tasks:
            task.cancel()
        await gather(*tasks, return_exceptions=True)
        raise


def _where(tree: DialogueTree, node: int) -> str:
    return f"task {tree.task_id}, trial {tree.trial}, node {node}"


def _room(cast: Cast, uses_llm: bool) -> AbstractAsyncContextManager[None]:
    """Room for a move of a participant without a model: requests to models are bounded later."""
    return nullcontext() if uses_llm else cast.limit
