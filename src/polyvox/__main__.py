"""`python -m polyvox` is the command `polyvox`."""

from polyvox.cli.main import app

if __name__ == "__main__":
    app(prog_name="polyvox")
