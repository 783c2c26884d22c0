import pytest

from kebab.rag.checking.code_index import (
    classify_language,
    find_pairs,
    find_templates,
    is_placeholder,
    parse_code,
)


def list_parts(text, kind=""):
    return [part for line in parse_code(text, kind).lines for part in line.parts]


@pytest.mark.parametrize(
    ("text", "kind", "parts"),
    [
        ("kubectl scale --replicas=3 web", "shell", ["kubectl", "scale", "--replicas", "3", "web"]),
        ("$ ls -l | wc", "shell", ["ls", "-l", "wc"]),
        (">>> import os", "program", ["os"]),
        ("ada@host:~/x$ ls -a", "shell", ["ls", "-a"]),
        ("PS C:\\\\> Get-Item x.txt", "shell", ["Get-Item", "x.txt"]),
        ("mysql -u root", "shell", ["mysql", "-u", "root"]),
        ("get <name> ${X} {{ a.b }} $HOME POD_NAME your-pod", "", ["get"]),
        ("POD_NAME=web", "shell", ["POD_NAME", "web"]),
        ("  port: 8080  # the port", "data", ["port", "8080"]),
        ("server.port = 8080 ; x", "data", ["server.port", "8080"]),
        ('{"a": ["b", 1]}', "data", ["1"]),
        ("count = len(items)\nprint(count)", "program", ["len", "items"]),
        ("SELECT name -- all\nFROM users", "sql", ["SELECT", "name", "users"]),
        ('<a href="x.css">hi</a>', "", ["href", "x.css", "hi"]),
        ("#!/bin/bash\nls", "shell", ["ls"]),
        ("sudo cd /etc/app/", "shell", ["/etc/app"]),
        ("", "", []),
    ],
)
def test_the_parts_of_code_are_what_must_stand_in_the_passage(text, kind, parts):
    assert list_parts(text, kind) == parts


@pytest.mark.parametrize(
    ("text", "kind", "comments"),
    [
        ("ls # all files", "shell", ["all files"]),
        ("# one\nls\n  # two ", "", ["one", "two"]),
        ("f() // call", "program", ["call"]),
        ("ls //server/share", "shell", []),
        ("a: b#c", "data", []),
        ("/* x */ f()", "program", ["x"]),
        ("<!-- x --><a/>", "markup", ["x"]),
        ("SELECT 1 -- x", "sql", ["x"]),
        ("ls --all", "shell", []),
        ("#!/bin/sh", "shell", []),
    ],
)
def test_comments_are_kept_apart_with_their_spans(text, kind, comments):
    found = parse_code(text, kind).comments

    assert [one.text for one in found] == comments
    assert all(one.text in text[slice(*one.span)] for one in found)


def test_the_words_of_each_command_and_the_values_of_keys_are_known():
    (line,) = parse_code("sudo kubectl get pods --limit 5 | sort reverse", "shell").lines

    assert line.heads == (("kubectl", "get"), ("sort", "reverse"))
    assert line.pairs == (("limit", "5"),)


@pytest.mark.parametrize(
    ("line", "pairs"),
    [
        ("replicas: 3", [("replicas", "3")]),
        ("- name: web", [("name", "web")]),
        ("run --port=80 --host=a", [("port", "80"), ("host", "a")]),
        ("see https://a.example/b", []),
        ('{"a": 1, "b": true}', [("a", "1"), ("b", "true")]),
    ],
)
def test_pairs_are_keys_with_values(line, pairs):
    assert list(find_pairs(line)) == pairs


def test_placeholders_are_what_the_reader_fills_in():
    assert all(map(is_placeholder, ("NAME", "POD_NAME", "my-app", "your_app", "foo", "--", "xxx")))
    assert not any(map(is_placeholder, ("mysql", "web-0", "GET", "yourself", "name")))


def test_templates_are_the_commands_with_placeholders():
    line = "Run `get <name> -n NAME_SPACE`, then `ls`."

    assert list(find_templates(line)) == [(frozenset({"get"}), 2)]


def test_languages_are_known_by_the_names_of_fences():
    assert classify_language("Bash {linenos}") == "shell"
    assert classify_language("yaml") == "data"
    assert classify_language("") == ""
    assert classify_language("klingon") == ""
