import pytest

from tests.llm.tiny_model import save_tiny_model


@pytest.fixture(autouse=True)
def _offline(monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("HF_HUB_DISABLE_TELEMETRY", "1")


@pytest.fixture(scope="session")
def tiny(tmp_path_factory):
    """The folder of a two-layer Llama with a tokenizer of bytes and a chat template."""
    return save_tiny_model(tmp_path_factory.mktemp("tiny") / "model")
