"""An offer: one source that may give one model, and how to tell whether it does."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from kebab.embed.models import EmbeddingModel


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """A child process that downloads a model's files into its working folder.

    `life` matches the line by which the source shows that it answers (its group `size`, when
    there is one, is the number of bytes to come); `telling` matches lines that explain a failure,
    the best pattern first.
    """

    model: EmbeddingModel
    kind: Literal["hub", "package"]
    label: str
    source: str
    arguments: tuple[str, ...]
    environment: Mapping[str, str] = field(hash=False)
    life: str
    telling: tuple[str, ...]
    size: int | None = None
