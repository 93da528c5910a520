"""A miniature of tau-bench as it is published: JSON, Markdown, and Python that is never run."""

import json
from collections.abc import Sequence
from pathlib import Path

from tau.miniature import Json, database

FORBIDDEN = 'raise RuntimeError("a module of tau-bench was run")\n'

TOOLS = {
    "retail": ("find_user_id_by_email", "cancel_pending_order", "modify_user_address"),
    "airline": ("get_user_details", "transfer_to_human_agents"),
}
TASKS: Json = {
    ("retail", "test"): [
        # a read and a write, with something to say
        ("ann_lee_1", [("get_order_details", {"order_id": "#W1"}), ("cancel", "#W1")], ["20.50"]),
        ("ann_lee_1", [("cancel", "#W2")], []),  # which is delivered: the label is wrong
        ("cy_new_3", [], []),
    ],
    ("retail", "train"): [("ann_lee_1", [("cancel", "#W1")], []), ("dee_old_4", [], [])],
    ("retail", "dev"): [("ann_lee_1", [], [])],
    ("airline", "test"): [("ben_roe_2", [("transfer_to_human_agents", {"summary": "s"})], [])],
}
"""Domain and split -> user, actions, outputs."""


def publish(folder: Path, *, old: bool = True) -> Path:
    """A folder laid out like a checkout of tau-bench; `old` is the form of the josh-train wheel."""
    package = folder / "tau_bench" / "envs"
    for domain in ("retail", "airline"):
        place = package / domain
        (place / "data").mkdir(parents=True)
        (place / "tools").mkdir()
        (place / "wiki.md").write_text(f"The {domain} policy: be kind.\n")
        for table, records in _tables(domain, old=old).items():
            (place / "data" / f"{table}.json").write_text(json.dumps(records))
        (place / "tools" / "__init__.py").write_text(_listed(TOOLS[domain]))
        for tool in TOOLS[domain]:
            (place / "tools" / f"{tool}.py").write_text(_tool(tool))
        for (owner, split), tasks in TASKS.items():
            if owner == domain:
                (place / f"tasks_{split}.py").write_text(_tasks(split, tasks))
    return folder


def _tables(domain: str, *, old: bool) -> Json:
    tables = database(domain)
    if old:
        for user in tables["users"].values():
            address = user["address"].items()
            user["address"] = {"province" if k == "state" else k: v for k, v in address}
    return tables


def _listed(tools: Sequence[str]) -> str:
    classes = ["".join(word.capitalize() for word in tool.split("_")) for tool in tools]
    imports = [f"from .{tool} import {name}\n" for tool, name in zip(tools, classes, strict=True)]
    return "".join(imports) + f"ALL_TOOLS = [{', '.join(classes)}]\n{FORBIDDEN}"


def _tool(name: str) -> str:
    schema = {"type": "object", "properties": {"it": {"type": "string"}}, "required": ["it"]}
    function = {"name": name, "description": f"Does {name}.", "parameters": schema}
    info = {"type": "function", "function": function}
    return f"{FORBIDDEN}class It(Tool):\n    def get_info():\n        return {info}\n"


def _tasks(split: str, tasks: Json) -> str:
    """As they are written: calls of Task and Action."""
    lines = [FORBIDDEN, f"TASKS_{split.upper()} = ["]
    for user, actions, outputs in tasks:
        calls = [
            f"Action(name={_name(name)!r}, kwargs={_arguments(given)!r})" for name, given in actions
        ]
        lines.append(f'    Task(annotator="0", user_id={user!r}, instruction="You are {user}.",')
        lines.append(f"        actions=[{', '.join(calls)}], outputs={outputs!r}),")
    return "\n".join([*lines, "]"])


def _name(name: str) -> str:
    return "cancel_pending_order" if name == "cancel" else name


def _arguments(given: Json) -> Json:
    return given if isinstance(given, dict) else {"order_id": given, "reason": "no longer needed"}
