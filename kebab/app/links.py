"""Finds the documents that link to a document, and those that it links to."""

from typing import TYPE_CHECKING

from kebab.core.ids import DocId
from kebab.core.links import Link, LinkResolver, list_link_keys
from kebab.wire.library import DocLink

if TYPE_CHECKING:
    from kebab.store.sqlite.catalogue import Catalogue


def find_backlinks(catalogue: "Catalogue", doc_id: DocId) -> list[DocId]:
    """Return the documents that link to a document, by source and path."""
    targets = catalogue.list_link_targets()
    own = next((one for one in targets if one.doc_id == doc_id), None)
    links = catalogue.list_links(list_link_keys(own)) if own else []
    resolver = LinkResolver(targets) if links else None
    found = [
        link.doc_id
        for link in links
        if link.doc_id != doc_id and resolver is not None and resolver.resolve(link) == doc_id
    ]
    return list(dict.fromkeys(found))


def find_link_target(catalogue: "Catalogue", name: str) -> DocId | None:
    """Return the document that a link with this text means, in the first source that has one."""
    targets = catalogue.list_link_targets()
    resolver = LinkResolver(targets)
    sources = sorted({target.source for target in targets})
    found = (resolver.resolve(Link(DocId(""), source, "", name)) for source in sources)
    return next(filter(None, found), None)


def describe_backlinks(catalogue: "Catalogue", doc_id: DocId) -> list[DocLink]:
    """Return the documents that link to a document."""
    return [_describe(catalogue, linking) for linking in find_backlinks(catalogue, doc_id)]


def describe_links(catalogue: "Catalogue", doc_id: DocId) -> list[DocLink]:
    """Return the links of a document; one without a document has no id."""
    links = catalogue.list_document_links(doc_id)
    resolver = LinkResolver(catalogue.list_link_targets() if links else ())
    return [_describe(catalogue, resolver.resolve(link), link) for link in links]


def _describe(catalogue: "Catalogue", doc_id: DocId | None, link: Link | None = None) -> DocLink:
    target = link.target if link else None
    found = catalogue.load_summary(doc_id) if doc_id else None
    if found is None:
        return DocLink(target=target, doc_id=None, doc_path=None, title=None)
    return DocLink(target=target, doc_id=found.doc_id, doc_path=found.path, title=found.title)
