"""Keeps work that writes, asks a person or reads stdin out of the warm process.

A call that needs it runs in a process of its own. The code that does such work calls
`require_own_process` before it changes anything, so the call can be repeated from the beginning.
"""


class RunCold(BaseException):
    """This call needs a process of its own; nothing was written or read yet.

    It is no error, so no handler of errors may catch it.
    """


_refusing = False


def refuse_own_work() -> None:
    """Let `require_own_process` raise from now on, because this process serves other processes."""
    global _refusing  # noqa: PLW0603 - a property of the process
    _refusing = True


def require_own_process() -> None:
    """Do nothing in the process of the caller.

    Raises:
        RunCold: This is the warm process.
    """
    if _refusing:
        raise RunCold
