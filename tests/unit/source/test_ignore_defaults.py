import json

import pytest

from kebab.core.files import ScanRules
from kebab.source.ignore import has_secret_content, is_generated
from kebab.source.walk import FolderScanner

SERVICE_ACCOUNT = json.dumps({"type": "service_account", "private_key": "x"}, indent=2)
PRIVATE_KEY = "-----BEGIN OPENSSH " + "PRIVATE KEY-----\nx\n"


@pytest.mark.parametrize(
    ("name", "text", "is_secret"),
    [
        ("robot.json", SERVICE_ACCOUNT, True),
        ("robot.json", SERVICE_ACCOUNT.replace("private_key", "public_key"), False),
        ("robot.json", SERVICE_ACCOUNT + " " * 20_000, False),
        ("robot.md", SERVICE_ACCOUNT, False),
        ("deploy_key", PRIVATE_KEY, True),
        ("deploy_key", "", False),
        ("LICENSE", "as is", False),
    ],
)
def test_a_small_file_without_a_telling_name_is_judged_by_its_content(
    tmp_path, name, text, is_secret
):
    path = tmp_path / name
    path.write_text(text)

    assert has_secret_content(str(path), len(text)) is is_secret


@pytest.mark.parametrize(
    ("files", "folder", "is_output"),
    [
        (["Cargo.toml"], "target", True),
        (["package.json"], "dist", True),
        (["pyproject.toml"], "build", True),
        (["build.gradle.kts"], "build", True),
        (["build/CMakeCache.txt"], "build", True),
        (["vendor/modules.txt"], "vendor", True),
        (["CMakeLists.txt"], "build", False),
        (["Cargo.toml"], "dist", False),
        (["a.md"], "build", False),
        (["a.md"], "notes.egg-info", True),
    ],
)
def test_a_folder_is_output_where_its_build_tool_is_at_work(tmp_path, files, folder, is_output):
    for name in files:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()

    assert is_generated(str(tmp_path / folder), folder=True) is is_output


def write(root, **files):
    for name, text in files.items():
        path = root / name.replace("__", "/").replace("_dot_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


@pytest.mark.parametrize(
    ("patterns", "ignore", "found", "skipped"),
    [
        ((), "", ["a.md"], {"secret": 2, "generated": 1, "hidden": 1}),
        # An exception for all JSON is not meant for secrets, an exception for `dist` is.
        (
            (),
            "!*.json\n!dist/\n!.kebabignore\n",
            [".kebabignore", "a.md", "dist/b.md"],
            {"secret": 2},
        ),
        (
            ("x/credentials.json",),
            "",
            ["a.md", "x/credentials.json"],
            {"secret": 1, "generated": 1, "hidden": 1},
        ),
    ],
)
def test_a_scan_counts_secrets_and_output_unless_they_are_asked_for(
    tmp_path, patterns, ignore, found, skipped
):
    write(tmp_path, a_dot_md="a", x__credentials_dot_json="{}", robot_dot_json=SERVICE_ACCOUNT)
    write(tmp_path, setup_dot_py="", dist__b_dot_md="b", _dot_kebabignore=ignore)

    scan = FolderScanner().scan(str(tmp_path), ScanRules(secret_files=patterns))

    assert [entry.path for entry in scan.entries if entry.path != "setup.py"] == found
    assert scan.skips.by_reason == skipped


@pytest.mark.parametrize("link", ["harmless.json", "named.json"])
def test_a_link_with_a_harmless_name_does_not_open_a_secret(tmp_path, link):
    write(tmp_path, _dot_docker__config_dot_json="{}", _dot_config__gh__hosts_dot_yml="")
    (tmp_path / link).symlink_to(tmp_path / ".docker/config.json")
    (tmp_path / "folder").symlink_to(tmp_path / ".docker")
    (tmp_path / "root").symlink_to(tmp_path / ".config")
    scanner, found = FolderScanner(), FolderScanner().scan(str(tmp_path), ScanRules())
    scanner.add_named_files(found, str(tmp_path / ".docker"), ["config.json"], ScanRules())
    scanner.add_named_files(found, str(tmp_path), [link], ScanRules())

    assert FolderScanner().scan(str(tmp_path / "root"), ScanRules()).entries == []
    assert found.entries == []
    assert found.skips.by_reason["secret"] == 2


def test_folders_are_listed_again_when_other_secrets_are_read():
    digests = {ScanRules(secret_files=names).compute_digest() for names in [(), ("*",), (".env",)]}

    assert len(digests) == 3
