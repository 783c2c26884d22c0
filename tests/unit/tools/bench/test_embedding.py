import json

import pytest

from kebab.bench.sandbox import Outcome
from tools.bench import embedding
from tools.bench.embedding import build_mixed_texts, measure_embedding, read_text_rate


def test_without_a_model_it_is_skipped_and_reported(make_context):
    context = make_context()

    measure_embedding(context)

    assert context.runner.commands == []
    assert [(gap.name, gap.failed) for gap in context.results.gaps] == [("embedding", False)]


def test_the_rate_is_compared_with_the_peer_on_the_same_texts(make_context, models):
    context = make_context(models=models)

    measure_embedding(context)

    figures = {one.name: one for one in context.results.figures}
    assert figures["embedding.fastembed"].median == pytest.approx(25.6)
    assert figures["embedding.kebab"].median == pytest.approx(128)
    assert (figures["embedding.kebab"].ratio, figures["embedding.kebab"].within) == (5.0, True)
    assert figures["embedding.share"].ratio == 1.0
    embedders = [one for one in context.runner.commands if "tools.bench.embedding" in one]
    assert len({command[4:] for command in embedders}) == 1


def test_a_rate_is_texts_per_second_without_loading():
    outcome = Outcome(status=0, seconds=99, out=b'{"texts": 10, "seconds": 2.0}')

    assert read_text_rate(outcome) == 5.0


def test_mixed_texts_differ_much_in_length_and_come_in_no_order():
    lengths = [len(text.split()) for text in build_mixed_texts(64, 1)]

    assert max(lengths) > 8 * min(lengths)
    assert lengths not in (sorted(lengths), sorted(lengths, reverse=True))
    assert build_mixed_texts(64, 1) == build_mixed_texts(64, 1)


def test_the_program_reports_how_many_texts_it_embedded(capsys, monkeypatch, tmp_path):
    seen: list[list[str]] = []
    monkeypatch.setattr(embedding, "load_embedder", lambda who, version, models: seen.append)

    embedding.main("kebab", "some-version", str(tmp_path), "1", "5")

    output = json.loads(capsys.readouterr().out)
    assert output["texts"] == 5
    assert output["seconds"] >= 0
    assert [len(texts) for texts in seen] == [2, 5]
