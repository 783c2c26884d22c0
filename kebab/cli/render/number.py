"""Measured numbers, short enough for a table."""


def short(value: float) -> str:
    """Return a number with three digits that count."""
    if value >= 100:  # noqa: PLR2004 - three digits stand before the point
        return f"{value:.0f}"
    return f"{value:.1f}" if value >= 10 else f"{value:.3f}" if value < 1 else f"{value:.2f}"  # noqa: PLR2004 - as many behind it as make three
