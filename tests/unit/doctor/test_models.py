import math
from dataclasses import replace
from pathlib import Path

import pytest

from kebab.core.model_profile import ProbePair
from kebab.doctor import models
from kebab.doctor.models import EmbeddingVersions, ModelInputs, ProbeResult, Weights
from kebab.errors.catalog import ModelNotPulled, ModelProtocol, ModelUnreachable, TimedOut

WEIGHTS = Weights(model="minilm", folder=Path("/models/minilm"))
URL = "http://127.0.0.1:11434"
SOUND = ModelInputs(
    read_weights=lambda: WEIGHTS,
    measure_probe=lambda: ProbeResult(cosine=0.75, probe=ProbePair(cosine=0.7553, tolerance=0.02)),
    read_versions=lambda: EmbeddingVersions(configured=None, stored="v1"),
    check_server=lambda: "Ollama 0.32.15 has gemma3:4b",
    start_command="ollama serve",
)


def test_sound_models_are_well_all_through():
    checks = (
        models.check_embedding_files,
        models.check_embedding_probe,
        models.check_embedding_version,
        models.check_language_model,
    )

    assert {check(SOUND).status for check in checks} == {"ok"}


@pytest.mark.parametrize(
    ("weights", "status", "fix"),
    [
        (None, "warn", "kebab model pull"),
        (replace(WEIGHTS, folder=None), "warn", "kebab model pull minilm"),
        (replace(WEIGHTS, faults=("changed: a", "b")), "fail", "kebab model pull minilm"),
    ],
)
def test_missing_weights_are_a_worry_and_damaged_ones_a_failure(weights, status, fix):
    finding = models.check_embedding_files(replace(SOUND, read_weights=lambda: weights))

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
        models.check_embedding_files(replace(SOUND, read_weights=lambda: weights)).summary == told
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
    known = ProbeResult(cosine=cosine, probe=ProbePair(cosine=0.7553, tolerance=0.02))

    assert (
        models.check_embedding_probe(replace(SOUND, measure_probe=lambda: known)).status == status
    )


def test_a_model_known_for_nothing_is_not_probed():
    assert models.check_embedding_probe(replace(SOUND, measure_probe=lambda: None)).status == "skip"


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

    finding = models.check_embedding_version(replace(SOUND, read_versions=lambda: versions))

    assert finding.status == status
    assert (finding.fix == "kebab model use auto") == (status == "fail")


@pytest.mark.parametrize(
    ("signal", "fix"),
    [
        (ModelUnreachable(endpoint=URL, operation="doctor", cause="refused"), "ollama serve"),
        (ModelProtocol(endpoint=URL, operation="doctor", cause="no Ollama"), "ollama serve"),
        (ModelNotPulled(model="tiny", endpoint=URL, operation="doctor"), "ollama pull tiny"),
        (TimedOut(operation="doctor", elapsed_ms=2001, deadline_ms=2000), "ollama serve"),
    ],
)
def test_a_language_model_that_cannot_answer_is_only_a_worry(signal, fix):
    def server():
        raise signal

    finding = models.check_language_model(replace(SOUND, check_server=server))

    assert (finding.status, finding.summary, finding.fix) == ("warn", signal.format_message(), fix)


def test_where_no_server_has_to_answer_there_is_nothing_to_look_at():
    finding = models.check_language_model(replace(SOUND, check_server=lambda: None))

    assert finding.status == "skip"
