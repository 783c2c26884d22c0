import unicodedata

import pytest

from kebab.chunk.budget import Budget
from kebab.chunk.split import split_document
from kebab.core.media import PLAIN, detect_media_type
from kebab.errors.catalog import ParseFailed
from kebab.parse.encoding import (
    decode,
    decode_raw,
    detect_escaped_encoding,
    detect_legacy_encoding,
    encode_raw,
)
from kebab.parse.registry import PARSERS

KOREAN = "# 회의록\n\n이 문서는 인코딩 시험용이다. 표시: token\n백업은 매일 새벽 두 시에 한다.\n"
JAPANESE = "# 会議録\n\nこの文書は符号化の試験である。token\n"
CHINESE = "# 会议记录\n\n这份文件用于编码测试。token\n"
TAIWAN = "# 會議記錄\n\n這份文件用於編碼測試。請勿刪除。我們明天下午開會。token\n"
FRENCH = "# Café\n\nÇa dépend du naïve garçon, à Noël. token\n"


@pytest.mark.parametrize(
    ("text", "codec", "encoding"),
    [
        (KOREAN, "utf-8", "utf-8"),
        (KOREAN, "utf-8-sig", "utf-8"),
        (KOREAN, "utf-16", "utf-16-le"),
        (KOREAN, "utf-32", "utf-32-le"),
        (KOREAN, "cp949", "cp949"),
        (KOREAN, "euc_kr", "cp949"),
        (JAPANESE, "cp932", "cp932"),
        (JAPANESE, "euc_jp", "euc_jp"),
        (CHINESE, "gb18030", "gb18030"),
        (TAIWAN, "big5", "big5"),
        (FRENCH, "latin-1", "cp1252"),
        ("# Θεσσαλονίκη\n\nΤο βράδυ φάγαμε ψάρι.\n", "cp1253", "cp1253"),
        ("# “Smart” — fine… 25 °C token\n", "cp1252", "cp1252"),
    ],
)
def test_text_survives_the_encodings_people_have(text, codec, encoding):
    decoded = decode(text.encode(codec))
    assert decoded.text == text
    assert decoded.encoding == encoding
    assert decoded.warnings == ()


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_every_line_end_becomes_a_line_feed(end):
    assert decode(f"a{end}{end}b{end}".encode()).text == "a\n\nb\n"


def test_text_is_composed():
    decomposed = unicodedata.normalize("NFD", "각주 café")
    assert decode(decomposed.encode()).text == "각주 café"


def test_a_stray_zero_byte_is_replaced():
    assert decode(b"token \0 and more text").text == "token \ufffd and more text"


@pytest.mark.parametrize(
    "data",
    [bytes(range(256)) * 8, b"\x89PNG\r\n\x1a\n" + b"\0\0\0\rIHDR" * 9, b"\0" * 64],
    ids=["every byte", "image", "zeros"],
)
def test_binary_data_is_refused(data):
    with pytest.raises(ParseFailed) as refusal:
        decode(data, "a/b.md", "markdown-v1")
    refused = refusal.value
    assert (refused.path, refused.parser) == ("a/b.md", "markdown-v1")
    assert refused.cause == "binary data, not text"


@pytest.mark.parametrize("codec", ["utf-8", "utf-8-sig", "utf-16", "utf-32", "cp949"])
def test_a_changed_text_keeps_the_encoding_and_the_mark_of_its_file(codec: str) -> None:
    data = "한국어 문서입니다. 이것은 글입니다.\r\n".encode(codec)
    raw = decode_raw(data)
    assert encode_raw(raw.text, raw, data) == data
    changed = raw.text.replace("글", "긴 글")
    assert encode_raw(changed, raw, data) == changed.encode(codec)


def test_a_text_that_lost_bytes_or_gains_a_foreign_character_is_not_encoded() -> None:
    damaged = b"good words \xff here\n" + "\xe9\xe9\xe9\xe9".encode()
    raw = decode_raw(damaged)
    assert encode_raw(raw.text, raw, damaged) is None
    korean = "한국어 문서입니다.\n".encode("cp949")
    raw = decode_raw(korean)
    assert encode_raw(raw.text + "\U0001f600", raw, korean) is None


@pytest.mark.parametrize(
    ("text", "codec"),
    [
        ("한글", "cp949"),
        ("이것은 kubectl 명령의 예시이다", "cp949"),
        ("ファイルを開く", "cp932"),
        ("ファイルを開くことができる", "euc_jp"),
        ("数据库备份每天凌晨两点进行", "gb18030"),
        ("größer über straße", "cp1252"),
        ("Die Prüfung für Schüler fällt aus", "cp850"),
        ("Nom;Métier\nHélène;Sabotière\nGaëtan;Tonnelier", "mac_roman"),
        ("Čovjek je došao u grad, gdje živi njegov đak", "cp852"),
        ("§ 5 Abs. 2, 25 °C, 3 m³", "cp1252"),
    ],
)
def test_the_encodings_of_short_texts_are_distinguished(text, codec):
    assert detect_legacy_encoding(text.encode(codec)) == codec


