"""Language models behind the OpenAI-compatible protocol: llama.cpp's server, LM Studio, vLLM."""
