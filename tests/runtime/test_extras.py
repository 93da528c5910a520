"""Where a package is missing, one line says what to install."""

import pytest

from drl.errors import ConfigError
from drl.runtime.extras import missing_packages_named


@pytest.mark.parametrize("name", ["torch", "transformers.models"])
def test_a_missing_package_of_ours_is_named_with_its_extra(name):
    with pytest.raises(ConfigError) as caught, missing_packages_named():
        raise ModuleNotFoundError(f"No module named {name!r}", name=name)
    assert "run pip install 'drl[train]'" in str(caught.value)
    assert str(caught.value).startswith(f"{name.partition('.')[0]} is not installed")


@pytest.mark.parametrize("name", ["their_rewards", None])
def test_a_missing_module_of_somebody_else_is_their_own_error(name):
    with pytest.raises(ModuleNotFoundError), missing_packages_named():
        raise ModuleNotFoundError("No module", name=name)
