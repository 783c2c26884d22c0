"""Which precision of a model's weights this processor runs faster.

Eight bits are two to three times as fast where the processor multiplies them itself; where it does
not, they may be slower than full precision. Only a measurement tells.
"""

import math
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kebab.core.ports import Embedder

INT8 = "int8"
FP32 = "fp32"

MARGIN = 1.25
"""How many times as fast full precision must be to be worth four times the disk and memory.

It is also more than the best of a few rounds is off by on a busy machine.
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
    """Return the texts per second of each embedder: its best round, taken in turns.

    The first round is always finished; no other begins after the time is over.
    """
    for embedder in embedders.values():
        embedder.embed_query(TEXTS[0])  # what is set up on the first call is not measured
    best = dict.fromkeys(embedders, math.inf)
    over = time.perf_counter() + _SECONDS
    for _ in range(_ROUNDS):
        for name, embedder in embedders.items():
            best[name] = min(best[name], _seconds(embedder))
        if time.perf_counter() >= over:
            break
    return {name: round(len(TEXTS) / seconds, 1) for name, seconds in best.items()}


def _seconds(embedder: "Embedder") -> float:
    """Return how long all texts take, each by itself."""
    started = time.perf_counter()
    for text in TEXTS:
        embedder.embed_query(text)
    return time.perf_counter() - started
