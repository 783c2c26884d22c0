"""What rows of the catalogue say in other languages; one module for each, loaded when spoken."""
