"""A server that answers every chat completion alike after a while; as little work as can be.

    python -m benchmarks._fake_openai 0.05

Prints its port, then serves until its standard input ends.
"""

import asyncio
import json
import sys
from typing import Final

TOKENS_PER_ANSWER: Final = 1509
_ANSWER: Final = {
    "id": "chatcmpl-1",
    "object": "chat.completion",
    "created": 1,
    "model": "fake",
    "choices": [
        {
            "index": 0,
            "message": {"role": "assistant", "content": "On which day would you like to travel?"},
            "finish_reason": "stop",
        }
    ],
    "usage": {
        "prompt_tokens": TOKENS_PER_ANSWER - 9,
        "completion_tokens": 9,
        "total_tokens": TOKENS_PER_ANSWER,
    },
}
_BODY: Final = json.dumps(_ANSWER).encode()
_RESPONSE: Final = (
    b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n" % len(_BODY)
) + _BODY
_LENGTH: Final = b"content-length:"


class Connection(asyncio.Protocol):
    """Reads requests only as far as it must to find their end."""

    def __init__(self, latency_s: float) -> None:
        self._latency_s = latency_s
        self._transport: asyncio.Transport | None = None
        self._buffer = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Somebody is there."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        """A part of a request, or several."""
        self._buffer += data
        while (end := self._buffer.find(b"\r\n\r\n")) >= 0:
            head = self._buffer[:end].lower()
            length = head[head.index(_LENGTH) + len(_LENGTH) :].partition(b"\r\n")[0]
            size = end + 4 + int(length)
            if len(self._buffer) < size:
                return
            self._buffer = self._buffer[size:]
            asyncio.get_running_loop().call_later(self._latency_s, self._answer)

    def _answer(self) -> None:
        if self._transport is not None and not self._transport.is_closing():
            self._transport.write(_RESPONSE)


async def serve(latency_s: float) -> None:
    """Answer until standard input ends."""
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: Connection(latency_s), "127.0.0.1", 0, backlog=4096)
    print(server.sockets[0].getsockname()[1], flush=True)
    await loop.run_in_executor(None, sys.stdin.read)


if __name__ == "__main__":
    asyncio.run(serve(float(sys.argv[1])))
