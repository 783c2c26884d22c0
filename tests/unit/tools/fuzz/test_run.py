from tools.fuzz.run import Findings, format_findings


def test_findings_are_one_line():
    findings = Findings(files=2, seconds=1.0, slowest=(0.5, "a.pdf"))
    findings.kinds["new"] = 2
    assert format_findings(findings).startswith("2 files in 1 s; new 2; errors: none;")
