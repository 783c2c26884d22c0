"""What each exit status means to a caller, in words; help and reference are made from it."""

from kebab.errors.signal import Exit

MEANINGS = {
    Exit.DONE: "done",
    Exit.NO: "an honest no: no hit, or nothing of that name; the answer is on stdout",
    Exit.ERROR: "an error; stdout is empty and stderr says what and why",
    Exit.UNUSABLE: "not usable: no index here, or something is unhealthy",
    Exit.INTERRUPTED: "interrupted; what was done is kept and reported",
    Exit.READER_GONE: "the reader went away",
}

ALWAYS = (Exit.DONE, Exit.ERROR, Exit.INTERRUPTED, Exit.READER_GONE)
"""What any command may end with."""


def statuses(*more: Exit) -> list[tuple[int, str]]:
    """Return the statuses of a command that also ends with `more`, in order, with meanings."""
    return [(status.value, MEANINGS[status]) for status in sorted({*ALWAYS, *more})]
