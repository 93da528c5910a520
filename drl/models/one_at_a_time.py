"""One model is loaded at a time: transformers changes the whole process while it loads one.

It sets the default number format of torch and replaces functions of it for a while, so two threads
that load at once give each other weights in the wrong format, or none.
"""

from threading import RLock

LOADING = RLock()
"""Held while a model is made or read."""
