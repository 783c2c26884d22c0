"""The model hub as a source: a child process that downloads with the hub's own client."""

import os
from urllib.parse import urlsplit

from kebab.embed.child import own_module
from kebab.embed.hub_faults import TELLING
from kebab.embed.models import EmbeddingModel
from kebab.embed.offer import Offer

_DEFAULT_ENDPOINT = "https://huggingface.co"
_ENVIRONMENT = {
    "HF_HUB_DISABLE_PROGRESS_BARS": "1",
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "HF_HUB_DISABLE_SYMLINKS_WARNING": "1",
    "HF_HUB_DISABLE_XET": "1",  # plain HTTP, so that the growing file shows the progress
}


def endpoint() -> str:
    """Return the address of the hub; a mirror is named by `HF_ENDPOINT`."""
    return os.environ.get("HF_ENDPOINT", "").rstrip("/") or _DEFAULT_ENDPOINT


def offer(model: EmbeddingModel) -> Offer:
    """Return how the hub gives this model."""
    host = urlsplit(endpoint()).hostname or endpoint()  # an address may carry a password
    files = (model.hub.model_file, "tokenizer.json")
    return Offer(
        model=model,
        kind="hub",
        label=f"model hub {host}",
        source=f"model hub {host}: {model.hub.repo}",
        arguments=(*own_module("kebab.embed.hub_download"), model.hub.repo, *files),
        environment={**_ENVIRONMENT, "HF_ENDPOINT": endpoint()},
        life=r"^answered (?P<size>\d+)",
        telling=(r"\[Errno ", TELLING, r"Error: "),
    )
