from kebab.review.rules.registry import select_rules
from tools.review_rules import main, render_outcome, review_folder


def test_findings_are_counted_by_rule_and_shown_in_their_line(tmp_path):
    (tmp_path / "a.md").write_text("# A\n\nOpen the the settings.\n")
    (tmp_path / "b.md").write_text("# B\n\nNothing is wrong.\n")
    (tmp_path / "c.py").write_text("the the\n")
    (tmp_path / ".hidden").mkdir()
    (tmp_path / ".hidden" / "d.md").write_text("the the\n")

    outcome = review_folder(tmp_path, select_rules(["repeated-word"], ()), keep=True)

    assert (outcome.files, outcome.refused, dict(outcome.findings)) == (2, 0, {"repeated-word": 1})
    ((place, line),) = outcome.sample
    assert place == "a.md:3:9 repeated-word: the word is repeated: the"
    assert line == "Open the\u27e6 the\u27e7 settings."
    assert "2 files, 0.0 MB, 0 refused" in render_outcome(outcome)


def test_a_file_that_cannot_be_read_is_counted(tmp_path):
    (tmp_path / "a.md").write_bytes(b"\x00\x01\x02\xff" * 100)

    assert review_folder(tmp_path, ()).refused == 1


def test_the_same_seed_shows_the_same_sample(tmp_path, capsys):
    (tmp_path / "a.md").write_text("# A\n\n" + "Open the the settings.\n\n" * 9)
    shown = []
    for _ in range(2):
        assert main([str(tmp_path), "--sample", "3", "--seed", "7"]) == 0
        shown.append(capsys.readouterr().out.split("files")[0])

    assert shown[0] == shown[1]
    assert shown[0].count("repeated-word") == 3
