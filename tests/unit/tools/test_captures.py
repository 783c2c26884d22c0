from tools.captures import capture, remove_escapes


def test_the_text_of_a_terminal_has_its_width_and_colours(monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))

    shown = capture(["explain", "locked"], 60)

    assert "\x1b[1mlocked\x1b[0m" in shown
    assert "\x1b" not in remove_escapes(shown)
    assert max(map(len, remove_escapes(shown).splitlines()[:12])) <= 60


def test_what_is_said_on_stderr_is_captured_too(monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))

    assert "code: usage_invalid" in remove_escapes(capture(["search", "--nothing"], 80))


def test_links_are_removed_with_their_address():
    assert remove_escapes("\x1b]8;;file:///a\x1b\\a.md\x1b]8;;\x1b\\ \x1b[1mb\x1b[0m") == "a.md b"
