"""From the bytes of a file to text with blocks; one parser per family of media types."""
