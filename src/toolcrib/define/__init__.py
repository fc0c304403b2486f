"""From Python to a `Tool`: functions, toolkit classes, tool files; schemas from signatures; injected parameters."""
