import json

from tools.bench import embedding


def test_the_program_reports_how_many_texts_it_embedded(capsys, monkeypatch, tmp_path):
    seen: list[list[str]] = []
    monkeypatch.setattr(embedding, "load_embedder", lambda who, version, models: seen.append)

    embedding.main("kebab", "some-version", str(tmp_path), "1", "5")

    output = json.loads(capsys.readouterr().out)
    assert output["texts"] == 5
    assert output["seconds"] >= 0
    assert [len(texts) for texts in seen] == [2, 5]
