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
        (f"<f><fPr><type val='lin'/></fPr>{e('a+b', 'num')}{e('c', 'den')}</f>", "{a+b}/c"),
        (f"<d>{e(r'x')}</d>", "(x)"),
        (f"<f><fPr><type val='noBar'/></fPr>{e('n', 'num')}{e('k', 'den')}</f>", r"{n \atop k}"),
        (f"<sSup>{e('10')}{e('-6', 'sup')}</sSup>", "10^{-6}"),
        (f"<sSup>{e('a+b')}{e('2', 'sup')}</sSup>", "{a+b}^{2}"),
        (f"<sSubSup>{e('x')}{e('i', 'sub')}{e('2', 'sup')}</sSubSup>", "x_{i}^{2}"),
        (f"<sPre>{e('6', 'sub')}{e('14', 'sup')}{e('C')}</sPre>", "{}_{6}^{14}C"),
        (f"<rad><deg/>{e('2')}</rad><rad>{e('3', 'deg')}{e('x')}</rad>", r"\sqrt{2}\sqrt[3]{x}"),
        (
            f"<nary><naryPr><chr val='∑'/></naryPr>{e('i=1', 'sub')}{e('n', 'sup')}{e('i')}</nary>",
            r"\sum_{i=1}^{n} i",
        ),
        (f"<nary><naryPr/><sub/><sup/>{e('x')}</nary>", r"\int x"),
        (
            f"<func><fName><limLow>{e('lim')}{e('x→0', 'lim')}</limLow></fName>{e('x')}</func>",
            r"\lim_{x→0}x",
        ),
        (f"<func>{e('sin', 'fName')}{e('x')}</func>", r"\sin x"),
        (f"<acc>{e('x')}</acc><acc><accPr><chr val='⃗'/></accPr>{e('v')}</acc>", r"\hat{x}\vec{v}"),
        (f"<bar><barPr><pos val='top'/></barPr>{e('x')}</bar>", r"\overline{x}"),
        (
            f"<limLow><e><groupChr>{e('a+b')}</groupChr></e>{e('n', 'lim')}</limLow>",
            r"\underbrace{a+b}_{n}",
        ),
        (
            f"<d>{CASES}<e><eqArr>{e('a')}{e('b')}</eqArr></e></d>",
            r"\left\{\begin{aligned}a \\ b\end{aligned}\right.",
        ),
        (
            f"<m><mr>{e('a')}{e('b')}</mr><mr>{e('c')}{e('d')}</mr></m>",
            r"\begin{matrix}a & b \\ c & d\end{matrix}",
        ),
        ("<r><rPr><nor/></rPr><t>if so</t></r>", r"\text{if so}"),
        (f"<del>{r('x')}</del><ins>{r('y$')}</ins>", r"y\$"),
    ],
)
def test_an_equation_of_word_is_tex(omml, tex):
    assert read_equation(fromstring(f"<oMath>{omml}</oMath>")) == f"${tex}$"


@pytest.mark.parametrize(
    ("mathml", "tex"),
    [
        (
            "<mfrac><mrow><mi>m</mi><mo>\u2062</mo><mi>λ</mi></mrow><mi>a</mi></mfrac>",
            r"\frac{mλ}{a}",
        ),
        ("<mfrac linethickness='0'><mi>n</mi><mi>k</mi></mfrac>", r"{n \atop k}"),
        ("<msubsup><mi>𝑥</mi><mi>i</mi><mn>2</mn></msubsup>", "x_{i}^{2}"),
        (
            "<msqrt><mi>a</mi><mn>1</mn></msqrt><mroot><mi>x</mi><mn>3</mn></mroot>",
            r"\sqrt{a1}\sqrt[3]{x}",
        ),
        ("<munderover><mo>∑</mo><mi>i</mi><mi>n</mi></munderover>", r"\sum_{i}^{n}"),
        ("<munder><mi>lim</mi><mi>n</mi></munder><mi>x</mi>", r"\lim_{n}x"),
        (
            "<mover><mi>x</mi><mo>¯</mo></mover><mover><mi>x</mi><mi>k</mi></mover>",
            r"\bar{x}\overset{k}{x}",
        ),
        ("<munder><mi>x</mi><mi>k</mi></munder>", r"\underset{k}{x}"),
        ("<munderover><mi>x</mi><mi>k</mi><mo>^</mo></munderover>", r"\hat{\underset{k}{x}}"),
        ("<mfenced open='[' separators=';'><mi>a</mi><mi>b</mi></mfenced>", "[a;b)"),
        ("<mfenced open='' close=''><mi>a</mi></mfenced><mo>{</mo>", r"a\{"),
        ("<mi>sin</mi><mi>x</mi><mtext>if x</mtext>", r"\sin x\text{if x}"),
        (
            "<mmultiscripts><mi>C</mi><none/><mn>2</mn><mprescripts/><mn>6</mn><mn>14</mn></mmultiscripts>",
            "{}_{6}^{14}C^{2}",
        ),
        (
            "<mtable><mtr><mtd><mi>a</mi></mtd><mtd><mi>b</mi></mtd></mtr></mtable>",
            r"\begin{matrix}a & b\end{matrix}",
        ),
        ("<mi>x</mi><annotation encoding='StarMath 5.0'>x sup 2</annotation>", "x"),
        ("<mi>x</mi><annotation encoding='application/x-tex'>x^2</annotation>", "x^2"),
        ("<mfrac/>", r"\frac{}{}"),
        ("<msup>" * 99 + "<mi>x</mi>" + "</msup>" * 99, "x"),
    ],
)
def test_mathml_is_tex(mathml, tex):
    assert read_equation(fromstring(f"<math>{mathml}</math>")) == f"${tex}$"
