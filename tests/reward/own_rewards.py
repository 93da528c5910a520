"""Reward functions as users write them, right ones and wrong ones."""

import asyncio


def brevity(prompt, text):
    """1 for nothing, less for more."""
    return 1 / (1 + len(text))


def wanted(prompt, text, *, word, weight=1.0):
    """Whether a word of the row is there."""
    return weight if word in text else 0.0


def echo(prompt, text, **row):
    """Everything that was given."""
    return {f"{prompt}|{text}|{','.join(sorted(row))}": 1.0}


def parts(prompt, text):
    return {"length": len(text), "ends": text.endswith("."), "nothing": 0}


def places(prompt, text):
    return [(place + 1, 0.5) for place, letter in enumerate(text) if letter == "e"]


def mixed(prompt, text):
    return {"style": [(1, 0.25), (len(text), 0.5)], "end": 1}


async def patient(prompt, text):
    await asyncio.sleep(0)
    return 0.5


def turns(prompt, text, dialogue):
    return {message["role"]: len(message["content"]) for message in dialogue[:2]}


def broken(prompt, text):
    return 1 / len(text.strip())


def one(prompt):
    return 1.0


def pays(prompt, text, value):
    """What its row says."""
    return value


NUMBER = 3


class Thing:
    pass
