"""Real tau-bench for tests that need it."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from drl.domains.tau import stored
from drl.domains.tau.fetch import fetch
from drl.domains.tau.forms import Form
from drl.domains.tau.stored import Stored
from drl.domains.tau.tools import Domain

DATA = Path(os.environ.get("DRL_DATA", "data"))


@pytest.fixture(scope="session")
def real_tau() -> Callable[..., Stored]:
    """A domain of the real data in one form; downloaded if it is not there yet."""
    fetch(DATA)

    def load(domain: Domain, form: Form = "tau1") -> Stored:
        return stored.load(DATA, domain, form)

    return load
