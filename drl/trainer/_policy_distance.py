"""How far replies of a policy lie from the model that it started from."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from drl.agent.base import Agent, Situation
from drl.environment.base import Environment
from drl.llm.base import Weights, chat_text
from drl.trainer._policy_replies import Said
from drl.types import Role

if TYPE_CHECKING:
    from drl.evaluation.kl_to_start import WrittenText
    from drl.models.chat_template import ChatTemplate


def distances(
    said: Sequence[Said],
    weights: Weights,
    adapter: Path,
    agent: Agent,
    environment: Environment,
    temperature: float,
) -> list[float]:
    """The distance to the start of each reply of the policy with this adapter, in nats."""
    from drl.evaluation.kl_to_start import kls_to_start
    from drl.models.adapter import put_in
    from drl.models.chat_template import ChatTemplate
    from drl.models.load import load_base

    loaded = load_base(weights.folder, weights.dtype, weights.device)
    policy = put_in(loaded.model, weights.folder, adapter)
    template = ChatTemplate(loaded.tokenizer, weights.chat_template)
    return kls_to_start(policy, _written(said, agent, environment, template), temperature)


def _written(
    said: Sequence[Said], agent: Agent, environment: Environment, template: ChatTemplate
) -> list[WrittenText]:
    """The replies as tokens, after what the agent's model read before each."""
    from drl.evaluation.kl_to_start import WrittenText

    found = []
    for each in said:
        history = tuple(
            turn if turn.role is Role.AGENT else turn.public() for turn in each.task.opening
        )
        toolbox = environment.open(each.task).toolbox
        request = agent.request(Situation(history=history, steps=(), toolbox=toolbox, seed=0))
        prompt = chat_text(template, request.messages, request.tools, reply_follows=True)
        found.append(WrittenText(template.ids(prompt), template.ids(each.text), each.is_cut))
    return found
