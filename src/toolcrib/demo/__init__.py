"""What `toolcrib demo` shows: a folder of tools, recorded replies of four providers, and what becomes of their calls."""
