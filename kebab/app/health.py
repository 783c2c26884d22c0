"""Checks the health of the knowledge base and of what it needs."""

from kebab.app.compose import Workshop
from kebab.wire.health import Doctor


def doctor(shop: Workshop) -> Doctor:
    """Return the health of the knowledge base and of what it needs."""
    from kebab.app.compose.subject import subject
    from kebab.doctor.examine import examine

    return examine(subject(shop), shop.clock)
