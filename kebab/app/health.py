"""Health: doctor's diagnosis as the wire says it."""

from kebab import __version__
from kebab.app.compose import Workshop
from kebab.wire.health import Doctor, DoctorCheck


def doctor(shop: Workshop) -> Doctor:
    """Return the health of the knowledge base and of what it needs."""
    from kebab.app.compose.subject import subject
    from kebab.doctor.examine import examine

    diagnosis = examine(subject(shop), shop.clock)
    return Doctor(
        ok=diagnosis.ok,
        kebab_version=__version__,
        checks=[
            DoctorCheck(
                name=check.name,
                status=check.status.value,
                summary=check.summary,
                fix=check.fix,
                duration_ms=check.duration_ms,
            )
            for check in diagnosis.checks
        ],
    )