SENTENCES = {
    "ko": "어제 저녁에는 비가 많이 와서 길이 젖어 있었다. ",
    "ja": "会議で決まったことを、ここに書きます。",
}


@pytest.mark.parametrize(("lang", "codec"), [("ja", "iso2022_jp"), ("ko", "iso2022_kr")])
def test_text_that_switches_character_sets_is_recognised(lang, codec):
    data = f"Note: {SENTENCES[lang]}\n".encode(codec)

    assert detect_escaped_encoding(data) == codec
    assert decode(data).text == f"Note: {SENTENCES[lang]}\n"


@pytest.mark.parametrize(
    "data",
    [
        b"\x1b[31mred\x1b[0m and $(date)\n",
        b"price \x1b$ 5\n",
        b"Plain words.\n",
    ],
)
def test_marks_in_plain_text_prove_nothing(data):
    assert detect_escaped_encoding(data) is None
    assert decode(data).text == data.decode()


TEXTS = {
    "pl": "Wczoraj byliśmy w lesie i zbieraliśmy grzyby. Dzieci znalazły dużego borowika za łąką.",
    "cs": "Včera jsme byli v lese a sbírali houby. Počasí bylo krásné, i když trochu větrné.",
    "hu": "Tegnap az erdőben voltunk és gombát szedtünk. Az idő gyönyörű volt, bár kicsit szeles.",
    "ro": "Ieri am fost în pădure şi am cules ciuperci. Vremea a fost frumoasă, deşi puţin vânt.",
    "hr": "Jučer smo bili u šumi i brali gljive. Sutra ćemo ići opet ako ne bude kiše.",
    "tr": "Dün ormana gittik ve mantar topladık. Hava çok güzeldi ama biraz rüzgârlıydı.",
    "lt": "Vakar buvome miške ir rinkome grybus. Oras buvo gražus, nors šiek tiek vėjuotas.",
    "lv": "Vakar mēs bijām mežā un lasījām sēnes. Laiks bija skaists, lai gan nedaudz vējains.",
    "de": "Gestern waren wir im Wald über der Brücke. Das Wetter war schön, aber etwas stürmisch.",
    "fr": "Hier nous étions dans la forêt. Il faisait beau, même s'il y avait du vent là-bas.",
    "da": "I går var vi i skoven og plukkede svampe. Vejret var smukt, selv om det blæste på øen.",
    "en": "The café was closed, so we read Zoë’s résumé and the naïve paper by Müller.",
}


@pytest.mark.parametrize(
    ("language", "codec"),
    [
        *((one, two) for one in ("pl", "cs", "hu", "ro", "hr") for two in ("cp1250", "iso8859_2")),
        *((language, codec) for language in ("lt", "lv") for codec in ("cp1257", "iso8859_13")),
        *(("tr", codec) for codec in ("cp1254", "iso8859_9")),
        *((language, "cp1252") for language in ("de", "fr", "da", "en")),
    ],
)  # fmt: skip
def test_natural_text_is_read_in_its_encoding(language, codec):
    found = decode(TEXTS[language].encode(codec))
    assert (found.text, found.warnings) == (TEXTS[language], ())


def test_the_encoding_of_a_text_that_fits_two_is_named_as_uncertain():
    found = decode("Săptămâna viitoare vine bunica.".encode("cp1250"))
    assert found.warnings == ("the encoding is uncertain: read as cp1252, cp1250 is as likely",)


def read(name, source):
    """Return the passages of a file with their first and last lines."""
    media = detect_media_type(name) or PLAIN
    document = PARSERS[media].parse(source.encode(), name)
    chunks = split_document(document, Budget(254))
    return [(chunk.text, chunk.start_line, chunk.end_line) for chunk in chunks]


