"""What Ollama writes on the wire in the calls that kebab makes: its JSON, lines and lists."""

import hashlib
import itertools
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

Generation: TypeAlias = Literal["old", "new"]
"""`old` runs models itself, `new` by way of llama-server: they differ in how they fail."""

CHAT, SHOW = "/api/chat", "/api/show"

METRICS = {
    "total_duration": 5_191_566_416,
    "load_duration": 2_154_458,
    "prompt_eval_duration": 383_809_000,
    "eval_duration": 4_799_921_000,
}
"""Nanoseconds."""

_GO_ESCAPES = {ord(char): f"\\u{ord(char):04x}" for char in "<>&\u2028\u2029"}
_FRACTIONS = itertools.cycle([".123456789", ".98765432", ".5", "", ".000000001"])


@dataclass(frozen=True, slots=True, kw_only=True)
class Model:
    """A model that a server has: its full name and what it can do."""

    name: str
    capabilities: tuple[str, ...] = ("completion",)
    context_length: int = 8192
    dimension: int = 8

    def can(self, capability: str) -> bool:
        """Return whether it has a capability."""
        return capability in self.capabilities

    @property
    def details(self) -> dict[str, Any]:
        """Its format and size."""
        return {
            "parent_model": "",
            "format": "gguf",
            "family": "llama",
            "families": ["llama"],
            "parameter_size": "4.3B",
            "quantization_level": "Q4_K_M",
        }

    @property
    def digest(self) -> str:
        """Its hash."""
        return hashlib.sha256(self.name.encode()).hexdigest()


def to_go_json(value: object) -> str:
    """Return JSON as Go writes it: compact, not ASCII, but safe inside HTML."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return text.translate(_GO_ESCAPES)


def make_timestamp() -> str:
    """Return a time with up to 9 digits of a second, trailing zeros cut."""
    return f"2026-03-01T12:00:00{next(_FRACTIONS)}Z"


def build_chunk(model: str, *, text: str = "", thinking: str = "") -> dict[str, Any]:
    """Return one object of a chat that goes on."""
    thought = {"thinking": thinking} if thinking else {}
    return {
        "model": model,
        "created_at": make_timestamp(),
        "message": {"role": "assistant", "content": text, **thought},
        "done": False,
    }


def build_last_chunk(
    answer: dict[str, Any], reason: str | None, counts: Mapping[str, int]
) -> dict[str, Any]:
    """Return an object made the last one; counts and durations of zero are left out."""
    return {
        **answer,
        "done": True,
        **({"done_reason": reason} if reason else {}),
        **{name: count for name, count in counts.items() if count},
    }


def build_tag(model: Model, generation: Generation) -> dict[str, Any]:
    """Return a model as `/api/tags` lists it; what it says of capabilities is not to be trusted."""
    entry = {
        "name": model.name,
        "model": model.name,
        "modified_at": "2026-02-11T09:41:07.123456789+09:00",
        "size": 3_338_801_804,
        "digest": model.digest,
        "details": model.details,
    }
    if generation == "old":
        return entry
    lengths = {"context_length": model.context_length, "embedding_length": model.dimension}
    return {**entry, "details": {**model.details, **lengths}, "capabilities": ["completion"]}


def build_details(model: Model) -> dict[str, Any]:
    """Return a model as `/api/show` describes it."""
    return {
        "modelfile": f"FROM {model.name}\n",
        "parameters": 'stop                           "<end_of_turn>"',
        "template": "{{ .Prompt }}",
        "details": model.details,
        "model_info": {
            "general.architecture": "llama",
            "llama.context_length": model.context_length,
            "llama.embedding_length": model.dimension,
        },
        "capabilities": list(model.capabilities),
        "modified_at": "2026-02-11T09:41:07.123456789+09:00",
    }
