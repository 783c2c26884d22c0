from kebab.cli.render.canvas import Canvas
from kebab.cli.render.ingest import render_path_explanations
from kebab.wire.library import PathExplanations, SkipRule
from tests.fakes import replies


def drawn(*paths, canvas=None):
    reply = PathExplanations(paths=list(paths), excluded=0)
    return list(render_path_explanations(reply, canvas or Canvas()))


def explain(rule):
    found = replies.path_explanation(
        included=False, message="an ignore file names it", rule=rule, doc_id=None, hint="do it"
    )
    lines = drawn(found)

    assert lines[0] == "ops/paper.pdf  out"
    assert lines[-1] == "hint: do it"
    return lines[2]


def test_each_rule_is_named_with_its_origin():
    ignored = SkipRule(path="a.pdf", file="/n/.gitignore", line=3, pattern="*.pdf")
    setting = SkipRule(path="a.pdf", setting="ingest.exclude", pattern="*.pdf")

    assert explain(ignored) == "  rule    /n/.gitignore:3  *.pdf"
    assert explain(setting) == "  rule    ingest.exclude  *.pdf"
    assert explain(SkipRule(path="x/node_modules")) == "  rule    built in  node_modules"
