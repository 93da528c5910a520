"""Text that any file can hold: JSON may name half a character (a lone surrogate), UTF-8 cannot."""


def writable(text: str) -> str:
    """The text with its surrogate pairs joined, and halves of pairs replaced by U+FFFD."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text
