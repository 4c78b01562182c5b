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


def list_ranges(numbers: Iterable[int], most: int = 20) -> str:
    """Return ascending integers as text, such as `3, 7 to 9`, shortened if it has more than `most` ranges."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    shown = [f"{run[0]} to {run[-1]}" if len(run) > 1 else str(run[0]) for run in runs]
    return ", ".join(shown[:most]) + (", …" if len(shown) > most else "")


def one_of(values: Iterable[object]) -> str:
    """Return alternatives as text, such as `64, 128 or 256`."""
    *first, last = map(str, values)
    return f"{', '.join(first)} or {last}" if first else last


def counted(number: int, noun: str) -> str:
    """Return a number and a noun, such as `1 CTA` or `2 CTAs`."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def os_reason(error: OSError) -> str:
    """Return the reason of a file error in lower case, such as `permission denied`."""
    return (error.strerror or str(error)).lower()
