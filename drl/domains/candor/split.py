"""Which conversations are held out: decided by the id alone, so that it never changes."""

from hashlib import blake2b
from typing import Final

HELD_OUT_SHARE: Final = 0.1
"""Of real CANDOR's 1,656 conversations this holds out about 166."""


def place(conversation_id: str) -> float:
    """Where an id falls in [0, 1), as evenly as chance; the held-out ids lie lowest."""
    digest = blake2b(conversation_id.encode(), digest_size=8).digest()
    return (int.from_bytes(digest, "big") >> 11) / 2**53  # 53 bits: what a float holds exactly


def is_held_out(conversation_id: str, share: float = HELD_OUT_SHARE) -> bool:
    """Whether a conversation is held out; a larger share holds out the same ones and more."""
    return place(conversation_id) < share
