from kebab.app.classify import View, classify_error
from kebab.cli.render.canvas import Canvas
from kebab.cli.render.errors import (
    render_error,
    render_error_entry,
    render_error_explanations,
    render_error_stats,
)
from kebab.errors.catalog import build_catalog
from kebab.wire.error import (
    AuditMeta,
    ErrorAudit,
    ErrorCatalog,
    ErrorCount,
    ErrorGroup,
    ErrorStats,
    build_error_row,
    build_error_rows,
)

TERMINAL = Canvas(width=80)
MOMENT = "2025-01-31T12:00:59.000Z"


def count(value, number=1, share=0.5):
    return ErrorCount(
        value=value,
        count=number,
        share=share,
        first_at=MOMENT,
        last_at=MOMENT,
        correlation_ids=["3f2a91b0c4d17e55"],
    )


def reply(*groups, **fields):
    defaults = {"since": None, "total": 3, "unreadable": 0, "log": "/state/kebab.log"}
    return ErrorStats(groups=list(groups), **{**defaults, **fields})


def by(name, *counts):
    return ErrorGroup(by=name, counts=list(counts))


def audit(**fields):
    meta = AuditMeta(
        kebab_version="0.1.0",
        python="3.11.9",
        platform="Linux",
        argv=["search", "two words"],
        data_dir=None,
        pid=7,
    )
    defaults = {
        "correlation_id": "3f2a91",
        "occurred_at": MOMENT,
        "operation": "search",
        "status": 2,
        "code": "io_error",
        "kind": "storage",
        "retry": "transient",
        "severity": "error",
        "message": "cannot read /x: gone",
        "chain": ["IoError: cannot read /x: gone", "FileNotFoundError: gone"],
        "traceback": ["Traceback (most recent call last):", "  File x"],
        "meta": meta,
    }
    return ErrorAudit(**{**defaults, **fields})


def test_the_first_count_is_a_table_and_the_others_are_lines():
    drawn = reply(
        by("code", count("model_busy", 2, 0.667), count("locked", 1, 0.333)),
        by("kind", *[count(f"k{one}") for one in range(11)]),
        by("retry", count("transient", 3, 1.0)),
    )

    assert list(render_error_stats(drawn, TERMINAL)) == [
        "3 errors",
        "",
        "code        count  share  last (UTC)        last id",
        "model_busy      2    67%  2025-01-31 12:00  3f2a91b0c4d1",
        "locked          1    33%  2025-01-31 12:00  3f2a91b0c4d1",
        "",
        "kind   k0 1, k1 1, k2 1, k3 1, k4 1, k5 1, k6 1, k7 1, k8 1, k9 1, k10 1",
        "retry  transient 3",
        "",
        "show one: kebab errors --id ID",
    ]


def test_what_the_log_holds_cannot_control_the_terminal():
    hostile = "\x1b[2J\u202e"
    fields = {"message": hostile, "chain": [hostile] * 2, "traceback": [hostile], "code": hostile}
    drawn = reply(by("code", count(hostile)), unreadable=1, log=hostile)

    for canvas in (TERMINAL, Canvas()):
        told = "".join(
            [*render_error_entry(audit(**fields), canvas), *render_error_stats(drawn, canvas)]
        )
        assert "\x1b" not in told
        assert "\u202e" not in told


def rows(code=None) -> ErrorCatalog:
    return ErrorCatalog(
        errors=[build_error_row(build_catalog()[code])] if code else build_error_rows()
    )


def test_an_explanation_is_readable_prose_with_the_facts():
    for code, row in build_catalog().items():
        lines = list(render_error_explanations(rows(code), Canvas(width=60)))

        assert lines[0] == code
        assert all(len(line) <= 60 for line in lines), code
        assert f"exit_code    {row.exit.value}" in lines


def drawn(fault, log=None, **view):
    seen = classify_error(fault, operation="search", view=View(**view))
    return list(render_error(seen.reply, Canvas(), log))
