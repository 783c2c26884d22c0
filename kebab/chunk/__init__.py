"""From blocks to chunks: by heading, in whole paragraphs, never longer than the window."""
