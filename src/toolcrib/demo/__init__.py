"""What `toolcrib demo` shows: a folder of tools, recorded replies, and what becomes of their calls."""
