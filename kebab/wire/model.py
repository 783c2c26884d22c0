"""Embedding models: what there is, and what a pull or a change did."""

from msgspec import Struct

from kebab.wire.record import Reply, Request


class ModelRow(Struct, frozen=True, kw_only=True):
    """One embedding model of the registry."""

    name: str
    """Its name."""
    embedding_version: str
    """The label that the index stores."""
    dimension: int
    """The length of a vector."""
    window: int
    """The most tokens that one vector sees."""
    languages: str
    """What it knows."""
    installed: bool
    """Whether its weights are on this machine."""
    active: bool
    """Whether the knowledge base uses it."""
    bytes: int | None
    """The size of its weights; null when they are not here."""
    precision: str | None
    """The precision of its weights, `int8` or `fp32`; null when they are not here."""
    texts_per_second: dict[str, float]
    """What each precision reached when the weights were installed; the faster one was kept, `int8`
    when in doubt. Empty when only one was tried."""
    sources: list[str]
    """Where its weights can be had, in this order."""


class ModelList(Reply, frozen=True, kw_only=True, tag="model_list.v1"):
    """Every embedding model."""

    models: list[ModelRow]
    """The registry."""
    configured: str
    """What `models.embedding.model` says."""


class ModelReport(Reply, frozen=True, kw_only=True, tag="model_report.v1"):
    """What `model pull` or `model use` did."""

    model: ModelRow
    """The model."""
    fetched: bool
    """Whether its weights were fetched now."""
    embedded: int
    """How many passages were embedded again."""
    pending: int
    """How many passages still wait for a vector."""


class ModelListRequest(Request, frozen=True, kw_only=True, tag="model_list_request.v1"):
    """List every embedding model."""


class ModelPullRequest(Request, frozen=True, kw_only=True, tag="model_pull_request.v1"):
    """Which embedding model to download."""

    name: str = "auto"
    """The model; `auto` means the best one that can be downloaded."""


class ModelUseRequest(Request, frozen=True, kw_only=True, tag="model_use_request.v1"):
    """Which embedding model the knowledge base changes to."""

    name: str
    """The model; `auto` means that of the settings, else the best one that can be downloaded."""
