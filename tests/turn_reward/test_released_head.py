"""The released head is a pickle of a whole module: it is read without running anything in it."""

import os
import pickle
import re
from pathlib import Path

import pytest
import torch

from drl.errors import DataError
from drl.turn_reward.head import apply
from drl.turn_reward.released_head import is_released_head, read_released_head
from tests.turn_reward.models import save_released_head


class Evil:
    """Touches a file when it is unpickled by a loader that runs what a pickle names."""

    def __init__(self, target: Path) -> None:
        self.target = target

    def __reduce__(self):
        return os.mkdir, (str(self.target),)


def refusal(file: Path) -> str:
    with pytest.raises(DataError) as caught:
        read_released_head(file)
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize("num_inputs", [1024, 16])
def test_it_gives_the_rewards_that_the_module_gives(tmp_path, num_inputs):
    module = save_released_head(tmp_path / "reward1_some-run-5", num_inputs)
    head = read_released_head(tmp_path / "reward1_some-run-5")
    inputs = torch.randn(7, num_inputs)
    with torch.inference_mode():
        wanted = torch.tanh(module.fc2(torch.relu(module.fc1(inputs))))[:, 0]
    torch.testing.assert_close(apply(head.settings, head.params, inputs), wanted)
    assert head.settings.hidden == 128
    # geli.md: 131,329 parameters of 1024 inputs, 128 units and one output
    assert sum(weight.numel() for weight in head.params.values()) == num_inputs * 128 + 257


def test_such_files_are_known_for_what_they_are(tmp_path):
    save_released_head(tmp_path / "reward1_some-run-5", 4)
    (tmp_path / "bare").write_bytes(pickle.dumps({}))
    assert is_released_head(tmp_path / "reward1_some-run-5")
    assert is_released_head(tmp_path / "bare")
    for name, content in {"a.json": b"{}", "b": b"", "c": b"PK\x03\x04 cut"}.items():
        (tmp_path / name).write_bytes(content)
        assert not is_released_head(tmp_path / name)
    assert not is_released_head(tmp_path)


@pytest.mark.parametrize("where", ["module", "state", "bare"])
def test_what_a_hostile_file_names_is_not_run(tmp_path, where):
    target, file = tmp_path / "was-run", tmp_path / "reward1_evil"
    if where == "module":
        save_released_head(file, 4, fc3=Evil(target))
    elif where == "state":
        torch.save(Evil(target), file)
    else:
        file.write_bytes(pickle.dumps(Evil(target)))
    assert "nothing in it was run" in refusal(file)
    assert not target.exists()


def test_a_hostile_file_does_run_where_pickles_are_trusted(tmp_path):
    torch.save(Evil(tmp_path / "was-run"), tmp_path / "evil")
    torch.load(tmp_path / "evil", weights_only=False)
    assert (tmp_path / "was-run").exists()


def test_classes_that_are_not_on_the_list_are_refused(tmp_path):
    save_released_head(tmp_path / "reward1_other", 4, fc3=torch.nn.Softmax())
    assert "torch.nn.modules.activation.Softmax" in refusal(tmp_path / "reward1_other")


@pytest.mark.parametrize(
    "spoiled",
    [
        lambda weight: weight * float("nan"),
        lambda weight: weight.double() * 1e300,  # infinite in the type of a head
        lambda weight: weight + 1j,
        lambda weight: weight.int(),
        lambda weight: weight.to_sparse(),
        lambda weight: weight.to("meta"),
        lambda weight: weight.sum(),
        lambda weight: weight[None],
        lambda weight: weight[:0],
    ],
)
@pytest.mark.parametrize(("layer", "name"), [("fc1", "weight"), ("fc2", "bias")])
def test_weights_that_are_no_plain_finite_numbers_are_refused(tmp_path, layer, name, spoiled):
    linear = torch.nn.Linear(4, 128) if layer == "fc1" else torch.nn.Linear(128, 1)
    linear._parameters[name] = spoiled(getattr(linear, name).detach())
    file = tmp_path / "reward1_x"
    save_released_head(file, 4, **{layer: linear})
    assert f"numbers in {layer}.{name}" in re.sub(r" with \d axes", "", refusal(file))


def test_what_a_foreign_file_names_is_said_in_our_words(tmp_path):
    save_released_head(tmp_path / "reward1_other", 4, fc3=torch.nn.Softmax())
    told = refusal(tmp_path / "reward1_other")
    assert "names torch.nn.modules.activation.Softmax, which the released head does not" in told
    assert "weights_only" not in told


def test_an_archive_whose_names_are_damaged_is_no_head(tmp_path):
    file = tmp_path / "reward1_x"
    save_released_head(file, 4)
    file.write_bytes(file.read_bytes().replace(b"/data.pkl", b"/dat\xe9\xff\xfe\xfd"))
    assert not is_released_head(file)
    refusal(file)


def test_other_files_are_told_in_one_line(tmp_path):
    file = tmp_path / "reward1_x"
    torch.save({"fc1": torch.zeros(2)}, file)
    assert "it holds a dict" in refusal(file)
    save_released_head(file, 4, fc2=torch.nn.Linear(128, 2))
    assert "its layers have the shapes" in refusal(file)
    save_released_head(file, 4, fc2=torch.nn.ReLU())
    assert "it lacks" in refusal(file)
    file.write_bytes(file.read_bytes()[:1000])
    refusal(file)
    file.write_bytes(b"nothing of that kind")
    refusal(file)
    file.write_bytes(b"")
    refusal(file)
    assert "cannot be read" in refusal(tmp_path / "none")
