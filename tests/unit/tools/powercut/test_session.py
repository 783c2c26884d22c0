import pytest

from tests.fakes.console import enter_environment, environment
from tools.powercut.session import STEPS, Step, run_lines, write_note


def test_a_note_is_the_same_in_every_run(tmp_path):
    for name in ("a.md", "b.md", "c.md"):
        write_note(tmp_path, name, "seed" if name != "c.md" else "other")
    first, again, other = ((tmp_path / "notes" / f"{name}.md").read_text() for name in "abc")

    assert first == again != other
    assert first.startswith("# Note seed\n\n## Part 0\n")


def test_a_command_that_ends_otherwise_stops_the_session(tmp_path):
    step = Step("broken", lambda _: None, (("search", "nothing"),))

    with (
        enter_environment(environment(tmp_path), tmp_path),
        pytest.raises(RuntimeError, match=r"nothing"),
    ):
        run_lines(tmp_path, step)


def test_steps_have_different_names():
    names = [step.name for step in STEPS]
    assert len(set(names)) == len(names)
