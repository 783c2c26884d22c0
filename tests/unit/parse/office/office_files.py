"""Builds small office files from the XML of their parts."""

import io
import zipfile

import openpyxl

from kebab.parse.office.docx import DocxParser
from kebab.parse.office.odf import OdtParser

OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
CORE = "http://schemas.openxmlformats.org/package/2006/relationships/metadata/core-properties"

DOCX_STYLES = """
<w:style w:styleId="1"><w:name w:val="heading 1"/></w:style>
<w:style w:styleId="Chapter"><w:basedOn w:val="1"/><w:name w:val="Chapter"/></w:style>
<w:style w:styleId="T"><w:name w:val="Title"/></w:style>
<w:style w:styleId="C1"><w:name w:val="toc 1"/></w:style>
<w:style w:styleId="K"><w:name w:val="제목 2"/></w:style>
<w:style w:styleId="Src"><w:name w:val="Source Code"/></w:style>
<w:style w:styleId="Q"><w:name w:val="Quote"/></w:style>
"""


def build_zip(parts):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as file:
        for name, data in parts.items():
            file.writestr(name, data)
    return buffer.getvalue()


def build_relations(relations):
    """Return the XML of relations: id to type and target; `-> target` is outside of the file."""
    lines = []
    for name, (kind, target) in relations.items():
        address = kind if "://" in kind else f"{OFFICE}/{kind}"
        outside = ' TargetMode="External"' if target.startswith("-> ") else ""
        goal = target.removeprefix("-> ")
        lines.append(f'<Relationship Id="{name}" Type="{address}" Target="{goal}"{outside}/>')
    return f"<Relationships>{''.join(lines)}</Relationships>"


def build_docx(body, *, properties="", relations=None, namespace=W, **parts):
    """Return a Word file; `parts` are the contents of `styles`, `comments` and so on."""
    related = {name: (name, f"{name}.xml") for name in parts} | (relations or {})
    files = {
        "_rels/.rels": build_relations(
            {"main": ("officeDocument", "word/document.xml"), "core": (CORE, "docProps/core.xml")}
        ),
        "word/_rels/document.xml.rels": build_relations(related),
        "word/document.xml": f'<w:document xmlns:w="{namespace}" xmlns:r="{OFFICE}">'
        f"<w:body>{body}</w:body></w:document>",
    }
    if properties:
        files["docProps/core.xml"] = f'<c xmlns:dc="dc" xmlns:dcterms="t">{properties}</c>'
    for name, content in parts.items():
        files[f"word/{name}.xml"] = f'<w:{name} xmlns:w="{namespace}">{content}</w:{name}>'
    return build_zip(files)


def build_paragraph(text, properties=""):
    return f"<w:p><w:pPr>{properties}</w:pPr><w:r><w:t>{text}</w:t></w:r></w:p>"


def build_style(name):
    return f'<w:pStyle w:val="{name}"/>'


def build_cell(*content, properties=""):
    return f"<w:tc><w:tcPr>{properties}</w:tcPr>{''.join(content)}</w:tc>"


def build_table(*rows):
    return f"<w:tbl>{''.join(f'<w:tr>{row}</w:tr>' for row in rows)}</w:tbl>"


def parse_docx(body, **parts):
    return DocxParser().parse(build_docx(body, **parts), "dir/a.docx")


def build_shape(text, role="", position=None):
    """Return the XML of a shape of a slide; `position` is its top and left."""
    place = f'<xfrm><off x="{position[1]}" y="{position[0]}"/></xfrm>' if position else ""
    kind = f'<ph type="{role}"/>' if role else ""
    return (
        f"<sp><nvSpPr><cNvPr/><nvPr>{kind}</nvPr></nvSpPr><spPr>{place}</spPr>"
        f"<txBody><p><r><t>{text}</t></r></p></txBody></sp>"
    )


def build_pptx(*slides, order=None, relations=None, parts=None):
    """Return a PowerPoint file; `relations` and `parts` are added to each slide."""
    numbers = range(1, len(slides) + 1)
    ids = "".join(f'<sldId r:id="r{number}"/>' for number in order or numbers)
    files = {
        "_rels/.rels": build_relations({"m": ("officeDocument", "ppt/presentation.xml")}),
        "ppt/_rels/presentation.xml.rels": build_relations(
            {f"r{number}": ("slide", f"slides/s{number}.xml") for number in numbers}
        ),
        "ppt/presentation.xml": f'<p xmlns:r="{OFFICE}"><sldIdLst>{ids}</sldIdLst></p>',
    }
    for number, shapes in zip(numbers, slides, strict=True):
        files[f"ppt/slides/s{number}.xml"] = f"<sld><spTree>{shapes}</spTree></sld>"
        files[f"ppt/slides/_rels/s{number}.xml.rels"] = build_relations(relations or {})
    return build_zip(files | (parts or {}))


ODF = "urn:oasis:names:tc:opendocument:xmlns"
_PREFIXES = ("office", "text", "table", "style", "drawing", "presentation", "meta", "xlink", "svg")


def build_odf(body, kind="text", *, styles="", extra="", meta=""):
    """Return an OpenDocument file; `styles` are automatic ones, `extra` are common ones."""
    spaces = "".join(f' xmlns:{name}="{ODF}:{name}:1.0"' for name in _PREFIXES)
    files = {
        "mimetype": f"application/vnd.oasis.opendocument.{kind}",
        "content.xml": f"<office:document-content{spaces}><office:automatic-styles>{styles}"
        f"</office:automatic-styles><office:body><office:{kind}>{body}</office:{kind}>"
        "</office:body></office:document-content>",
    }
    if meta:
        files["meta.xml"] = meta
    if extra:
        files["styles.xml"] = f"<office:document-styles{spaces}>{extra}</office:document-styles>"
    return build_zip(files)


def parse_odt(body, **options):
    return OdtParser().parse(build_odf(body, **options), "dir/a.odt")


def build_cells(*texts, attributes=""):
    """Return the cells of a row of an OpenDocument table."""
    return "".join(
        f"<table:table-cell {attributes}><text:p>{text}</text:p></table:table-cell>"
        for text in texts
    )


def save_workbook(workbook):
    buffer = io.BytesIO()
    workbook.save(buffer)
    return buffer.getvalue()


def build_workbook(cells):
    """Return the bytes of a workbook with one sheet; keys are cells such as `B2`."""
    workbook = openpyxl.Workbook()
    for cell, value in cells.items():
        workbook.active[cell] = value
    return save_workbook(workbook)


def list_places(document):
    return [(place.label, place.row, place.columns) for place in document.places]
