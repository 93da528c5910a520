"""The loop inside TextRL's `train_agent`: batches of episodes, and what happens between them."""

from __future__ import annotations
