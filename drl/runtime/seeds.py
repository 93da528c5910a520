"""Seeds that are derived, never drawn: a rerun repeats, trials differ, siblings differ."""

from hashlib import blake2b


def derive(*parts: str | int) -> int:
    """A 63-bit seed that depends on every part and on their order."""
    text = "\x1f".join(map(str, parts))
    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "big") >> 1
