"""A run on tau-bench as one of its result files, so that tools made for those read it.

Dialogues are written as an agent's model sees them. A search has none of its own: as josh-train
does, it gives `training_examples`, the messages down to each turn of the agent with whether it led
to a reward and whether the search went on with it. Source: tau-bench `types.py`; josh-train
`josh_tool_calling_agent.py`.
"""

from __future__ import annotations

import asyncio
import os
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from drl.agent.base import Agent, Situation
from drl.calls.ledger import Entry
from drl.domains.tau.marks import CONTENT, RESPOND
from drl.domains.tau.result_file import Result, lines_of
from drl.domains.tau.world import Scene
from drl.errors import DataError, RunError
from drl.llm.base import Message, Request
from drl.mining.source import Source
from drl.reward.base import Reward
from drl.runtime.drafts import drafted_file
from drl.tree.dialogue_tree import DialogueTree, Node
from drl.types import JSON, Role, Step, Task, Turn

_UNSCORED = "this dialogue has no score"


@dataclass(frozen=True, kw_only=True)
class TauExport:
    """What a result file is made of. `agent` writes; `score` is the reward that graded the run.

    `user_costs` are dollars by task id and trial, None where a price is unknown.
    """

    source: Source
    agent: Agent
    score: Reward
    is_search: bool
    user_costs: Mapping[tuple[str, int], float | None] = field(default_factory=dict)

    def results(self) -> Iterator[Result]:
        """The results, by task and trial.

        Raises:
            DataError: the run is not on tau-bench, or all of it is broken.
            ConfigError: `agent` speaks through no model.
        """
        for tree in self.source.trees():
            task = self.source.tasks[tree.task_id]
            if not isinstance(task.world, Scene):
                raise DataError(
                    f"{self.source.name}: task {task.id} is not from tau-bench, whose result files "
                    "hold nothing else; choose another --format"
                )
            yield self._result(tree, task, task.world)

    def _result(self, tree: DialogueTree, task: Task, scene: Scene) -> Result:
        best = tree.best_leaf()
        if best is None or best.score is None:
            causes = [node.turn.failure.cause for node in tree.nodes if node.turn.failure]
            error: dict[str, JSON] = {"error": causes[0] if causes else _UNSCORED, "traceback": ""}
            return Result(scene.index, tree.trial, 0.0, error, ())
        turns = tree.dialogue(best.id)
        info: dict[str, JSON] = {
            "task": _task(scene),
            "source": _last_source(turns),
            "user_cost": self.user_costs.get((task.id, tree.trial), 0.0),
            "reward_info": self._reward_info(task, scene, turns, best.score),
        }
        messages: tuple[Mapping[str, JSON], ...] = ()
        if self.is_search:
            info["training_examples"] = list(self._examples(tree))
        else:
            messages = tuple(_written(self._request(tree, best).messages))
        return Result(scene.index, tree.trial, best.score, info, messages)

    def _reward_info(
        self, task: Task, scene: Scene, turns: Sequence[Turn], score: float
    ) -> dict[str, JSON] | None:
        """Null, as there, where nobody ended the dialogue."""
        if not turns[-1].hangs_up:
            return None
        environment = self.source.environment
        found = asyncio.run(self.score.explain(task, environment, turns))
        outputs = found.get("outputs")
        if outputs and isinstance(outputs, Mapping):
            info: dict[str, JSON] = {"r_outputs": float(all(outputs.values())), "outputs": outputs}
        else:
            gold = scene.gold(environment.mode).digest
            info = {"r_actions": float(bool(found.get("database", score))), "gt_data_hash": gold}
        return {"reward": score, "info": info, "actions": list(_actions(turns))}

    def _examples(self, tree: DialogueTree) -> Iterator[JSON]:
        """One for each turn of the agent, or part of one, in the order of the tree."""
        for node in tree.nodes:
            if node.turn.role is Role.AGENT and not node.continuation and node.turn.steps:
                request = self._request(tree, node)
                tools: JSON = [spec.to_openai() for spec in request.tools]
                example: JSON = {"messages": list(_written(request.messages)), "tools": tools}
                yield [example, node.successful, node.golden]

    def _request(self, tree: DialogueTree, node: Node) -> Request:
        """The dialogue down to a node as the agent's model would see it next."""
        toolbox = self.source.toolbox(tree.task_id)
        history: list[Turn] = []
        steps: tuple[Step, ...] = ()
        for turn in (*tree.opening, *tree.dialogue(node.id)):
            if turn.role is Role.USER:
                history.append(turn.public())
                continue
            anew = tuple(new for step in turn.steps for new in self.agent.rewrite(step, toolbox))
            if turn.text is None:
                steps = anew
            else:
                history.append(replace(turn, steps=anew))
        return self.agent.request(Situation(tuple(history), steps, toolbox, seed=0))


