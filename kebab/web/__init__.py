"""The web page: its documents, its routes, and who may read them."""
