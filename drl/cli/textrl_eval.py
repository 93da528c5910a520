"""`drl textrl-eval`: TextRL 1.0's `textrl-eval`, rewards of what a model answers."""

from __future__ import annotations

from typing import Annotated

import typer


def textrl_eval(
    model: Annotated[str, typer.Option("--model", help="An id on the hub, or a folder.")],
    dataset: Annotated[str, typer.Option(help="module:attr, hub:NAME, or jsonl:FILE.")],
    reward: Annotated[str, typer.Option(help="module:function.")],
    max_new_tokens: Annotated[int, typer.Option(help="The longest answer.")] = 128,
    batch_size: Annotated[int, typer.Option(help="Prompts answered side by side.")] = 4,
    temperature: Annotated[float, typer.Option(help="0 takes the likeliest token.")] = 1.0,
    seed: Annotated[int, typer.Option(help="Of the samples.")] = 0,
) -> None:
    """Sample an answer to each prompt and print count, mean, min and max of their rewards."""
    import json
    from dataclasses import asdict

    from drl.compat.textrl.programs import evaluate

    done = evaluate(
        model,
        dataset,
        reward,
        max_new_tokens=max_new_tokens,
        batch_size=batch_size,
        temperature=temperature,
        seed=seed,
    )
    print(json.dumps(asdict(done)))
