import json
import tomllib
from pathlib import Path

import pytest
import yaml

from kebab.cli.commands.install import (
    CLIENTS,
    Places,
    apply_plan,
    find_state,
    plan_entry,
    plan_skill,
    read_skill,
    render_diffs,
)
from kebab.cli.render.canvas import Canvas
from kebab.errors.catalog import ClientConfigInvalid, IoError

ENTRY = {"command": "/usr/bin/kebab", "args": ["mcp"]}
OLD = {"command": "/old/kebab", "args": ["mcp", "--data-dir", "/x"]}
JSON = {
    "empty": b"",
    "others": b'{\n  "OBJ": {\n    "other": {"command": "x"}\n  },\n  "theme": 1\n}\n',
    "tabs": b'{\n\t"theme": "\xc3\xa9",\n\t"OBJ": {}\n}',
}
TOML = {
    "empty": b"",
    "others": b'model = "x"\n\n[OBJ.other]\ncommand = "y"\n',
    "comments": b"# mine\n[OBJ.other] # one\nargs = [\n  'x', # two\n]\n# end",
}
YAML = {"empty": b"", "others": b"GOOSE_MODEL: x\nOBJ:\n  other:\n    cmd: y\n"}
FORMS = {"codex": TOML, "goose": YAML}
CASES = [
    pytest.param(
        client, data.replace(b"OBJ", client.container.encode()), id=f"{client.name} {name}"
    )
    for client in CLIENTS
    for name, data in FORMS.get(client.name, JSON).items()
    if client in CLIENTS[:2] or name == "others"
]
"""Each form of a file of JSON and of TOML; of the other clients one."""
EACH = pytest.mark.parametrize("client", CLIENTS[:2], ids=lambda client: client.name)
"""The first client with JSON, and the one with TOML."""


@pytest.fixture
def find(tmp_path):
    """Return the file with the entries of a client; nothing exists yet."""
    places = Places({}, tmp_path, "linux")
    return lambda client: places.resolve(client.entries)


def write(path, data):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


def install(client, path, entry=ENTRY):
    return apply_plan(plan_entry(client, path, entry)).change


def read(path):
    text = path.read_text("utf-8")
    if path.suffix == ".toml":
        return tomllib.loads(text)
    return yaml.safe_load(text or "{}") if path.suffix == ".yaml" else json.loads(text or "{}")


@pytest.mark.parametrize(("client", "data"), CASES)
def test_an_entry_is_added_changed_and_removed(client, data, find):
    path = find(client)
    write(path, data)
    before = read(path)

    assert install(client, path, OLD) == "add"
    assert read(path)[client.container]["kebab"] == OLD
    assert install(client, path) == "update"
    assert read(path)[client.container]["kebab"] == ENTRY
    done = path.read_bytes()
    assert install(client, path) == "keep"
    assert path.read_bytes() == done
    assert install(client, path, None) == "remove"
    left = read(path) if path.exists() else {}
    assert {key: value for key, value in left.items() if value} == {
        key: value for key, value in before.items() if value
    }
    assert install(client, path, None) == "none"


@EACH
@pytest.mark.parametrize("data", [b"{]", b"kebab = [", b"\xff\xfe kebab", b'// kebab\n{"a": 1}'])
@pytest.mark.parametrize("entry", [ENTRY, None])
def test_a_file_that_cannot_be_parsed_stays_as_it_is(client, data, entry, find):
    path = find(client)
    write(path, data)
    if entry is None and b"kebab" not in data:
        assert install(client, path, None) == "none"
    else:
        with pytest.raises(ClientConfigInvalid) as refused:
            plan_entry(client, path, entry)
        assert (refused.value.client, refused.value.path) == (client.name, str(path))

    assert path.read_bytes() == data


@EACH
def test_a_link_stays_and_what_it_points_to_is_changed(client, find, tmp_path):
    path, real = find(client), tmp_path / "dotfiles" / "real"
    write(real, b"")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.symlink_to(real)

    assert install(client, path) == "add"
    assert path.is_symlink()
    assert b"/usr/bin/kebab" in real.read_bytes()
    assert install(client, path, None) == "remove"
    assert (path.is_symlink(), real.exists()) == (True, False)


@EACH
def test_a_write_protected_file_is_not_replaced(client, find):
    path = find(client)
    write(path, b"")
    path.chmod(0o444)

    with pytest.raises(IoError) as refused:
        install(client, path)
    assert (refused.value.op, refused.value.cause) == ("write", "the file is write-protected")
    assert path.read_bytes() == b""


def test_the_difference_shows_the_entry_and_little_more(find):
    client = CLIENTS[0]
    path = find(client)
    write(path, b'{\n  "token": "secret",\n  "theme": 1,\n  "mcpServers": {\n    "a": {}\n  }\n}\n')
    shown = list(render_diffs([plan_entry(client, path, ENTRY)], Canvas()))

    assert shown[:3] == [f"--- {path}", f"+++ {path}", "@@ -4,3 +4,9 @@"]
    assert '+    "kebab": {' in shown
    assert not any("secret" in line for line in shown)
    install(client, path)
    assert list(render_diffs([plan_entry(client, path, ENTRY)], Canvas())) == []


@EACH
def test_the_state_tells_what_an_installation_would_change(client, find):
    path = find(client)

    def state():
        return find_state(lambda: plan_entry(client, path, ENTRY))

    assert state() == "absent"
    install(client, path, OLD)
    assert state() == "outdated"
    install(client, path)
    assert state() == "current"
    path.write_bytes(b"{]")
    assert state() == "invalid"
    path.unlink()
    path.mkdir()
    assert state() == "invalid"


def test_the_skill_is_written_once_and_removed_with_its_folder(tmp_path):
    path = tmp_path / "skills/kebab/SKILL.md"

    assert apply_plan(plan_skill(path, uninstall=False)).change == "create"
    assert path.read_bytes() == read_skill()
    assert plan_skill(path, uninstall=False).change == "keep"
    removed = apply_plan(plan_skill(path, uninstall=True))
    assert (removed.change, removed.backup) == ("remove", None)
    assert not path.parent.exists()
    assert plan_skill(path, uninstall=True).change == "none"


@pytest.mark.parametrize("uninstall", [False, True])
def test_an_edited_skill_is_kept_as_a_copy(tmp_path, uninstall):
    path = tmp_path / "kebab/SKILL.md"
    for text in ("mine", "mine again"):
        write(path, text.encode())
        done = apply_plan(plan_skill(path, uninstall=uninstall))
        assert Path(str(done.backup)).read_text() == text

    assert len(list(path.parent.glob("SKILL.md.bak*"))) == 2
    assert path.exists() is not uninstall


@EACH
def test_what_another_program_wrote_meanwhile_is_not_lost(client, find):
    path = find(client)
    write(path, b"\n")
    plan = plan_entry(client, path, ENTRY)
    write(path, b"\n\n")

    with pytest.raises(IoError, match="another program changed the file meanwhile"):
        apply_plan(plan)
    assert path.read_bytes() == b"\n\n"
