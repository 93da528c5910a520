"""Invented trees in the shapes that rollouts give, about as long and as varied as real ones."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from random import Random

from drl.report.task_card import TaskCard
from drl.tree.dialogue_tree import DialogueTree, Node
from drl.types import JSON, Failure, RewardEvent, Role, Step, StopReason, ToolCall, ToolResult, Turn

AREAS = ("centre", "north", "south", "east", "west")
PRICES = ("cheap", "moderate", "expensive")
DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
FOODS = ("indian", "italian", "chinese", "british", "thai", "turkish", "gastropub", "seafood")
SYLLABLES = ("al", "ber", "cam", "dor", "el", "far", "gon", "hal", "ir", "jon", "kest", "lin")
SENTENCE = (
    "of course certainly there is one place that fits what you asked for and it has free parking "
    "would you like me to reserve it now or shall we look at another part of town first the "
    "reference number will follow as soon as the booking has gone through could you tell me how "
    "many people are coming which day suits you best and at what time you want to arrive sorry "
    "nothing matches all of that yet maybe a different price range or area would help today"
)
WORDS: tuple[str, ...] = tuple(SENTENCE.split())


def said(rng: Random, low: int = 14, high: int = 38) -> str:
    """A sentence that compresses no better than real language."""
    words = rng.choices(WORDS, k=rng.randint(low, high))
    words.insert(len(words) // 2, name(rng))
    return " ".join(words).capitalize() + "."


def name(rng: Random) -> str:
    """The name of a place."""
    return "".join(rng.choices(SYLLABLES, k=3)).capitalize() + rng.choice((" house", " lodge", ""))


def card_and_goals(rng: Random, task_id: str) -> TaskCard:
    """A task with two to four goals in one or two domains."""
    domains = rng.sample(("hotel", "restaurant", "train", "attraction"), k=rng.choice((1, 2, 2)))
    goals: list[tuple[str, dict[str, str]]] = []
    for domain in domains:
        goals.append((f"search_{domain}", arguments(rng, domain)))
        if domain != "attraction":
            goals.append((f"book_{domain}", {"people": str(rng.randint(1, 8)), **when(rng)}))
    instructions = tuple(said(rng, 10, 24) for _ in range(3 + len(goals)))
    return TaskCard(
        task_id=task_id,
        trial=0,
        domains=tuple(domains),
        goals=tuple(goals),
        instructions=instructions,
        score=None,
    )


def arguments(rng: Random, domain: str) -> dict[str, str]:
    """What a search asks for."""
    if domain == "train":
        return {"destination": "cambridge", "departure": name(rng).lower(), **when(rng)}
    found = {"area": rng.choice(AREAS), "pricerange": rng.choice(PRICES)}
    return found | ({"food": rng.choice(FOODS)} if domain == "restaurant" else {})


def when(rng: Random) -> dict[str, str]:
    """A day and a time."""
    return {"day": rng.choice(DAYS), "time": f"{rng.randint(7, 21):02}:{rng.randint(0, 3) * 15:02}"}


def row(rng: Random) -> dict[str, JSON]:
    """A database row as a search returns it."""
    return {
        "name": name(rng).lower(),
        "address": f"{rng.randint(1, 200)} {name(rng).lower()} road",
        "area": rng.choice(AREAS),
        "pricerange": rng.choice(PRICES),
        "phone": f"01223{rng.randint(100000, 999999)}",
        "postcode": f"cb{rng.randint(1, 9)}{rng.randint(1, 9)}{rng.choice('abdefgh')}x",
        "stars": str(rng.randint(0, 5)),
        "internet": rng.choice(("yes", "no")),
    }


def agent_turn(rng: Random, kinds: tuple[str, ...], *, num_calls: int = 1) -> Turn:
    """Plan and call as often as asked, then a reply."""
    steps: list[Step] = []
    for _ in range(num_calls):
        kind = rng.choice(kinds)
        call = ToolCall(kind, arguments(rng, kind.split("_")[1]))
        plan = said(rng, 8, 16)
        text = f"PLAN {plan} <COMMAND_END> APICALL {dict(call.arguments)} <COMMAND_END>"
        result = ToolResult([row(rng)] if rng.random() < 0.8 else [])
        steps.append(Step(text, plan, (call,), (result,)))
    reply, plan = said(rng), said(rng, 8, 14)
    steps.append(Step(f"PLAN {plan} <COMMAND_END> SPEAK {reply} <COMMAND_END>", plan, reply=reply))
    return Turn(Role.AGENT, reply, tuple(steps))


def goal_turn(rng: Random, card: TaskCard, goal: int) -> tuple[Turn, RewardEvent]:
    """A turn that reaches a goal, and what it earns."""
    kind, wanted = card.goals[goal]
    turn = agent_turn(rng, (kind,))
    first = Step(
        turn.steps[0].text, turn.steps[0].plan, (ToolCall(kind, wanted),), turn.steps[0].results
    )
    event = RewardEvent(
        1 / len(card.goals), "goal", {"goal": goal, "kind": kind, "step": 0, "call": 0}
    )
    return Turn(Role.AGENT, turn.text, (first, *turn.steps[1:])), event


def josh_tree(
    rng: Random, card: TaskCard, *, luck: float = 0.1, beam: int = 8, max_steps: int = 15
) -> DialogueTree:
    """A beam that doubles up to its size and collapses to the first rewarded branch."""
    tree = DialogueTree(card.task_id, card.trial, len(card.goals))
    kinds = tuple(kind for kind, _ in card.goals)
    live = [tree.add(None, Turn(Role.USER, said(rng, 8, 20)), tuple(range(len(kinds))))]
    for step in range(max_steps):
        width = 2 if 2 * len(live) <= beam else 1
        live = [_answer(rng, tree, card, leaf, luck) for leaf in live for _ in range(width)]
        rewarded = [leaf for leaf in live if leaf.events]
        if rewarded:
            live = [_collapse(tree, live, rewarded[0])]
        if live[0].golden and not live[0].open_goals:
            live[0].stop = StopReason.GOALS_REACHED
            break
        if step + 1 == max_steps:
            for leaf in live:
                leaf.stop = StopReason.MAX_TURNS
            break
        live = [leaf for leaf in (_user_reply(rng, tree, leaf) for leaf in live) if not leaf.stop]
        if not live:
            break
    tree.mark_successful()
    _grade(tree)
    return tree


def _answer(rng: Random, tree: DialogueTree, card: TaskCard, leaf: Node, luck: float) -> Node:
    kinds = tuple(kind for kind, _ in card.goals)
    if rng.random() < luck:
        goal = leaf.open_goals[0]
        turn, event = goal_turn(rng, card, goal)
        node = tree.add(leaf.id, turn, leaf.open_goals[1:])
        node.events = (event,)
        return node
    return tree.add(
        leaf.id, agent_turn(rng, kinds, num_calls=rng.choice((0, 0, 1, 2))), leaf.open_goals
    )


def _collapse(tree: DialogueTree, live: list[Node], target: Node) -> Node:
    tree.mark_golden(target.id)
    for other in live:
        if other is not target:
            other.stop, other.censored = StopReason.COLLAPSED, not other.events
    return target


def _user_reply(rng: Random, tree: DialogueTree, leaf: Node) -> Node:
    hangs_up = rng.random() < 0.03
    node = tree.add(leaf.id, Turn(Role.USER, said(rng, 6, 18), hangs_up=hangs_up), leaf.open_goals)
    if hangs_up:
        node.stop = StopReason.USER_ENDED
    elif rng.random() < 0.01:
        node.turn = Turn(
            Role.USER, "", failure=Failure("user_simulator", "TimeoutError: no answer")
        )
        node.stop = StopReason.ERROR
    return node


def _grade(tree: DialogueTree) -> None:
    for leaf in tree.leaves():
        if leaf.stop is not StopReason.ERROR:
            leaf.score = 1 - len(leaf.open_goals) / tree.num_goals


def resolve(rng: Random, tree: DialogueTree, card: TaskCard, times: int) -> None:
    """Continue some censored branches to find out how they would have ended."""
    for leaf in [leaf for leaf in tree.leaves() if leaf.censored][:3]:
        earned = 0
        for _ in range(times):
            here = leaf
            for _ in range(rng.randint(1, 3)):
                here = tree.add(here.id, Turn(Role.USER, said(rng)), leaf.open_goals)
                here.continuation = True
                here = _answer(rng, tree, card, here, 0.2)
                here.continuation = True
                if here.events:
                    break
            here.stop = StopReason.GOALS_REACHED if here.events else StopReason.MAX_TURNS
            earned += bool(here.events)
        leaf.resolved = (earned, times)


def forest(rng: Random, card: TaskCard, num_dialogues: int, *, luck: float = 0.2) -> DialogueTree:
    """Independent dialogues; the last one breaks, the one before runs out of budget."""
    tree = DialogueTree(card.task_id, card.trial, len(card.goals))
    for root in range(num_dialogues):
        part = josh_tree(rng, card, luck=luck, beam=1, max_steps=rng.randint(4, 9))
        for node in part.nodes:
            node.golden = False
        end = part.nodes[-1]
        if num_dialogues > 2 and root == num_dialogues - 1:
            end.stop, end.score = StopReason.ERROR, None
            end.turn = Turn(end.turn.role, "", failure=Failure("agent", "RuntimeError: no reply"))
        elif num_dialogues > 2 and root == num_dialogues - 2:
            end.stop, end.censored = StopReason.BUDGET, True
        tree.graft(part, below=None)
    return tree


def by_steps(tree: DialogueTree) -> DialogueTree:
    """The same tree with every agent turn spread over one node a step."""
    spread = DialogueTree(tree.task_id, tree.trial, tree.num_goals)
    places: dict[int, int] = {}
    for node in tree.nodes:
        parent = None if node.parent is None else places[node.parent]
        steps = node.turn.steps or (None,)
        for position, step in enumerate(steps):
            is_last = position + 1 == len(steps)
            parts = () if step is None else (step,)
            turn = Turn(node.turn.role, node.turn.text if is_last else None, parts)
            added = spread.add(parent, turn, node.open_goals)
            added.events = node.events if position == 0 else ()
            added.golden, added.successful = node.golden, node.successful
            parent = added.id
        last = spread.nodes[-1]
        last.stop, last.censored, last.score = node.stop, node.censored, node.score
        places[node.id] = last.id
    return spread


def scored(card: TaskCard, tree: DialogueTree) -> TaskCard:
    """The card with the score of the tree's best dialogue."""
    best = tree.best_leaf()
    return replace(card, score=None if best is None else best.score)


def run_of_trees(seed: int, count: int) -> Iterator[tuple[TaskCard, DialogueTree]]:
    """Trees of all shapes, two trials for every fifth task."""
    rng = Random(seed)
    card = card_and_goals(rng, "MUL0000.json")
    for position in range(count):
        trial = int(position % 5 == 4)
        if trial:
            card = replace(card, trial=trial, score=None)
        else:
            card = card_and_goals(rng, f"MUL{position:04}.json")
        luck = rng.choice((0.03, 0.06, 0.1, 0.15))
        if position % 11 == 7:
            tree = forest(rng, card, 8)
        elif position % 11 == 8:
            tree = forest(rng, card, 1)
        elif position % 11 == 9:
            tree = by_steps(josh_tree(rng, card, luck=luck))
        else:
            tree = josh_tree(rng, card, luck=luck)
            if position % 11 == 3:
                resolve(rng, tree, card, 2)
        yield scored(card, tree), tree
