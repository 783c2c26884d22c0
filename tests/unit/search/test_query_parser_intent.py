import pytest

from kebab.core.queries import Filters
from kebab.errors.catalog import InvalidInput
from kebab.search.query_parser import (
    classify_intent,
    parse_query,
)


def _classify(text):
    return classify_intent(parse_query(text, Filters()))


@pytest.mark.parametrize("text", ["oil embargo", "API 개요", "Kubelet", "bread recipe rye"])
def test_a_few_words_name_a_topic(text):
    found = _classify(text)

    assert not found.asks
    assert found.topic > 0.9
    assert found.question < 0.1


@pytest.mark.parametrize(
    "text",
    [
        "who proclaimed the oil embargo",
        "Rye bread: how long does it rest?",
        "Wie lange ruht der Teig",
        "\u00bfCu\u00e1ndo empieza la reuni\u00f3n?",
        "Когда начинается встреча",
        "盧舎那仏像は誰の発願で造立されたの",
        "반죽은 얼마나 쉬나요",
        "面团要醒多少时间",
        "متى يبدأ الاجتماع؟",
    ],
)
def test_a_question_is_known_by_its_words_or_its_mark(text):
    found = _classify(text)

    assert found.asks
    assert found.topic == 0


def test_many_words_describe_a_need():
    need = _classify("heat transfer hypersonic boundary layer blunt bodies dissociated gas flow")

    assert need.need == 1
    assert need.question == 0


NONE = Filters()


def _texts(phrases):
    return [" ".join(term.text for term in one.terms) for one in phrases]


@pytest.mark.parametrize(
    "text",
    [
        "foo-bar",
        "a:b",
        "don't",
        "c++",
        "what?",
        "*",
        '"open quote',
        "-5 degrees",
        "--flag",
        "a AND b OR NOT c",
        "NEAR(a b)",
        "^start {column}",
        "title:",
        'say "',
        "서울,",
        '""',
        "http://a.b/c?d=e",
        'Traceback: File "/a/b.py", line 3, in main',
    ],
)
def test_text_that_is_no_operator_is_plain(text):
    question = parse_query(text, NONE)

    assert question.filters == NONE
    assert question.required == question.excluded == ()


def test_quoted_words_are_a_required_phrase_and_search_terms():
    question = parse_query('about "oil embargo" 1973', NONE)

    assert _texts(question.required) == ["oil embargo"]
    assert question.plain == "about oil embargo 1973"
    assert [term.text for term in question.terms] == ["about", "oil", "embargo", "1973"]


def test_words_and_phrases_behind_a_minus_are_excluded():
    question = parse_query('oil -nixon -"saudi arabia"', NONE)

    assert _texts(question.excluded) == ["nixon", "saudi arabia"]
    assert question.plain == "oil"


@pytest.mark.parametrize("text", ["-draft", "-draft -old", '-"oil embargo"', "-title:draft"])
def test_exclusions_alone_are_refused(text):
    with pytest.raises(InvalidInput) as caught:
        parse_query(text, NONE)

    assert caught.value.field == "$.query"


@pytest.mark.parametrize(
    ("text", "excluded"),
    [
        ("snapshot -draft", ["draft"]),
        ("-draft snapshot -old", ["draft", "old"]),
        ("python -snake", ["snake"]),
        ("docker volumes -draft", []),
        ('java "is NOT null" NOT programming', ["programming"]),
        ("백업 -\ucd08안", ["초안"]),
        ('how do I restore -"old version"', ["old version"]),
        ("e-mail snapshot-draft", []),
        ("snapshot -ab", []),
        ("snapshot -x11", []),
        ("snapshot -5 -2024", []),
        ("ssh -p 22", []),
        ("docker run -it ubuntu", []),
        ("tar -xvf archive", []),
        ("sudo rsync -avz a b", []),
        ("kubectl get pods -owide", []),
        ("find . -name notes", []),
        ("java -jar app.jar", []),
        ("snapshot --all -draft", []),
        ("go build | tee -append", []),
        ("how do I use git -C", []),
        ("what does docker -e do with -env", []),
        ("can I add -draft", []),
        ("snapshot -draft?", []),
    ],
)
def test_a_word_behind_a_minus_excludes_outside_questions_and_command_lines(text, excluded):
    assert [one.text for one in parse_query(text, NONE).excluded] == excluded


