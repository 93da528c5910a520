from collections.abc import Iterator

import pytest
from report.browser import Browser, start_browser


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    started = start_browser()
    yield started
    started.close()
