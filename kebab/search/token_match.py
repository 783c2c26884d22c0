"""Measures how far the tokens of the first passages match those of a query in another language.

Across languages no words match, and the cosines of whole texts hardly tell related passages from
those that answer. The tokens tell more: those of a question that is not answered have no near
token anywhere. To compare searches with each other, not only passages, the mean token of a fixed
text in many languages is subtracted, which holds what every text has in common.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from kebab.core.chunks import TokenMatch, TokenVectors
from kebab.core.ids import Key
from kebab.errors.system import translate_import_errors
from kebab.text.scripts import is_dense

if TYPE_CHECKING:
    from kebab.core.chunks import Matrix, Vector

COMMON_TEXT = """\
The meeting on Monday was moved to the afternoon, because the train from the north was late. \
Water boils at a lower temperature in the mountains. \
She bought three books and a lamp for 40 euros. \
Der Garten hinter dem Haus gehört seit 1950 meiner Familie. \
Bitte speichern Sie die Datei, bevor Sie das Programm beenden. \
El equipo ganó el partido en el último minuto. La receta lleva arroz, tomate y un poco de sal. \
Le médecin lui a conseillé de dormir davantage. Cette loi concerne toutes les entreprises du pays. \
В прошлом году население города выросло на два процента. Музыканты играли до поздней ночи. \
Çocuklar okuldan sonra parkta oynadı. Bilgisayarın belleği yeterli değil. \
बच्चे बगीचे में खेल रहे हैं। सरकार ने नई सड़क के लिए पैसे दिए। \
昨日の雨で川の水が増えた。この機械は電気で動きます。 \
어제 친구와 함께 박물관에 갔다. 설정을 바꾸려면 파일을 열어야 한다. \
医生建议他每天散步。这座桥建于十九世纪。 \
ذهب الطلاب إلى المكتبة في الصباح. ارتفعت أسعار النفط هذا الأسبوع."""  # noqa: RUF001
"""Sentences without a common topic. The curves of the models are fitted with this text."""

_LEAST = 1e-9


def measure_token_match(
    text: str, query: TokenVectors, passages: Mapping[Key, TokenVectors], common: TokenVectors
) -> TokenMatch | None:
    """Return how far the words of a query match the passages; None without tokens.

    A word matches as well as the best of its tokens: few endings have a counterpart.

    Args:
        text: The query.
        query: Its tokens.
        passages: The tokens of each passage.
        common: The tokens of `COMMON_TEXT`.
    """
    if not passages or not len(query.spans):
        return None
    with translate_import_errors("embedding", "numpy"):
        import numpy as np

    starts = find_word_starts(text, query.spans)
    cosines = compare_tokens(query, passages, compute_mean_token([common])).values()
    scores = sorted(float(np.maximum.reduceat(found, starts).mean()) for found in cosines)
    *others, best = scores
    return TokenMatch(best, best - sum(others) / len(others) if others else 0.0)


def find_word_starts(text: str, spans: Sequence[tuple[int, int]]) -> list[int]:
    """Return the indexes of the tokens that begin a word; in scripts without spaces each does."""
    starts, last = [], -1
    for index, (start, end) in enumerate(spans):
        token = text[start:end]
        if start != last or token[:1].isspace() or any(map(is_dense, token)):
            starts.append(index)
        last = end
    return starts


def compute_mean_token(texts: Sequence[TokenVectors]) -> "Vector":
    """Return the mean vector of all tokens."""
    with translate_import_errors("embedding", "numpy"):
        import numpy as np

    mean: Vector = np.concatenate([found.vectors for found in texts]).mean(axis=0)
    return mean


def compare_tokens(
    query: TokenVectors, passages: Mapping[Key, TokenVectors], centre: "Vector"
) -> "dict[Key, Vector]":
    """Return, for each passage, the best cosine of each token of the query.

    Args:
        query: The tokens of the query.
        passages: The tokens of each passage.
        centre: The vector that is subtracted from that of every token.
    """
    asked = _centre_rows(query.vectors, centre)
    return {
        key: (asked @ _centre_rows(found.vectors, centre).T).max(axis=1)
        for key, found in passages.items()
    }


def _centre_rows(vectors: "Matrix", centre: "Vector") -> "Matrix":
    with translate_import_errors("embedding", "numpy"):
        import numpy as np

    moved = vectors - centre
    lengths = np.linalg.norm(moved, axis=1, keepdims=True)
    scaled: Matrix = moved / np.maximum(lengths, _LEAST)
    return scaled
