"""Finds the words that a text denies: the content word beside a negator.

The negators are one closed list for the languages that have stop words here. In scripts without
blanks the negator is a part of a run.
"""

from kebab.rag.question_terms import is_content_word
from kebab.text.language import is_dense, iter_unit_matches
from kebab.text.lazy_pattern import compile_lazily
from kebab.text.normalize import split_names
from kebab.text.tokenizer import tokenize_unit

_NEGATORS = split_names(
    "not no never cannot none neither nor without"
    " nicht kein keine keinen keinem keiner nie niemals ohne"
    " ne pas jamais aucun aucune sans nunca ni ningún ninguna sin jamás non mai senza"
    " não nem sem niet geen nooit zonder inte ingen aldrig utan ikke uden"
    " nigdy bez değil hiç không chẳng не нет ни без никогда لا لم لن ليس"
)
_LIMITS = split_names(
    "only just merely more less fewer later longer until necessarily nur mehr weniger seulement"
    " plus moins solo sólo solamente más menos apenas mais alleen meer bara mer только более"
)
"""Words after a negator that deny nothing: `not only`, `no more than`."""

_DENSE_NEGATED = compile_lazily(
    "(?P<korean>[가-힣]{2,8})(?:지[는도]? ?(?:않|못|마|말)|(?:[이가은는도] )?(?:없|아니|아닙))"
    "|(?:^|\\s)(?:안|못) (?P<after>[가-힣]{2,})"
    "|(?P<japanese>[\u3400-\u9fffァ-ヿ]{2,8})[ぁ-\u309f]{0,6}?(?:ない|ません|なかっ|ずに)"
    "|[不没沒無无未](?P<chinese>[\u3400-\u9fff]{2})"
)
_REACH = 5
"""A negated word is one of so many words after its negator."""


def find_negated(text: str) -> frozenset[str]:
    """Return the index tokens of the words that a text denies."""
    runs = (one[one.lastgroup or 0] for one in _DENSE_NEGATED.finditer(text))
    found = {token for run in runs for token in tokenize_unit(run)[:-1]}
    units = list(iter_unit_matches(text))
    for at, unit in enumerate(units):
        word = unit[0].lower()
        if word not in _NEGATORS and not word.endswith(("n't", "n’t")):
            continue
        after = [one[0] for one in units[at + 1 : at + 1 + _REACH] if not is_dense(one[0])]
        if after and after[0].lower() not in _LIMITS:
            target = next((one for one in after if is_content_word(one)), "")
            found.update(tokenize_unit(target) if target else ())
    return frozenset(found)
