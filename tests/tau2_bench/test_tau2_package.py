"""Finding the package, and saying clearly when it is not there."""

import shutil
import subprocess
import sys
from importlib.machinery import PathFinder

import pytest

from drl.domains.tau2 import package
from drl.errors import ConfigError


def test_it_is_found_in_a_checkout_and_where_it_is_installed(checkout, monkeypatch):
    found = package.find(str(checkout))
    assert found.folder == checkout / "src" / "tau2"
    assert found.domains == ("mock", "radio")
    monkeypatch.syspath_prepend(checkout / "src")
    assert package.find(None).folder == found.folder


def test_a_missing_package_is_named_with_the_line_that_installs_it(monkeypatch):
    monkeypatch.setattr(sys, "meta_path", [])
    with pytest.raises(ConfigError, match="tau2-bench is not installed") as caught:
        package.find(None)
    assert str(caught.value).startswith("dataset.root=null: ")
    assert "pip install git+https://github.com/sierra-research/tau2-bench" in str(caught.value)
    assert "Python 3.12" in str(caught.value)


def test_the_other_package_of_that_name_is_told_apart(tmp_path, monkeypatch):
    (tmp_path / "tau2").mkdir()
    (tmp_path / "tau2" / "__init__.py").write_text("relaxation = 1.0")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "meta_path", [PathFinder])
    with pytest.raises(ConfigError, match="another package of that name"):
        package.find(None)


def test_a_folder_without_it_is_refused(tmp_path):
    with pytest.raises(ConfigError, match=r"dataset\.root=.*holds no tau2-bench"):
        package.find(str(tmp_path))


def test_a_missing_dependency_is_named(checkout):
    with pytest.raises(ConfigError, match="needs the module no_such_dependency"):
        package.find(str(checkout)).module("evaluator.evaluator")


def test_its_runner_is_not_loaded(checkout):
    found = package.find(str(checkout))
    found.module("domains.mock.environment")
    with pytest.raises(ImportError, match="litellm"):  # what importing the package as such does
        exec((found.folder / "__init__.py").read_text())


def test_a_second_one_in_the_same_process_is_refused(checkout, tmp_path):
    package.find(str(checkout)).module("utils.utils")
    shutil.copytree(checkout, tmp_path / "other")
    with pytest.raises(ConfigError, match="already reads tau2 from"):
        package.find(str(tmp_path / "other")).module("utils.utils")


def test_missing_data_is_named_with_the_variable_that_leads_to_it(checkout, tmp_path, monkeypatch):
    found = package.find(str(checkout))
    monkeypatch.setattr(found.module("utils.utils"), "DATA_DIR", tmp_path)
    with pytest.raises(ConfigError, match="TAU2_DATA_DIR"):
        found.data("mock")


def test_the_version_has_the_number_and_follows_the_data(checkout, tmp_path, monkeypatch):
    found = package.find(str(checkout))
    before = found.version("mock")
    assert before.startswith("tau2-1.0.1-mock-")
    shutil.copytree(checkout / "data", tmp_path / "data")
    monkeypatch.setattr(found.module("utils.utils"), "DATA_DIR", tmp_path / "data")
    assert found.version("mock") == before
    (tmp_path / "data" / "tau2" / "domains" / "mock" / "policy.md").write_text("Be kind.")
    assert found.version("mock") != before


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"domain": "banking"}, r"dataset\.domain=banking is no domain .* use one of mock, radio"),
        ({"split": "train"}, r"dataset\.split=train does not exist .* use one of base, odd"),
        ({"ids": ["collect", "nope"]}, r"dataset\.ids=nope is no task of tau2 mock base"),
    ],
)
def test_what_is_not_in_it_is_refused(dataset, settings, message):
    with pytest.raises(ConfigError, match=message):
        dataset(**settings).load()


def test_importing_the_adapter_imports_no_tau2():
    script = (
        "import sys, drl.dataset.tau2, drl.environment.tau2, drl.reward.tau2_check, "
        "drl.user_simulator.tau2; print('tau2' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.stdout.strip() == "False", done.stderr
