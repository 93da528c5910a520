"""A toolbox's policy in the prompt of an agent."""

from __future__ import annotations

from drl.runtime.prompts import fill
from drl.types import Toolbox


def with_policy(prompt: str, toolbox: Toolbox) -> str:
    """The prompt, then the policy; the prompt alone where the toolbox comes without one."""
    if not toolbox.policy:
        return prompt
    return f"{prompt}\n\n{fill('drl.agent', 'policy.md', policy=toolbox.policy)}"
