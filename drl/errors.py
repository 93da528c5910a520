"""All errors that drl raises on purpose.

    DrlError
    ├── ConfigError(ValueError)      a setting breaks a rule
    ├── DataError(ValueError)        a file is missing, corrupt or of another version
    ├── DialogueError(ValueError)    one dialogue cannot go on; it is recorded as broken
    ├── RunError(RuntimeError)       a run folder cannot be used as asked
    └── BenchmarkError(RuntimeError) a benchmark could not be measured

A message says what is wrong, where (dotted key or path), which rule it breaks and how to mend it.
Every error can be pickled, so keep the constructors to one message.
"""


class DrlError(Exception):
    """Base of everything that a user may want to catch; shown as one line without a traceback."""


class ConfigError(DrlError, ValueError):
    """A setting breaks a rule; the message starts with its dotted key."""


class DataError(DrlError, ValueError):
    """Data is missing, corrupt, or of a version that this code does not read."""


class DialogueError(DrlError, ValueError):
    """One dialogue cannot go on, through no fault in the code: it is data, and the run goes on."""


class RunError(DrlError, RuntimeError):
    """A run folder is locked, belongs to another config, or cannot be written."""


class BenchmarkError(DrlError, RuntimeError):
    """A benchmark lacks what it compares with."""
