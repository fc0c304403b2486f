"""Toolcrib: the tool runtime for LLM agents."""
