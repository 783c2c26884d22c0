import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from kebab.core.chunks import ProbePair
from kebab.doctor import checks
from kebab.doctor.checks import EmbeddingVersions, ModelInputs, Weights
from kebab.errors.catalog import (
    ModelNotPulled,
    ModelProtocol,
    ModelRejected,
    ModelUnreachable,
    TimedOut,
)

WEIGHTS = Weights(model="minilm", folder=Path("/models/minilm"))
URL = "http://127.0.0.1:11434"
SOUND = ModelInputs(
    read_weights=lambda: WEIGHTS,
    measure_probe=lambda: (0.75, ProbePair(cosine=0.7553, tolerance=0.02)),
    read_versions=lambda: EmbeddingVersions(configured=None, stored="v1"),
    check_server=lambda: "Ollama 0.32.15 has gemma3:4b",
    start_command="ollama serve",
)


def test_sound_models_are_well_all_through():
    every = (
        checks.check_embedding_files,
        checks.check_embedding_probe,
        checks.check_embedding_version,
        checks.check_language_model,
    )

    assert {check(SOUND).status for check in every} == {"ok"}


@pytest.mark.parametrize(
    ("weights", "status", "fix"),
    [
        (None, "warn", "kebab model pull"),
        (replace(WEIGHTS, folder=None), "warn", "kebab model pull minilm"),
        (replace(WEIGHTS, faults=("changed: a", "b")), "fail", "kebab model pull minilm"),
    ],
)
def test_missing_weights_are_a_worry_and_damaged_ones_a_failure(weights, status, fix):
    finding = checks.check_embedding_files(replace(SOUND, read_weights=lambda: weights))

    assert (finding.status, finding.fix) == (status, fix)


@pytest.mark.parametrize(
    ("rates", "told"),
    [
        ({}, "minilm, int8: /models/minilm"),
        (
            {"int8": 421.3, "fp32": 160.2},
            "minilm, int8 (texts/s at installation: int8 421, fp32 160): /models/minilm",
        ),
    ],
)
def test_the_precision_is_reported_with_the_measured_speeds(rates, told):
    weights = replace(WEIGHTS, precision="int8", texts_per_second=rates)

    assert (
        checks.check_embedding_files(replace(SOUND, read_weights=lambda: weights)).summary == told
    )


@pytest.mark.parametrize(
    ("cosine", "status"),
    [
        (0.7553, "ok"),
        (0.74, "ok"),
        (0.77, "ok"),
        (0.73, "fail"),
        (0.78, "fail"),
        (math.nan, "fail"),
    ],
)
def test_known_sentences_must_agree_as_they_are_known_to(cosine, status):
    known = (cosine, ProbePair(cosine=0.7553, tolerance=0.02))

    assert (
        checks.check_embedding_probe(replace(SOUND, measure_probe=lambda: known)).status == status
    )


def test_a_model_known_for_nothing_is_not_probed():
    assert checks.check_embedding_probe(replace(SOUND, measure_probe=lambda: None)).status == "skip"


@pytest.mark.parametrize(
    ("configured", "stored", "status"),
    [
        (None, None, "skip"),
        ("v1", None, "skip"),
        (None, "v1", "ok"),
        ("v1", "v1", "ok"),
        ("v2", "v1", "fail"),
    ],
)
def test_the_configured_model_must_be_the_one_of_the_index(configured, stored, status):
    versions = EmbeddingVersions(configured=configured, stored=stored)

    finding = checks.check_embedding_version(replace(SOUND, read_versions=lambda: versions))

    assert finding.status == status
    assert (finding.fix == "kebab model use auto") == (status == "fail")


def check_server(signal):
    def refuse():
        raise signal

    return checks.check_language_model(replace(SOUND, check_server=refuse))


@pytest.mark.parametrize(
    ("signal", "fix"),
    [
        (
            ModelUnreachable(
                endpoint="http://127.0.0.1:1", operation="doctor", cause="x", provider="ollama"
            ),
            "ollama serve",
        ),
        (
            ModelUnreachable(endpoint=URL, operation="doctor", cause="x", setting="OLLAMA_HOST"),
            "start the server, or set another address: `export OLLAMA_HOST=URL`",
        ),
        (
            ModelProtocol(endpoint=URL, operation="doctor", cause="it crashed"),
            "restart the model server, then try again: `kebab doctor`",
        ),
        (TimedOut(operation="doctor", elapsed_ms=2001, deadline_ms=2000), "ollama serve"),
    ],
)
def test_a_server_that_is_away_is_only_a_worry(signal, fix):
    finding = check_server(signal)

    assert (finding.status, finding.summary, finding.fix) == ("warn", signal.format_message(), fix)


REFUSED: dict[str, Any] = {"model": "tiny", "endpoint": URL, "operation": "doctor"}


@pytest.mark.parametrize(
    ("signal", "part", "fix"),
    [
        (ModelNotPulled(**REFUSED), "tiny", "ollama pull tiny"),
        (ModelNotPulled(**REFUSED, models=["tiny2:1b", "b"]), "tiny2:1b, b", "ollama pull tiny"),
        (
            ModelRejected(**REFUSED, cause="it lists tiny2", reason="unknown_model", models=["t2"]),
            "it lists tiny2",
            "use a model of the server: `export KEBAB_MODELS_LLM_MODEL=t2`",
        ),
        (
            ModelRejected(**REFUSED, cause="it can only do: embedding", reason="task"),
            "it can only do: embedding",
            "export KEBAB_MODELS_LLM_MODEL=NAME",
        ),
        (
            ModelRejected(**REFUSED, cause="no key", reason="key_missing", setting="MY_KEY"),
            "`MY_KEY` is not set",
            "export MY_KEY=KEY",
        ),
    ],
)
def test_a_model_or_a_key_that_is_refused_fails(signal, part, fix):
    finding = check_server(signal)

    assert (finding.status, finding.fix) == ("fail", fix)
    assert part in finding.summary


def test_where_no_server_has_to_answer_there_is_nothing_to_look_at():
    finding = checks.check_language_model(replace(SOUND, check_server=lambda: None))

    assert finding.status == "skip"
