"""A dialogue game of two actions, small enough to write down every tree that can be sampled in it.

An action is a step of the agent, written as "0" or "1"; a turn is one step or two. What it pays
and whether the customer then hangs up depends on all actions so far (a `past` such as "011"). The
policy has one parameter for each past: the log-odds of action 1 after it.
"""

import asyncio
import math
import random
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import product

from scripted import ScriptedAgent, ScriptedUser, cast_of, task_of

from drl.agent.base import Situation
from drl.credit.base import Credit
from drl.llm.base import LLM
from drl.rollout.base import Rollout
from drl.tree.dialogue_tree import DialogueTree
from drl.types import Role, Step, ToolCall, Turn
from drl.user_simulator.base import Encounter

Gradient = Mapping[str, float]
GOALS = ("a", "b", "c")


@dataclass(frozen=True)
class Game:
    """What is paid after each past (once for each goal), and when the customer hangs up."""

    pays: Mapping[str, str]
    ends: frozenset[str] = frozenset()
    steps_per_turn: int = 1
    num_turns: int = 3
    shift: Mapping[str, float] = field(default_factory=dict)
    """Added to the log-odds after a past; for differences."""

    def chance(self, past: str) -> float:
        """Of action 1."""
        odds = random.Random(past).uniform(-1.5, 1.5) + self.shift.get(past, 0.0)
        return 1 / (1 + math.exp(-odds))

    def probability(self, past: str, action: str) -> float:
        return self.chance(past) if action == "1" else 1 - self.chance(past)

    def slope(self, past: str, action: str) -> float:
        """The derivative of the action's log-probability by the log-odds after this past."""
        return float(action) - self.chance(past)

    def dialogues(self) -> Iterator[tuple[str, float, float]]:
        """All that can happen to one dialogue: its actions, their probability, what they earn."""
        found = set()
        for actions in product("01", repeat=self.steps_per_turn * self.num_turns):
            for turn in range(1, self.num_turns + 1):
                said = "".join(actions[: turn * self.steps_per_turn])
                if said in self.ends or turn == self.num_turns or self.earned(said) == 1:
                    found.add(said)
                    break
        for said in sorted(found):
            yield said, math.prod(self._probabilities(said)), self.earned(said)

    def _probabilities(self, said: str) -> Iterator[float]:
        for place, action in enumerate(said):
            yield self.probability(said[:place], action)

    def earned(self, said: str) -> float:
        pasts = (said[:length] for length in range(1, len(said) + 1))
        return len({self.pays[past] for past in pasts if past in self.pays}) / len(GOALS)

    def value(self) -> float:
        return sum(probability * earned for _, probability, earned in self.dialogues())

    def exact_gradient(self) -> Gradient:
        """Of the value, by all dialogues."""
        found: dict[str, float] = defaultdict(float)
        for said, probability, earned in self.dialogues():
            for place, action in enumerate(said):
                found[said[:place]] += probability * earned * self.slope(said[:place], action)
        return found


class Player(ScriptedAgent):
    """Takes the actions of a script, then "0"; breaks at some calls, whatever was said."""

    def __init__(self, game: Game, script: str, breaks_at: frozenset[int]) -> None:
        super().__init__(self._decide)
        self.game = game
        self.script = script
        self.breaks_at = breaks_at
        self.num_calls = 0
        self.taken = ""
        self.probability = 1.0

    def _decide(self, situation: Situation) -> Step:
        self.num_calls += 1
        if self.num_calls in self.breaks_at:
            raise RuntimeError("no answer")
        before = [step for turn in situation.history for step in turn.steps]
        past = "".join(step.text for step in (*before, *situation.steps))
        action = self.script[len(self.taken) : len(self.taken) + 1] or "0"
        self.taken += action
        self.probability *= self.game.probability(past, action)
        said = past + action
        calls = (ToolCall(self.game.pays[said], {}),) if said in self.game.pays else ()
        is_last = len(said) % self.game.steps_per_turn == 0
        return Step(action, calls=calls, reply=said if is_last else None)


class Customer(ScriptedUser):
    """Hangs up when the game says so."""

    def __init__(self, game: Game) -> None:
        super().__init__()
        self.game = game

    async def speak(self, encounter: Encounter, llm: LLM) -> Turn:
        said = encounter.history[-1].text if encounter.history else ""
        return Turn(Role.USER, "well", hangs_up=said in self.game.ends)


def all_trees(
    game: Game, rollout: Rollout, breaks_at: frozenset[int] = frozenset()
) -> Iterator[tuple[DialogueTree, float]]:
    """Every tree that the rollout can sample in the game, with its probability."""
    scripts = [""]
    while scripts:
        script = scripts.pop()
        player = Player(game, script, breaks_at)
        cast = cast_of(player, Customer(game))
        tree = asyncio.run(rollout.run(task_of(*GOALS), 0, cast))
        yield tree, player.probability
        scripts += [player.taken[:place] + "1" for place in range(len(script), len(player.taken))]


def estimate(game: Game, credit: Credit, tree: DialogueTree, *, whole: bool = False) -> Gradient:
    """The gradient by one tree: weight x advantage (or what followed) x slope, over all turns.

    With `whole` each turn is as good as its whole dialogue.
    """
    found: dict[str, float] = defaultdict(float)
    for dialogue in credit.assign(tree):
        pasts = _pasts(tree, dialogue.leaf)
        to_come = sum(turn.reward for turn in dialogue.turns)
        for turn in dialogue.turns:
            advantage = to_come if turn.advantage is None else turn.advantage
            for node in turn.nodes:
                for past, action in pasts[node]:
                    found[past] += turn.weight * advantage * game.slope(past, action)
            to_come -= 0.0 if whole else turn.reward
    return found


def _pasts(tree: DialogueTree, leaf: int) -> Mapping[int, list[tuple[str, str]]]:
    """For each node on the way its actions, each with what was said before."""
    said = ""
    found: dict[int, list[tuple[str, str]]] = defaultdict(list)
    for node in tree.path(leaf):
        for step in node.turn.steps:
            found[node.id].append((said, step.text))
            said += step.text
    return found
