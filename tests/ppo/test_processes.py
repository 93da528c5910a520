import subprocess
import sys
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
def test_two_processes_learn_what_one_learns(tmp_path):
    """Three dialogues: one process has two of them, the other one."""
    module = ["-m", "tests.ppo.shared_update"]
    launcher = ["-m", "torch.distributed.run", "--nproc-per-node=2"]
    commands = {"one": module, "two": [*launcher, *module]}
    for name, command in commands.items():
        done = subprocess.run(
            [sys.executable, *command, str(tmp_path / name)],
            cwd=ROOT,
            capture_output=True,
            text=True,
            timeout=300,
        )
        assert done.returncode == 0, done.stderr
    one, two = load_file(tmp_path / "one"), load_file(tmp_path / "two")
    for key, tensor in one.items():
        torch.testing.assert_close(tensor, two[key], atol=1e-5, rtol=1e-4)
