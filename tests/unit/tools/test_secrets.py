from tools.secrets import draw_texts, main


def test_the_program_prints_shares_and_what_is_masked_in_a_folder(tmp_path, capsys):
    ((key, text),) = draw_texts("github", 1)
    (tmp_path / "a.md").write_text(f"plain\n{text}\n")
    (tmp_path / "a.png").write_text(text)

    status = main([str(tmp_path), "--count", "1", "--list"])

    shown = capsys.readouterr().out
    assert status == 0
    assert f"{tmp_path}: 1 lines in 1 files" in shown
    assert f"{tmp_path / 'a.md'}: git clone with ghp_" in shown
    assert key not in shown
