"""A server on loopback that speaks OpenAI's chat completions, answers alike, and fails on demand.

    with FakeServer(fault=by_rate({"429": 0.1, "cut": 0.05})) as server:
        ... llm.base_url=server.base_url ...
    assert not server.repeats

An answer depends on the request and the choice index only; a fault on the request and on how often
it was asked before. So a run with faults ends like one without.
"""

import asyncio
import json
import threading
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from hashlib import blake2b
from types import TracebackType

from tests.llm.faults import FAULTS, Fault, FaultOf, Json, never

Answer = Callable[[Json, int], str | Json]
"""From the body of a request and the index of a choice to its text, or to a whole message."""


def talk(body: Json, index: int) -> str:
    """An answer that tells prompts, models, seeds and choices apart."""
    asked = [body.get(name) for name in ("model", "messages", "tools", "seed")]
    return f"answer {blake2b(json.dumps([*asked, index]).encode(), digest_size=4).hexdigest()}"


@dataclass(frozen=True)
class Seen:
    """One request as it came."""

    target: str
    headers: Mapping[str, str]
    body: Json
    fault: str | None


class FakeServer:
    """Runs in a thread of its own; `requests` and `answered` tell what happened.

    Args:
        answer: what is said.
        fault: what goes wrong when.
        latency_s: until an answer starts.
        refuse: a status and an error object for requests that are refused.
        key: the only one that is accepted; a wrong one is echoed, as servers do.
        models: known names; None: any.
        gives_n: whether `n` is heeded.
        gives_tokens: whether token ids and log-probabilities are given to who wants them.
    """

    def __init__(
        self,
        answer: Answer = talk,
        *,
        fault: FaultOf = never,
        latency_s: float = 0.0,
        refuse: Callable[[Json], tuple[int, Json] | None] = lambda body: None,
        key: str | None = None,
        models: Sequence[str] | None = None,
        gives_n: bool = True,
        gives_tokens: bool = True,
    ) -> None:
        self._answer = answer
        self._fault = fault
        self._latency_s = latency_s
        self._refuse = refuse
        self._key = key
        self._models = models
        self._gives_n = gives_n
        self._gives_tokens = gives_tokens
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._server: asyncio.Server | None = None
        self._talks: set[asyncio.Task[None]] = set()
        self._port = 0
        self._attempts: Counter[str] = Counter()
        self.requests: list[Seen] = []
        self.answered: Counter[str] = Counter()
        self.in_flight = 0
        self.most_in_flight = 0

    @property
    def base_url(self) -> str:
        """For `llm.base_url`."""
        return f"http://127.0.0.1:{self._port}/v1"

    @property
    def repeats(self) -> int:
        """Calls that were answered before and asked all the same."""
        return self.answered.total() - len(self.answered)

    def __enter__(self) -> "FakeServer":
        self._thread.start()
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def start(self) -> None:
        """Listen; after a `stop` at the same port."""
        asyncio.run_coroutine_threadsafe(self._listen(), self._loop).result()

    def stop(self) -> None:
        """Break all connections and refuse new ones."""
        asyncio.run_coroutine_threadsafe(self._hang_up(), self._loop).result()

    async def _listen(self) -> None:
        self._server = await asyncio.start_server(
            self._serve, "127.0.0.1", self._port, backlog=4096
        )
        self._port = self._server.sockets[0].getsockname()[1]

    async def _hang_up(self) -> None:
        if self._server is not None:
            self._server.close()
        for task in self._talks:
            task.cancel()
        if self._talks:
            await asyncio.wait(self._talks)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._talks.add(task)
        try:
            with suppress(asyncio.IncompleteReadError, ConnectionError, asyncio.CancelledError):
                while await self._exchange(reader, writer):
                    pass
        finally:
            self._talks.discard(task)
            writer.close()
            with suppress(ConnectionError):
                await writer.wait_closed()

    async def _exchange(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """One request and its answer; whether the connection stays open."""
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        start, *lines = head.strip().split("\r\n")
        headers = {k.lower(): v for k, _, v in (line.partition(": ") for line in lines)}
        data = await reader.readexactly(int(headers.get("content-length", 0)))
        target = start.split()[1]
        body = json.loads(data) if data else {}
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        try:
            reply = self._reply(target, headers, body)
            if reply.hangs:
                await reader.read()  # until the client gives up
                return False
            await asyncio.sleep(self._latency_s)
        finally:
            self.in_flight -= 1
        content = reply.body or b""
        shown = {"content-type": "application/json", **reply.headers}
        fields = "".join(f"{name}: {value}\r\n" for name, value in shown.items())
        writer.write(
            f"HTTP/1.1 {reply.status} X\r\n{fields}content-length: {len(content)}\r\n\r\n".encode()
        )
        writer.write(content[: len(content) // 2] if reply.cuts else content)
        await writer.drain()
        return not reply.cuts

    def _reply(self, target: str, headers: Mapping[str, str], body: Json) -> Fault:
        path = target.partition("?")[0]
        refusal = self._refusal(path, headers, body)
        content = json.dumps(body, sort_keys=True)
        name = None
        if path.endswith("/chat/completions") and refusal is None:
            self._attempts[content] += 1
            name = self._fault(content, self._attempts[content])
        self.requests.append(Seen(target, headers, body, name))
        if refusal is not None:
            return Fault(refusal[0], json.dumps({"error": refusal[1]}).encode())
        if path.endswith("/models"):
            listed = [{"id": model, "object": "model"} for model in self._models or ()]
            return Fault(body=json.dumps({"object": "list", "data": listed}).encode())
        fault = FAULTS[name] if name else Fault()
        if fault.body is not None or fault.hangs:
            return fault
        answer = self._completion(body)
        if fault.change:
            fault.change(answer)
        if not fault.cuts:
            self.answered[content] += 1
        return Fault(body=json.dumps(answer).encode(), cuts=fault.cuts)

    def _refusal(
        self, path: str, headers: Mapping[str, str], body: Json
    ) -> tuple[int, Json] | None:
        given = headers.get("api-key") or headers.get("authorization", "").removeprefix("Bearer ")
        if self._key is not None and given != self._key:
            words = f"Incorrect API key provided: {given} ({given[:6]}******{given[-4:]})."
            return 401, {"message": words, "type": "invalid_request_error"}
        if path.endswith("/models"):
            return None
        if not path.startswith(("/v1/chat/", "/openai/deployments/")):
            return 404, {"message": "File Not Found", "type": "not_found_error", "code": 404}
        if self._models is not None and body["model"] not in self._models:
            words = f"The model `{body['model']}` does not exist."
            return 404, {"message": words, "code": "model_not_found"}
        return self._refuse(body)

    def _completion(self, body: Json) -> Json:
        num_choices = body.get("n", 1) if self._gives_n else 1
        choices = [self._choice(body, index) for index in range(num_choices)]
        made = sum(len(str(choice["message"].get("content"))) for choice in choices) // 4
        read = len(json.dumps(body["messages"])) // 4
        usage = {
            "prompt_tokens": read,
            "completion_tokens": made,
            "total_tokens": read + made,
            "prompt_tokens_details": {"cached_tokens": read // 2},
        }
        answer = {"id": "x", "object": "chat.completion", "model": body["model"], "created": 1}
        answer |= {"choices": choices, "usage": usage}
        if self._gives_tokens and body.get("return_token_ids"):
            answer["prompt_token_ids"] = [1, 2, 3]
        return answer

    def _choice(self, body: Json, index: int) -> Json:
        said = self._answer(body, index)
        message = {"role": "assistant", "content": said} if isinstance(said, str) else dict(said)
        finish = "tool_calls" if message.get("tool_calls") else "stop"
        choice: Json = {"index": index, "message": message, "finish_reason": finish}
        choice["finish_reason"] = message.pop("finish_reason", finish)
        if self._gives_tokens and body.get("return_token_ids"):
            choice["token_ids"] = [10 + index, 11]
            choice["logprobs"] = {"content": [{"token": "a", "logprob": -0.5}] * 2}
        return choice