def write_results(export: TauExport, file: Path, *, force: bool) -> int:
    """Write the file, which appears whole or not at all; how many results it holds.

    Raises:
        RunError: it is there already, without `force`, or cannot be written.
        DataError, ConfigError: as `TauExport.results`.
    """
    if os.path.lexists(file) and not (force and file.is_file()):
        raise RunError(f"{file}: is there already; add --force to replace a file")
    count = 0

    def counted() -> Iterator[Result]:
        nonlocal count
        for result in export.results():
            count += 1
            yield result

    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with drafted_file(file, is_shared=True) as draft, draft.open("w", encoding="utf-8") as out:
            out.writelines(lines_of(counted()))
    except OSError as error:
        raise RunError(
            f"{file}: cannot be written ({error.strerror}); make room, or choose another --out"
        ) from error
    return count


def user_costs(entries: Iterator[Entry]) -> dict[tuple[str, int], float | None]:
    """What the calls of each customer took, in dollars, as far as their prices are known."""
    costs: dict[tuple[str, int], float | None] = defaultdict(float)
    for entry in entries:
        if entry.purpose == "user" and entry.task_id is not None and entry.trial is not None:
            key = (entry.task_id, entry.trial)
            before = costs[key]
            costs[key] = None if before is None or entry.usd is None else before + entry.usd
    return dict(costs)


def _task(scene: Scene) -> dict[str, JSON]:
    actions: JSON = [{"name": one.name, "kwargs": one.arguments} for one in scene.actions]
    return {
        "user_id": scene.user_id,
        "actions": actions,
        "instruction": scene.instruction,
        "outputs": scene.outputs,
    }


def _actions(turns: Sequence[Turn]) -> Iterator[JSON]:
    """What the agent did, replies too; without the gold actions that tau-bench appends."""
    for turn in turns:
        if turn.role is Role.AGENT:
            for done in turn.executed():
                yield {"name": done.call.name, "kwargs": done.call.arguments}
            if turn.text:
                yield {"name": RESPOND, "kwargs": {CONTENT: turn.text}}


def _last_source(turns: Sequence[Turn]) -> str:
    """Who answered the agent last: the customer, or a tool."""
    last = turns[-1]
    called = [done.call.name for done in last.executed()] if last.role is Role.AGENT else []
    return called[-1] if called else "user"


def _written(messages: Sequence[Message]) -> Iterator[dict[str, JSON]]:
    """Messages as tau-bench keeps them, which are OpenAI's; answers of tools have their name."""
    names: dict[str, str] = {}
    for message in messages:
        plain: dict[str, JSON] = {"role": message.role, "content": message.content}
        if message.tool_calls:
            names |= {call.id: call.name for call in message.tool_calls}
            plain["tool_calls"] = [
                {
                    "id": call.id,
                    "type": "function",
                    "function": {"name": call.name, "arguments": call.arguments},
                }
                for call in message.tool_calls
            ]
        if message.tool_call_id is not None:
            plain |= {
                "tool_call_id": message.tool_call_id,
                "name": names.get(message.tool_call_id, ""),
            }
        yield plain
