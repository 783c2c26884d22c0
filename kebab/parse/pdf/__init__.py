"""Reader of PDF files, and of the text in pictures.

Pages are read with PDFium. Segments of text become rows, rows become paragraphs and tables.
"""
