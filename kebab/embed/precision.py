"""Which precision of a model's weights this processor runs faster.

Eight bits are two to three times as fast where the processor multiplies them itself; where it does
not, they may be slower than full precision. Only a measurement tells.
"""

import math
import time
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kebab.core.ports import Embedder

INT8 = "int8"
FP32 = "fp32"

MARGIN = 1.25
"""How many times as fast full precision must be to be worth four times the disk and memory.

It also covers what other work on the machine does to the ratio of two measurements.
"""

TEXTS = (
    "Where did I write down how to renew the certificate?",
    "The meeting was moved to Thursday, since two of us are travelling until Wednesday evening.",
    """Soak the beans overnight, then cook them slowly with an onion, a bay leaf and some thyme.
    Salt goes in at the end, or else the skins stay hard. What is left over keeps for three days.
    """,
)
"""A question, a sentence and a short passage."""

_ROUNDS = 8
_SECONDS = 0.6  # of measuring; loading the models takes the rest of a second


def chosen(rates: Mapping[str, float]) -> str:
    """Return the precision to install for these texts per second; eight bits unless both count."""
    if not {INT8, FP32} <= rates.keys():
        return INT8
    return FP32 if rates[FP32] >= MARGIN * rates[INT8] else INT8


def measured(embedders: "Mapping[str, Embedder]") -> dict[str, float]:
    """Return the texts per second of each embedder, by the best time of each text.

    They take turns. The first round is always finished; no other begins after the time is over.
    """
    for embedder in embedders.values():
        embedder.embed_query(TEXTS[0])  # what is set up on the first call is not measured
    best = {name: [math.inf] * len(TEXTS) for name in embedders}
    over = time.perf_counter() + _SECONDS
    for _ in range(_ROUNDS):
        for name, embedder in embedders.items():
            best[name] = [*map(min, best[name], _seconds(embedder))]
        if time.perf_counter() >= over:
            break
    return {name: round(len(TEXTS) / sum(seconds), 1) for name, seconds in best.items()}


def _seconds(embedder: "Embedder") -> Iterator[float]:
    """Yield how long each text takes by itself."""
    for text in TEXTS:
        started = time.perf_counter()
        embedder.embed_query(text)
        yield time.perf_counter() - started
