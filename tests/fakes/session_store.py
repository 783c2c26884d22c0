"""A turn of a session with every field filled in."""

from typing import Any

from kebab.core.answers import Turn


def turn(session: str = "talk", question: str = "how?", **changes: Any) -> Turn:
    """Return a turn with every field filled in."""
    return Turn(
        **{
            "session": session,
            "index": 0,
            "question": question,
            "standalone": f"{question} (alone)",
            "answer": "Like this [1].",
            "refusal": None,
            "mode": "generative",
            "model": "gemma4:e4b",
            "created": 1.5,
            **changes,
        }
    )
