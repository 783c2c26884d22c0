import pytest

from kebab.llm.openai import ServerSentEvent, parse_events


def read(text):
    """Return the events of a text, cut into lines as the stream cuts it."""
    lines = text.encode().split(b"\n")
    return list(parse_events(line.removesuffix(b"\r") for line in lines))


def data(*texts):
    return [ServerSentEvent("", text.encode()) for text in texts]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("data: one\n\ndata: two\n\n", data("one", "two")),
        ("data:one\n\ndata:  two\n\n", data("one", " two")),
        ("data: one\r\n\r\ndata: two\r\n\r\n", data("one", "two")),
        ("data: one\r\rdata: two\r\r", data("one", "two")),
        ("data: one\ndata: two\n\n", data("one\ntwo")),
        ("data: one\n\n\n\n\ndata: two\n\n", data("one", "two")),
        (": keep-alive\n\n:\n\ndata: one\n: amid\n\n", data("one")),
        ("data: one", data("one")),
        ("data: one\n", data("one")),
        ("id: 7\nretry: 100\nwhatever\ndata: one\n\n", data("one")),
        ("data\n\ndata:\n\ndata: \n\n", []),
        ("event: ping\n\ndata: one\n\n", data("one")),
        ("\ufeffdata: one\n\n", data("one")),
        ("data: a: b\n\n", data("a: b")),
        ("data: 빵 🍞\n\n", data("빵 🍞")),
        ("", []),
    ],
)
def test_events_are_parsed_by_the_standard(text, expected):
    assert read(text) == expected


def test_a_name_belongs_to_one_event():
    named = read("event: error\ndata: one\n\ndata: two\n\n")

    assert named == [ServerSentEvent("error", b"one"), ServerSentEvent("", b"two")]


def test_a_field_named_error_is_an_event():
    assert read('error: {"code":500}\n\ndata: [DONE]\n\n') == [
        ServerSentEvent("error", b'{"code":500}'),
        ServerSentEvent("", b"[DONE]"),
    ]


def test_bare_json_is_an_event():
    assert read('data: one\n\n{"error":"late"}') == data("one", '{"error":"late"}')


def test_an_event_is_yielded_as_soon_as_it_is_complete():
    def lines():
        yield from (b"data: one", b"")
        raise AssertionError

    assert next(parse_events(lines())) == ServerSentEvent("", b"one")
