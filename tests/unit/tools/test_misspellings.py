from kebab.review.rules.spelling import MISSPELLINGS
from tools.misspellings import LIST, pack_pairs, read_pairs, select_pairs

_SOURCE = """
            (dictgen::InsensitiveStr::Ascii("recieve"), &["receive"]),
            (
                dictgen::InsensitiveStr::Ascii("wether"),
                &["weather", "whether"],
            ),
            (dictgen::InsensitiveStr::Ascii("teh"), &["the"]),
            (dictgen::InsensitiveStr::Ascii("yot"), &["yacht"]),
            (dictgen::InsensitiveStr::Ascii("handel"), &["handle"]),
"""


def test_short_words_and_names_are_left_out():
    pairs = select_pairs(read_pairs(_SOURCE), ["Handel", "wether"], [])

    assert pairs == {"recieve": ["receive"], "wether": ["weather", "whether"], "teh": ["the"]}


def test_the_list_in_use_was_packed_by_the_tool():
    pairs = {
        word.decode(): [one.replace(" ", "_") for one in MISSPELLINGS.list_corrections(word)]
        for word in MISSPELLINGS.words
    }

    assert pack_pairs(pairs) == LIST.read_bytes()