@pytest.mark.parametrize(
    ("text", "column"),
    [("title:oil", "title"), ("Heading:oil", "headings"), ('headings:"oil"', "headings")],
)
def test_a_column_field_requires_its_words_there(text, column):
    [phrase] = parse_query(text, NONE).required

    assert (phrase.column, phrase.terms[0].text) == (column, "oil")


@pytest.mark.parametrize(
    ("text", "filters"),
    [
        ("tag:work x", Filters(tag=("work",))),
        ('tag:"two words" x', Filters(tag=("two words",))),
        ("tag:a tag:b x", Filters(tag=("a", "b"))),
        ("lang:ko x", Filters(lang=("ko",))),
        ("media:markdown source:notes x", Filters(media=("markdown",), source=("notes",))),
        ("path:notes/ x", Filters(path_glob="notes/")),
        ("path:*.md x", Filters(path_glob="*.md")),
        ("path:todo x", Filters(path_glob="**/*todo*")),
    ],
)
def test_other_fields_become_filters(text, filters):
    question = parse_query(text, NONE)

    assert question.filters == filters
    assert question.plain == "x"


def test_a_filter_of_the_request_is_not_widened():
    question = parse_query("tag:b x", Filters(tag=("a",)))

    assert question.filters == Filters(tag=("a",))
    assert question.plain == "tag:b x"


@pytest.mark.parametrize("text", ["tar -x it", "note: tag:work", "title:a", '-"a b"', 'tag:"a b"'])
def test_prose_has_no_operators(text):
    question = parse_query(text, NONE, prose=True)

    assert (question.plain, question.filters) == (text, NONE)
    assert (question.required, question.excluded) == ((), ())


def test_of_a_pasted_page_only_some_phrases_are_required():
    text = " ".join(f'"a{number} b" -word{number}' for number in range(5_000))
    question = parse_query(text, NONE)

    assert (len(question.required), len(question.excluded)) == (32, 32)
    assert "a4999" in question.plain
    assert "-word4999" in question.plain


@pytest.mark.parametrize("join", [" ".join, "".join])
def test_the_terms_of_a_pasted_page_are_bounded(join):
    page = join(chr(0x4E00 + number % 20_000) * 2 for number in range(30_000))

    assert len(parse_query(page, NONE).terms) == 4096


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("How do I restore `etcd`, (quickly)?", ("restore", "etcd", "quickly")),
        ("They wouldn't say we’ll restore", ("say", "restore")),
        ("who is that", ("who", "is", "that")),
        ('the "oil embargo"', ()),
        ("a/b -5 & | c++ .env", ("a/b", "-5", "c++", ".env")),
        ("snapshot Snapshot snapshot", ("snapshot", "Snapshot")),
        ("백업을 어떻게 복원하나요?", ("백업을", "어떻게", "복원하나요")),
        ("什么是快照？怎么恢复。", ("什么是快照", "怎么恢复")),
    ],
)
def test_words_are_listed_as_they_are_written(text, words):
    assert parse_query(text, NONE).words == words


@pytest.mark.parametrize(
    ("text", "conditions", "plain"),
    [
        ("[status:done] ropes", ("status=done",), "ropes"),
        ('["due date":>2024-01-01]', ("due date>2024-01-01",), ""),
        ("[client:Okonjo Ltd] [rating:>=4]", ("client=Okonjo Ltd", "rating>=4"), ""),
        ("[isbn:]", ("isbn",), ""),
        ("list[int:3] [1:2]", (), "list[int:3] [1:2]"),
        ("ropes -[status:done]", ("!status=done",), "ropes"),
        ('NOT property:"due date" ropes', ("!due date",), "ropes"),
    ],
)
def test_properties_are_filters_in_brackets(text, conditions, plain):
    parsed = parse_query(text, NONE)
    assert (parsed.filters.property, parsed.plain) == (conditions, plain)
