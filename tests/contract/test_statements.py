"""What pages and help say is so: each row is a statement, a call, and what its output holds."""

import shlex

import pytest

DOC = "notes/work/backups.md"
PHRASE = '"outside the house"'
STATEMENTS = [
    ("query: words in any order", "search restored backup", "backups.md:"),
    ("query: a phrase stands together", f"search '{PHRASE}'", "backups.md:"),
    ("query: a phrase that stands nowhere", "search '\"house the outside\"'", "no results"),
    ("query: a word is excluded behind --", "search --json -- backup -restic", '"excluded":["res'),
    ("query: NOT excludes a word", "search --json 'backup NOT restic'", '"excluded":["res'),
    ("query: title:", "search title:garden", "garden.md:"),
    ("query: heading:", "search heading:slugs", "garden.md:"),
    ("query: body:", "search 'body:\"epsom salt\"'", "garden.md:"),
    ("query: a prefix", "search 'magnes*'", "garden.md:"),
    ("query: accents do not count", "search mágnesium", "garden.md:"),
    ("query: a tag in the query", "search starter tag:bread", "sourdough.md:"),
    ("query: a hash is the same", "search '#bread'", "sourdough.md:"),
    ("query: a path in the query", "search certificate path:incident", "incident-2024-03.md:"),
    ("query: a filter alone lists", "search lang:ko -l", ".ko.md"),
    ("query: a type in the query", "search office type:txt -l", "meetings.txt"),
    ("query: a source in the query", "search office source:notes -l", "meetings.txt"),
    ("query: a property in the query", "search '[lang:ko]' -l", "kimchi.ko.md"),
    ("query: a date of a document", "list --since 2024-03 --until 2024-04", "incident-2024-03.md"),
    ("query: a filter gets a near value", "search x --tag bred", "nearest: bread"),
    ("searching: -l prints paths only", "search backup -l", "backups.md"),
    ("searching: --trace shows stages", "search restic --trace", " ms "),
    ("searching: absent words are named", "search zeppelin", "zeppelin"),
    ("searching: a title puts it first", "search 'garden diary'", "garden.md:"),
    ("searching: --sort orders by date", "search restic --sort newest", "backups.md:"),
    ("searching: grep reads the files", "grep 'ERR_[A-Z_]+'", "incident-2024-03.md:"),
    ("agents: schema prints a schema", "schema search_response.v1", '"$defs"'),
    ("agents: the suffix can be left out", "schema search_response", '"$defs"'),
    ("agents: all flags on one screen", "schema --commands", "exit status: 0 done"),
    ("agents: --json is one object", "search restic --json", '"schema_version":"search_response'),
    ("answers: quotes without a server", "ask --extractive 'which salt cured it'", "Epsom salt"),
    ("answers: sessions are listed", "session list --json", '"sessions":[]'),
    ("fetch: lines of a file", f"fetch {DOC}:1", "# Backups"),
    ("fetch: a heading", "fetch 'backups.md#The rule'", "Three copies"),
    ("fetch: the section around", f"fetch {DOC}:6 --section", "Three copies"),
    ("outline: the tree without a name", "outline", "recipes/"),
    ("inspect: a file", f"inspect {DOC}", "3 passages"),
    ("reliability: doctor checks", "doctor", "integrity"),
    ("reliability: a plan is shown", "doctor --fix --dry-run", "nothing to repair"),
    (
        "reliability: an archive is checked",
        "export k.zip && import k.zip --dry-run",
        "the file is intact",
    ),
    ("uninstall: clients are listed", "install --list", "claude-code"),
    ("uninstall: no server runs", "serve --stop", "no server runs"),
    ("reviewing: rules are explained", "help review-rules", "broken-link"),
    ("reviewing: one line a finding", "review notes --no-llm --rules broken-link", "no findings"),
    ("query: repeated filters are alternatives", "list --tag tls --tag bread", "sourdough.md"),
    ("query: a folder in the query", "search 'path:work/**' -l", "backups.md"),
    ("searching: one wrong letter in a title", "search 'gardn diary'", "garden.md:"),
    ("many machines: a folder", "publish 'x %é' && --data-dir 'x %é' search restic", "backups.md:"),
    ("settings: a commented file is written", "init --config new.toml", "written"),
]


@pytest.mark.parametrize("row", STATEMENTS, ids=lambda row: row[0])
def test_a_statement_of_a_page_or_of_help_is_so(row, home, kebab):
    _, call, wanted = row

    ran = [kebab(*shlex.split(one)) for one in call.split(" && ")][-1]

    assert ran.status != 2, ran.err
    assert wanted in ran.out + ran.err
