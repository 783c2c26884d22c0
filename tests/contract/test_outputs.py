"""Lines that print under `--json` are held to their published schemas.

The golden results hold many more lines, with `--json` behind the words; here it is before them.
"""

import shlex
from pathlib import Path

import pytest

from tests.contract.conftest import check_channel
from tests.golden.cases import LINES

EVALS = Path(__file__).parents[1] / "cases" / "evals"
OUTCOMES = r"""
0 init_report.v1         init
0 init_report.v1         init --force --workspace notes
0 ingest_report.v1       ingest notes
0 ingest_report.v1       ingest --stdin --title T
2 io_error               watch nowhere
2 usage_invalid          watch --debounce 1
0 search_response.v1     search restore
0 search_response.v1     search restore -n 1 --trace --mode lexical
0 search_response.v1     search restore --detail passages
0 search_response.v1     search restore --detail ids --format compact
0 search_response.v1     search restore --max-tokens 1
0 search_response.v1     search -q restore -q garden
2 invalid_input          search -q restore -q ''
0 search_response.v1     search restore -l
0 search_response.v1     search restore --in notes
2 invalid_cursor         search x --cursor forged
2 usage_invalid          search x --detail much
2 usage_invalid          search x -l --format compact
0 grep_response.v1       grep restore
0 grep_response.v1       grep -il RESTORE work -C 1
1 grep_response.v1       grep qqqqqqqq
2 invalid_input          grep 'a('
2 invalid_input          grep x --since whenever
2 usage_invalid          grep x -l -c
0 answer.v1              ask 'how do I restore a backup' --extractive
0 answer.v1              ask 'how do I restore a backup' --extractive --in notes
2 invalid_input          ask x --extractive --since whenever
2 usage_invalid          chat
0 doc_list.v1            list
0 doc_list.v1            list -n 2 --offset 1
0 doc_list.v1            list --all
2 usage_invalid          list --all -n 1
0 doc_inspection.v1      inspect doc {doc}
0 chunk_inspection.v1    inspect chunk {chunk}
0 open_report.v1         open {doc}:2 --print
1 not_found.v1           open nowhere
1 not_found.v1           open 3
2 dependency_missing     open {doc}
2 usage_invalid          open
1 serve_status.v1        serve --status
1 serve_status.v1        serve --stop
2 usage_invalid          serve --status --stop
2 usage_invalid          serve --port 99999
0 outline.v1             outline
0 outline.v1             outline {doc} --depth 1
0 outline.v1             outline work -n 1
2 usage_invalid          outline --depth 0
0 fetch_list.v1          fetch '{doc}#L2-L4' {chunk} --section
1 fetch_list.v1          fetch {doc}:2 nowhere --max-tokens 5
1 fetch_list.v1          fetch -
2 usage_invalid          fetch {doc} --max-tokens 0
0 related_docs.v1        related {doc}
2 invalid_input          related {doc} --since whenever
2 usage_invalid          related {doc} -n many
1 duplicates.v1          dupes
1 duplicates.v1          dupes --exact -n 1
2 usage_invalid          dupes --threshold many
2 usage_invalid          dupes --exact --threshold 0.9
1 agent_items.v2         review notes/{doc} --no-llm
0 agent_items.v2         review notes/{doc} --no-llm -n 1 --fail-on never
2 invalid_input          review notes/{doc} --rules nonsense
2 usage_invalid          review notes/{doc} --format sarif
2 invalid_input          review notes/{doc} --no-llm --changed no-such-revision
2 usage_invalid          review notes/{doc} --unsafe
0 review_applied.v1      review notes/{doc} --no-llm --apply --dry-run
1 not_found.v1           review --run-id nowhere --apply --yes
2 usage_invalid          review
1 not_found.v1           translate nowhere --to ko
1 not_found.v1           translate --run-id nowhere
2 usage_invalid          translate
2 usage_invalid          translate notes/{doc} --to ko --tier best
0 remove_report.v1       rm {doc}
0 source_list.v1         source list
0 source_removed.v1      source rm notes --yes
0 publish_report.v1      publish base
2 invalid_input          publish ftp://nowhere/base
2 io_error               source add nowhere
1 not_found.v1           source rm nowhere
2 usage_invalid          source rm
0 session_list.v1        session list
0 session_transcript.v1  session show talk
0 session_removed.v1     session rm talk
1 not_found.v1           session rm talk nowhere
0 export_report.v1       export base.zip
2 io_error               import base.zip --dry-run
0 reset_report.v1        reset --yes
0 doctor.v1              doctor
0 repair_report.v1       doctor --fix --yes
2 usage_invalid          doctor --yes
0 doctor.v1              doctor --files
0 schema.v1              schema
0 command_list.v1        schema --commands
0 schema_document.v1     schema search_response
1 not_found.v1           schema search_answer.v1
2 usage_invalid          schema error.v1 --errors
0 install_report.v1      install claude-code --uninstall
2 confirmation_required  install claude-code
0 install_overview.v1    install
0 install_snippet.v1     install zed --print
0 install_report.v1      install codex --dry-run
2 usage_invalid          install vim
0 completion_script.v1   completion zsh
2 usage_invalid          completion tcsh
2 usage_invalid          mcp --allow-write --read-only
0 error_stats.v1         errors
0 error_stats.v1         errors --since 24h --by kind
0 error_catalog.v1       explain locked
0 help_topics.v1         help
0 help_page.v1           help settings
2 usage_invalid          help nothing
0 model_list.v1          model list
2 invalid_input          model pull nonsense
2 invalid_input          model use nonsense
0 eval_report.v1         eval evals/queries.jsonl
0 eval_report.v1         eval evals/queries.jsonl --rerank
2 embedding_unavailable  eval evals/queries.jsonl --mode vector
2 usage_invalid          eval evals/queries.jsonl --mode many
"""
"""The exit status of each line, and the schema or the error code."""

STATED = [line.split(maxsplit=2) for line in OUTCOMES.strip().splitlines()]


def find_command(line):
    """Return the command that a line begins with."""
    return max((name for name in LINES if f"{line} ".startswith(f"{name} ")), key=len)


def test_every_command_is_held_to_it():
    assert {find_command(line) for _, _, line in STATED} == set(LINES)


@pytest.mark.usefixtures("talk")
@pytest.mark.parametrize(("status", "outcome", "line"), STATED)
def test_a_line_has_its_outcome_in_its_schema(status, outcome, line, chunk, kebab):
    places = {"{chunk}": chunk, "{doc}": "work/backups.md", "evals/": f"{EVALS}/"}
    said = line
    for name, place in places.items():
        said = said.replace(name, place)

    ran = kebab("--json", *shlex.split(said), stdin=b"Some text.\n")

    command = find_command(line)
    results = check_channel(ran.out, status=ran.status, command=command)
    asides = check_channel(ran.err, status=ran.status, command=command)
    faults = [one for one in asides if one["schema_version"] == "error.v1"]
    outcomes = [one["schema_version"] for one in results] + [one["code"] for one in faults]
    assert (ran.status, *outcomes) == (int(status), outcome)
