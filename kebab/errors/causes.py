"""Words the texts of libraries for people: without class names, source files and addresses.

The whole text of the exception stays in the log.
"""

import re

UNKNOWN_CAUSE = "an internal part failed"
"""The cause when nothing readable is left of a text."""

_MAX_CHARS = 4_000
"""A longer text is cut before it is matched."""

_TRACEBACK = "Traceback (most recent call last):"
_EXCEPTION_CLASS = r"(?:\w+\.)*[A-Z]\w*(?:Error|Exception|Warning|Panic)"

_REWRITES: tuple[tuple[re.Pattern[str], str], ...] = (
    # Texts of panics in Rust, whole.
    (re.compile(r"thread '[^']{0,200}+' panicked at .*", re.DOTALL), UNKNOWN_CAUSE),
    (re.compile(r"(?:rust )?future panicked(?:: unknown error)?"), UNKNOWN_CAUSE),
    (re.compile(r"called `\w+::\w+\(\)` on an? `\w+` value(?:: )?"), ""),
    # Codes and classes that precede the text.
    (re.compile(r"\[Errno -?\d+\] ?"), ""),
    (re.compile(r"\[ONNXRuntimeError\] : -?\d+ : (?:[A-Z_]+ : )?"), ""),
    (re.compile(rf"(?<![\w.`'\"])(?:{_EXCEPTION_CLASS})(?:\([\w ]*\))?: ?"), ""),
    (re.compile(r"(?i)\blance(?:db)? error: ?"), ""),
    (re.compile(r"\bSQLITE_[A-Z_]+: ?"), ""),
    # Places in the source of libraries, and what follows them as their function.
    # A match begins only where a word or the blanks before it begin, so the time is linear.
    (
        re.compile(
            r"(?:(?<![\s,(])[\s,(]++|(?<![^\s,:()\"'`]))(?:\bat )?"
            r"(?:[A-Za-z]:)?[\w.@~+-]*+[\\/][^\s,:()\"'`]*\.(?:rs|cc|cpp|hpp|h|c|py|pyx)"
            r"(?::\d+)+(?: ?[\w:~<>]+::[\w:~<>]+(?:\([^()]{0,200}+\))?)?[)]?:?"
        ),
        "",
    ),
    (re.compile(r"File \"[^\"]{1,500}+\", line \d+(?:, in \S+)?,?"), ""),
    (re.compile(r" ?\(os error \d+\)"), ""),
    # Representations of objects.
    (re.compile(r"<class '(?:\w+\.)*+(\w+)'>"), r"\1"),
    (re.compile(r"<(?:function|method|bound method) (?:\w+\.)*+(\w+)[^>]{0,200}+>"), r"\1"),
    (re.compile(r"<(?:\w+\.)*+(\w+) object at 0x[0-9a-f]+>"), r"\1"),
    (re.compile(r" at 0x[0-9a-f]{6,}"), ""),
)


def clean_cause(text: str) -> str:
    """Return the cause of an error as one line for people."""
    lines = [line for line in text.splitlines() if line.strip()]
    if _TRACEBACK in text:
        lines = lines[-1:]
    cleaned = lines[0] if lines else ""
    if len(cleaned) > _MAX_CHARS:
        cleaned = cleaned[: _MAX_CHARS - 1] + "…"
    for pattern, replacement in _REWRITES:
        cleaned = pattern.sub(replacement, cleaned)
    cleaned = cleaned.strip(" \t,:;")
    return cleaned if cleaned or not text.strip() else UNKNOWN_CAUSE
