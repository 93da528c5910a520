"""Needs what is not installed, as the package's own needs litellm."""

import no_such_dependency  # noqa: F401  # pyright: ignore[reportMissingImports]
