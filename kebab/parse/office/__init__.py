"""Readers of office documents: Word, PowerPoint, Excel, OpenDocument, RTF, old formats.

The text is extracted as Markdown by `TextBuilder`, with places: pages, slides, sheets with cells.
"""
