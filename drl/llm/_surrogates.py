"""Text that can be written to a file: JSON may hold half a character, UTF-8 may not."""


def whole(text: str) -> str:
    """The text with its surrogate pairs joined, and halves of pairs replaced by U+FFFD."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text
