"""`drl score`: what a trained turn reward model says of the turns of a transcript."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table
from rich.text import Text

from drl.domains.conversation import audible
from drl.runtime.table_console import table_console

if TYPE_CHECKING:
    from drl.turn_reward.model import TurnRewardModel
    from drl.turn_reward.written import WrittenDialogue


def score(
    file: Annotated[
        Path,
        typer.Argument(
            help="A CANDOR transcript (CSV), or messages {role, content} as JSON or JSONL."
        ),
    ],
    model: Annotated[
        Path, typer.Option("--model", help="A run of trainer=reward_model, or a model's folder.")
    ],
    agent: Annotated[
        str | None,
        typer.Option(help="Whose turns to score; else both speakers', or the assistant's."),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print a JSON object for each turn instead.")
    ] = False,
) -> None:
    """Print the reward of every turn, and the session score that the rewards tell."""
    from drl.turn_reward.model import TurnRewardModel
    from drl.turn_reward.written import read_dialogues

    loaded = TurnRewardModel.load(model)
    for number, dialogue in enumerate(read_dialogues(file, agent), start=1):
        rewards = {name: _rewards(loaded, dialogue, name) for name in dialogue.agents}
        scores = {
            name: loaded.score(list(given.values())) for name, given in rewards.items() if given
        }
        by_turn = {place: reward for given in rewards.values() for place, reward in given.items()}
        show = _print_lines if as_json else _print_table
        show(number, dialogue, by_turn, scores)


def _rewards(model: TurnRewardModel, dialogue: WrittenDialogue, agent: str) -> dict[int, float]:
    """The rewards of one speaker's turns, by their places."""
    places = [place for place, turn in enumerate(dialogue.turns) if turn.speaker == agent]
    return dict(zip(places, model.rewards(dialogue.heard(agent)), strict=True))


def _print_table(
    number: int,
    dialogue: WrittenDialogue,
    rewards: Mapping[int, float],
    scores: Mapping[str, float],
) -> None:
    table = Table(title=f"Dialogue {number}", title_justify="left", show_edge=False)
    table.add_column("turn", justify="right")
    table.add_column("speaker", overflow="ellipsis", no_wrap=True, max_width=16)
    table.add_column("reward", justify="right", no_wrap=True)
    table.add_column("said")
    for place, turn in enumerate(dialogue.turns):
        reward = f"{rewards[place]:+.3f}" if place in rewards else ""
        said = Text(audible(turn.text))  # a terminal obeys control characters
        table.add_row(str(turn.number), Text(audible(turn.speaker)), reward, said)
    console = table_console()
    console.print(table)
    for name, points in scores.items():
        told = f"The rewards of {audible(name)} tell a session score of {points:.2f}."
        console.print(told, markup=False)


def _print_lines(
    number: int,
    dialogue: WrittenDialogue,
    rewards: Mapping[int, float],
    scores: Mapping[str, float],
) -> None:
    for place, reward in sorted(rewards.items()):
        turn = dialogue.turns[place]
        print(json.dumps({"dialogue": number, **turn._asdict(), "reward": reward}))
    for name, points in scores.items():
        print(json.dumps({"dialogue": number, "speaker": name, "score": points}))
