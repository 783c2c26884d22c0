"""Sessions in memory: public twin of `kebab.store.sqlite.sessions.SqliteSessionStore`."""

from dataclasses import dataclass, field
from typing import Any

from msgspec.structs import replace

from kebab.core.answers import AnswerMode, StoredSession, Turn


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
            "mode": AnswerMode.GENERATIVE,
            "model": "gemma4:e4b",
            "created": 1.5,
            **changes,
        }
    )


@dataclass
class MemorySessionStore:
    """The turns of sessions, which last as long as the object."""

    limit: int = 200
    kept: dict[str, list[Turn]] = field(default_factory=dict)

    def list_turns(self, session: str, last: int | None = None) -> list[Turn]:
        """Return the turns of a session in order, or only the last ones."""
        found = self.kept.get(session, [])
        return found[max(0, len(found) - last) :] if last is not None else list(found)

    def add_turn(self, turn: Turn) -> int:
        """Remember a turn and return its index."""
        before = self.kept.get(turn.session, [])
        index = before[-1].index + 1 if before else 0
        self.kept[turn.session] = [*before, replace(turn, index=index)][-self.limit :]
        return index

    def list_sessions(self) -> list[StoredSession]:
        """Return every session, the one used last first."""
        found = [
            StoredSession(
                name=name,
                turns=len(turns),
                answered=sum(turn.refusal is None for turn in turns),
                stopped=sum(turn.stop_reason != "completed" for turn in turns),
                folder=turns[-1].folder,
                first_question=turns[0].question,
                created=turns[0].created,
                updated=turns[-1].created,
            )
            for name, turns in self.kept.items()
        ]
        return sorted(found, key=lambda one: (-one.updated, one.name))

    def delete_session(self, session: str) -> int:
        """Forget a session and return how many turns went."""
        return len(self.kept.pop(session, []))
