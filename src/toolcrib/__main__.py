"""`python -m toolcrib`: the command line."""

from toolcrib.cli.main import app

if __name__ == "__main__":
    app()
