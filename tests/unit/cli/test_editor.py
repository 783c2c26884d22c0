import pytest

from kebab.cli.channels import OutputChannel, OutputChannels
from kebab.cli.editor import build_command, run_command, split_words
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
    assert build_command(FILE, 7, {"EDITOR": editor}) == command


def test_visual_comes_before_editor():
    assert build_command(FILE, 7, {"VISUAL": "vim", "EDITOR": "nano"})[0] == "vim"
    assert build_command(FILE, 7, {"VISUAL": " ", "EDITOR": "nano"})[0] == "nano"


def test_a_path_with_blanks_that_exists_is_one_word(tmp_path):
    (tmp_path / "my vim").touch()

    assert split_words(str(tmp_path / "my vim")) == [str(tmp_path / "my vim")]


@pytest.mark.parametrize(
    ("system", "opener"),
    [
        ("linux", ["xdg-open"]),
        ("darwin", ["open", "-t"]),
        ("win32", ["notepad"]),
    ],
)
def test_without_an_editor_the_system_shows_the_text(tmp_path, monkeypatch, system, opener):
    monkeypatch.setattr("kebab.platform.SYSTEM", system)
    program = tmp_path / opener[0]
    program.touch(mode=0o755)

    assert build_command(FILE, 7, {"PATH": str(tmp_path)}) == [*opener, FILE]


def test_without_any_program_the_remedy_is_named(tmp_path):
    with pytest.raises(DependencyMissing) as caught:
        build_command(FILE, 7, {"PATH": str(tmp_path)})

    assert caught.value.install == "export EDITOR=vi"
    assert str(caught.value) == "no program to use for this: opening a file"


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


def test_a_program_that_does_not_exist_is_missing(channels):
    with pytest.raises(DependencyMissing, match="no-such-editor"):
        run_command(["no-such-editor", FILE], FILE, channels, quiet=False)


def test_a_program_that_fails_is_reported_with_its_status(channels):
    with pytest.raises(IoError) as caught:
        run_command(["/bin/sh", "-c", "exit 3"], FILE, channels, quiet=False)

    assert (caught.value.path, caught.value.cause) == (FILE, "`/bin/sh` ended with status 3")


def test_a_program_that_cannot_be_started_is_reported(channels, tmp_path):
    with pytest.raises(IoError, match="cannot be started"):
        run_command([str(tmp_path)], FILE, channels, quiet=False)
