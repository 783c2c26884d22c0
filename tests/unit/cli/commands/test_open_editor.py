import pytest

from kebab.cli.channels import OutputChannel, OutputChannels
from kebab.cli.commands.open import build_open_command, run_command
from kebab.errors.catalog import DependencyMissing, IoError

FILE = "/n/my note.md"


@pytest.mark.parametrize(
    ("editor", "command"),
    [
        ("vim", ["vim", "+7", FILE]),
        ("/usr/bin/nvim", ["/usr/bin/nvim", "+7", FILE]),
        ("emacsclient -t", ["emacsclient", "-t", "+7", FILE]),
        ("nano", ["nano", "+7", FILE]),
        ("hx", ["hx", "+7", FILE]),
        ("code --wait", ["code", "--wait", "--goto", f"{FILE}:7"]),
        ("codium", ["codium", "--goto", f"{FILE}:7"]),
        ("cursor", ["cursor", "--goto", f"{FILE}:7"]),
        ("subl -w", ["subl", "-w", f"{FILE}:7"]),
        ("zed", ["zed", f"{FILE}:7"]),
        ("idea", ["idea", "--line", "7", FILE]),
        ("notepad++.exe", ["notepad++.exe", "-n7", FILE]),
        ("'/opt/my editor/vim' -R", ["/opt/my editor/vim", "-R", "+7", FILE]),
        ("unheard-of", ["unheard-of", FILE]),
        ("vim 'broken", ["vim", "'broken", "+7", FILE]),
    ],
)
def test_each_editor_gets_the_line_in_its_own_form(editor, command):
    assert build_open_command(FILE, 7, FILE, {"EDITOR": editor}) == command


@pytest.mark.parametrize(
    ("system", "opener"),
    [
        ("linux", ["xdg-open"]),
    ],
)
def test_without_an_editor_the_system_shows_the_text(tmp_path, monkeypatch, system, opener):
    monkeypatch.setattr("kebab.platform.SYSTEM", system)
    program = tmp_path / opener[0]
    program.touch(mode=0o755)

    assert build_open_command(FILE, 7, FILE, {"PATH": str(tmp_path)}) == [*opener, FILE]


def test_without_a_program_the_text_is_fetched(tmp_path):
    with pytest.raises(DependencyMissing) as raised:
        build_open_command(FILE, 7, FILE, {"PATH": str(tmp_path)})

    assert raised.value.install == f"kebab fetch '{FILE}'"


@pytest.fixture
def channels(tmp_path):
    with (tmp_path / "out").open("wb") as out, (tmp_path / "err").open("wb") as err:
        yield OutputChannels(
            OutputChannel(out.fileno(), "<stdout>"), OutputChannel(err.fileno(), "<stderr>")
        )


@pytest.mark.parametrize(("quiet", "text"), [(False, "opened\n"), (True, "")])
def test_a_command_writes_to_the_terminal_unless_it_is_quiet(tmp_path, channels, quiet, text):
    run_command(["/bin/sh", "-c", "echo opened"], FILE, channels, quiet=quiet)

    assert (tmp_path / "out").read_text() == text


def test_a_program_that_fails_is_reported_with_its_status(channels):
    with pytest.raises(IoError) as caught:
        run_command(["/bin/sh", "-c", "exit 3"], FILE, channels, quiet=False)

    assert (caught.value.path, caught.value.cause) == (FILE, "`/bin/sh` ended with status 3")
