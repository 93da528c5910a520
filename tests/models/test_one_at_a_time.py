from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import torch

from drl.models.load import load
from tests.llm.tiny_model import save_tiny_model
from tests.turn_reward.encoders import save_bert, settings


def test_models_that_are_wanted_at_once_have_the_format_that_was_asked_for(tmp_path):
    """A policy answers in bfloat16 while a reward is asked for the first time, in float32."""
    policy, encoder = save_tiny_model(tmp_path / "policy"), save_bert(tmp_path / "encoder")
    meet = Barrier(2)

    def language_model():
        meet.wait()
        return load(policy, None, "bfloat16", "cpu").model

    def turn_encoder():
        meet.wait()
        return settings(encoder).load()

    for _ in range(8):
        with ThreadPoolExecutor(2) as threads:
            tasks = [threads.submit(language_model), threads.submit(turn_encoder)]
            model, reader = (task.result() for task in tasks)
        for each, wanted in ((model, torch.bfloat16), (reader.model, torch.float32)):
            found = {(weight.dtype, weight.device.type) for weight in each.parameters()}
            assert found == {(wanted, "cpu")}
        assert torch.get_default_dtype() == torch.float32
