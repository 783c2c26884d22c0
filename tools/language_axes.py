"""Fits the directions in which the vectors of a model differ by language alone, and the mean token.

Run from a checkout: `python -m tools.language_axes FOLDER --model NAME --axes FILE --token FILE`.
Each output is optional. In each folder
of FOLDER there is one file per language, `de.txt`; line n of every file is the same passage in
another language. The mean vector of a language, less the mean of all languages of its folder, is
what its language alone adds, because the topics are the same. The axes are the principal
directions of these differences.
"""

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from kebab.app.model_adapters import Embedders
from kebab.config.load import load_settings
from kebab.config.settings import resolve_paths
from kebab.embed.registry import FILE_DTYPE
from kebab.search.rerank import compute_mean_token

if TYPE_CHECKING:
    from kebab.core.chunks import Matrix
    from kebab.core.ports import Embedder

_COUNT = 16
"""How many axes are kept; `docs/search-quality.md` compares numbers of them."""


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
ذهب الطلاب إلى المكتبة في الصباح. ارتفعت أسعار النفط هذا الأسبوع."""
"""Sentences without a common topic, in eleven languages."""


def main(arguments: list[str]) -> int:
    """Write the axes of a model to a file; return 0."""
    parser = argparse.ArgumentParser(
        prog="python -m tools.language_axes", description="Fit the language axes of a model."
    )
    parser.add_argument("folder", type=Path, help="a folder of folders with parallel text")
    parser.add_argument("--model", default="multilingual-e5-small", help="the embedding model")
    parser.add_argument("--count", type=int, default=_COUNT, help="how many axes are kept")
    parser.add_argument("--axes", type=Path, help="the file of the axes")
    parser.add_argument("--token", type=Path, help="the file of the mean token")
    chosen = parser.parse_args(arguments)
    settings = load_settings(None)
    embedders = Embedders(settings, resolve_paths(settings).models)
    embedder = embedders.load_stored(embedders.find_model(chosen.model).version)
    folders = sorted(path for path in chosen.folder.iterdir() if path.is_dir())
    if chosen.axes:
        axes = fit_axes([measure_differences(path, embedder) for path in folders], chosen.count)
        chosen.axes.write_bytes(axes.astype(FILE_DTYPE).tobytes())
    if chosen.token:
        (common,) = embedder.embed_tokens([COMMON_TEXT])
        chosen.token.write_bytes(compute_mean_token([common]).astype(FILE_DTYPE).tobytes())
    return 0


def measure_differences(folder: Path, embedder: "Embedder") -> "Matrix":
    """Return the mean vector of each language of a folder, less the mean of all, in rows."""
    import numpy as np

    means = []
    for path in sorted(folder.glob("*.txt")):
        texts = path.read_text(encoding="utf-8").splitlines()
        found = [matrix.sum(axis=0) for _, matrix in embedder.embed_passages(texts)]
        means.append(np.sum(found, axis=0) / len(texts))
    rows = np.stack(means)
    differences: Matrix = rows - rows.mean(axis=0)
    return differences


def fit_axes(differences: "list[Matrix]", count: int) -> "Matrix":
    """Return the first principal directions of all differences, shape (count, dimension)."""
    import numpy as np

    axes: Matrix = np.linalg.svd(np.concatenate(differences), full_matrices=False)[2]
    return axes[:count]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
