"""Models by the names that josh-train's programs give them.

A name that holds "llama", or a folder, is a model of transformers in this process; any other is
asked for at OpenAI, or wherever OPENAI_BASE_URL points.
"""

from pathlib import Path

from drl.compat._coroutines import wait
from drl.llm.base import LLM
from drl.llm.hf import HFLLM
from drl.llm.openai import OpenAILLM


class Models:
    """Loads each model once.

    Args:
        root: where converted models are kept.
    """

    def __init__(self, root: Path) -> None:
        self._root = root
        self._models: dict[tuple[str, str | None], LLM] = {}

    def get(self, name: str, adapter: str | None) -> LLM:
        """The model of a name, with an adapter in PEFT's layout if it is a local one.

        Raises:
            ConfigError: a setting of it is refused; whether it exists is found when it is asked.
        """
        key = (name, adapter)
        if key not in self._models:
            local = "llama" in name.lower() or Path(name).is_dir()
            self._models[key] = self._local(name, adapter) if local else _served(name)
        return self._models[key]

    def close(self) -> None:
        """Give back connections and memory; the next question opens them anew."""
        for llm in self._models.values():
            wait(llm.close())

    def _local(self, name: str, adapter: str | None) -> LLM:
        # the values of conf/llm/hf.yaml
        return HFLLM(
            model=name,
            revision=None,
            adapter=adapter,
            root=str(self._root),
            dtype="auto",
            device="auto",
            chat_template=None,
            max_batch=64,
            prefix_cache_mb=1024,
        )


def _served(name: str) -> LLM:
    # the values of conf/llm/openai.yaml
    return OpenAILLM(
        model=name,
        base_url=None,
        api_version=None,
        api_key_env="OPENAI_API_KEY",
        timeout_s=120.0,
        max_attempts=8,
        retry_s=1.0,
        max_concurrency=128,
        n_per_request="auto",
        max_tokens_field="max_tokens",
        send_seed=True,
        send_top_k=False,
        return_tokens=False,
        extra_body={},
    )
