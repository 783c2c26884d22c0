from xml.etree.ElementTree import fromstring

import pytest

from kebab.parse.formulas import END, NOTE, SUBSCRIPT, SUPERSCRIPT, read_equation, write_scripts

CASES = "<dPr><begChr val='{'/><endChr val=''/></dPr>"


def up(text):
    return f"{SUPERSCRIPT}{text}{END}"


def down(text):
    return f"{SUBSCRIPT}{text}{END}"


@pytest.mark.parametrize(
    ("marked", "text"),
    [
        ("plain", "plain"),
        (f"10{up('-')}{up('6')}", "10⁻⁶"),
        (f"a{down('i')}{up('2')}", "aᵢ²"),
        (f"x{up('q')} y{down('b')} z{up('n + 1')} w{up('[1]')}", "x^(q) y_(b) z^(n + 1) w^[1]"),
        (f"x{up('²')} 3{up('rd')} °{up('°')} a{up(' 2 ')}b{up('')}", "x² 3rd °° a ² b"),
        (f"x{up('a' + down('1'))}", "x^(a₁)"),
        (f"word{NOTE}{up('1')} 10{SUPERSCRIPT}{NOTE}5{END}", "word^1 10^[5]"),
        (f"a{SUPERSCRIPT}b {END}{NOTE} c{SUBSCRIPT}", "aᵇ  c"),
        (down("made with care in a small lighthouse"), "made with care in a small lighthouse"),
        (SUPERSCRIPT * 9 + "2" + END * 9, "²"),
    ],
)
def test_marks_become_characters_or_signs(marked, text):
    assert write_scripts(marked) == text


def r(text):
    return f"<r><t>{text}</t></r>"


def e(text, tag="e"):
    return f"<{tag}>{r(text)}</{tag}>"


@pytest.mark.parametrize(
    ("omml", "tex"),
    [
        (f"<f>{e('mλ', 'num')}{e('a', 'den')}</f>", r"\frac{mλ}{a}"),
        (f"<d>{e('x')}{e('y')}</d>", "(x, y)"),
        (f"<sSup>{e('a+b')}{e('2', 'sup')}</sSup>", "{a+b}^{2}"),
        (f"<sPre>{e('6', 'sub')}{e('14', 'sup')}{e('C')}</sPre>", "{}_{6}^{14}C"),
        (f"<rad><deg/>{e('2')}</rad><rad>{e('3', 'deg')}{e('x')}</rad>", r"\sqrt{2}\sqrt[3]{x}"),
        (
            f"<nary><naryPr><chr val='∑'/></naryPr>{e('i=1', 'sub')}{e('n', 'sup')}{e('i')}</nary>",
            r"\sum_{i=1}^{n} i",
        ),
        (f"<nary><naryPr/><sub/><sup/>{e('x')}</nary>", r"\int x"),
        (f"<func>{e('sin', 'fName')}{e('x')}</func>", "sin x"),
        (f"<d>{CASES}<e><eqArr>{e('a')}{e('b')}</eqArr></e></d>", r"{a \\ b"),
        (f"<del>{r('x')}</del><ins>{r('y$')}</ins>", r"y\$"),
    ],
)
def test_an_equation_of_word_is_tex(omml, tex):
    assert read_equation(fromstring(f"<oMath>{omml}</oMath>")) == f"${tex}$"


@pytest.mark.parametrize(
    ("mathml", "tex"),
    [
        (
            "<mfrac><mrow><mi>m</mi><mo>\u2062</mo><mi>λ</mi></mrow><mi>𝑎</mi></mfrac>",
            r"\frac{mλ}{a}",
        ),
        ("<munderover><mo>∑</mo><mi>i</mi><mi>n</mi></munderover>", r"\sum_{i}^{n}"),
        ("<mroot><mi>x</mi><mn>3</mn></mroot>", r"\sqrt[3]{x}"),
        ("<mfenced open='' close=''><mi>a</mi></mfenced><mo>{</mo>", r"a\{"),
        ("<mi>sin</mi><mi>x</mi><mtext>if x</mtext>", "sin x if x"),
        ("<mtable><mtr><mtd><mi>a</mi></mtd><mtd><mi>b</mi></mtd></mtr></mtable>", "a & b"),
        ("<mi>x</mi><annotation encoding='StarMath 5.0'>x sup 2</annotation>", "x"),
        ("<mi>x</mi><annotation encoding='application/x-tex'>x^2</annotation>", "x^2"),
        ("<mfrac/>", r"\frac{}{}"),
        ("<mrow>" * 99 + "<mi>x</mi>" + "</mrow>" * 99, "x"),
    ],
)
def test_mathml_is_tex(mathml, tex):
    assert read_equation(fromstring(f"<math>{mathml}</math>")) == f"${tex}$"
