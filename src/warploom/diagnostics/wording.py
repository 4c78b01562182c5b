"""Parts of sentences that many messages share."""

from collections.abc import Iterable


def similar_name(name: str, known: Iterable[str], cutoff: float = 0.6) -> str:
    """Return the known name that is most similar to a misspelled name, or "" if no name is similar.

    `cutoff` is the least similarity, from 0 to 1.
    """
    from difflib import get_close_matches  # most runs need no hint

    return next(iter(get_close_matches(name, list(known), 1, cutoff)), "")


def did_you_mean(name: str, known: Iterable[str], quote: str = "") -> str:
    """Return `did you mean NAME?` with the known name most similar to `name`, or "" if none is similar.

    `quote` is written before and after the proposed name.
    """
    similar = similar_name(name, known)
    return f"did you mean {quote}{similar}{quote}?" if similar else ""


def os_reason(error: OSError) -> str:
    """Return the reason of a file error in lower case, such as `permission denied`."""
    return (error.strerror or str(error)).lower()
