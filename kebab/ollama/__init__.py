"""What is Ollama's own: its chat, its failures, and whether it answers at all."""
