"""How properties are tested: however slow the machine is, since tests hold no timings."""

from hypothesis import settings

settings.register_profile("any_machine", deadline=None)
settings.load_profile("any_machine")