@pytest.mark.parametrize(
    ("name", "source", "seen"),
    [
        ("a.md", "Le h&eacute;ron &#x1F680; &#233;", "Le héron 🚀 é"),
        ("a.md", "Donau&shy;dampfer snake\\_case", "Donaudampfer snake_case"),
        ("a.md", "10<sup>6</sup> H<sub>2</sub>O", "10^6 H2O"),
        ("a.md", "`&nbsp;` in M&uuml;nchen", "`&nbsp;` in München"),
        ("a.md", "<p>Caf&eacute; <!-- no --></p>", "<p>Café </p>"),
        ("a.md", "| a\\|b | c&uuml; |\n|-|-|\n| 1 | 2 |", "| a\\|b | cü |\n|-|-|\n| 1 | 2 |"),
        ("a.md", "    code &amp; more", "    code &amp; more"),
        ("a.json", r'{"a": "\uc11c\uc6b8 \ud83d\ude80", "b": "x\ny"}', '{"a": "서울 🚀", "b": "x y"}'),  # noqa: E501
        ("a.jsonl", r'{"a": "Stra\u00dfe"}', '{"a": "Straße"}'),
        ("a.json", r'{"a": "\ud83d alone"}', r'{"a": "\ud83d alone"}'),
        ("a.yaml", "a: \"Z\\u00fcrich \\xe9\"\nb: 'C:\\u0041'", "a: \"Zürich é\"\nb: 'C:\\u0041'"),
        ("a.properties", "city=Z\\u00fcrich", "city=Zürich"),
        ("a.toml", 'city = "Z\\u00fcrich"', 'city = "Zürich"'),
        ("a.xml", "<a>Caf&#233; &#xC11C;</a>", "<a>Café 서</a>"),
        ("a.tex", "M{\\\"u}ller caf\\'e stra\\ss e \\c{c}a 50\\% Donau\\-dampf", "Müller café straße ça 50% Donaudampf"),  # noqa: E501
        ("a.py", "city = '\\uc11c\\uc6b8'", "city = '서울'"),
        ("a.adoc", "Caf&eacute; it&#8217;s", "Café it’s"),
        ("a.json", r'["Zo\u00c3\u00ab \u00e2\u0080\u0093 \u00d0\u00b4\u00d0\u00b0"]', '["Zoë – да"]'),  # noqa: E501
        ("a.json", r'["\u00abCAF\u00c9\u00bb", "\u00c3\u00c3"]', '["«CAFÉ»", "ÃÃ"]'),
        ("a.json", r'["na&iuml;ve\n&amp; so"]', '["naïve & so"]'),
        ("a.csv", "a,b\nna&iuml;ve,?x&section;", "a,b\nnaïve,?x&section;"),
        ("a.rss", "<a>&lt;b&gt; ma&amp;icirc;tre &amp; co</a>", "<a><b> maître & co</a>"),
        ("a.txt", "Gr&uuml;n &amp; &nbsp;", "Grün &amp; &nbsp;"),
        ("a.txt", ".TH A 1\n\\fB\\-x\\fR na\\(:ive \\(cqt \\[u0142]\\(oe \\(xx", ".TH A 1\n-x naïve 't łœ \\(xx"),  # noqa: E501
        ("a.po", 'msgid "first\\nthen \\"it\\""', 'msgid "first then "it""'),
    ],
)  # fmt: skip
def test_escapes_are_read(name, source, seen):
    assert [text for text, _, _ in read(name, source)] == [seen]


@pytest.mark.parametrize(
    "comment",
    [
        "<!-- tapir -->",
        "<!-- tapir\nand more -->",
        "%% tapir %%",
        "%%tapir [[link]] and\nmore%%",
        "\n\n[//]: # (tapir)\n\n",
        "\n\n[comment]: <> (tapir)\n\n",
        "\n\n%%\ntapir\n%%\n\n",
    ],
)
def test_comments_are_in_no_passage_and_move_no_line(comment):
    source = f"# A\n\nfirst {comment} second\n\nlast"
    ((text, first, last),) = read("a.md", source)
    assert "tapir" not in text
    assert (first, last) == (1, source.count("\n") + 1)
    lines = zip(text.split("\n"), source.split("\n"), strict=True)
    assert all(seen in ("", line) or "first" in seen or "second" in seen for seen, line in lines)


def test_what_is_no_comment_stays():
    assert read("a.md", "100%% of `%% x %%` and 50%%")[0][0] == "100%% of `%% x %%` and 50%%"


def test_a_passage_that_begins_with_a_comment_is_cited_by_its_lines():
    ((_, first, last),) = read("a.tex", "% remark\n% more\ntext\n")
    assert (first, last) == (3, 3)


JATS = """<?xml version="1.0"?>
<!DOCTYPE article PUBLIC "-//NLM//DTD JATS//EN" "x.dtd" [ <!ENTITY a "b"> ]>
<article><body><sec id="s1"><title>Intro</title><p>Water is H<sub>2</sub>O.</p>
<!-- tapir -->
<p>Caf&#233;</p></sec></body></article>
"""


def test_tags_of_a_text_in_xml_are_no_words_and_move_no_line():
    ((text, first, last),) = read("a.xml", JATS)
    assert text.split() == ["Intro", "Water", "is", "H2O.", "Café"]
    assert (first, last) == (3, 5)
