"""The command `polyvox`. Each command is a module or a package here, imported when it runs."""

import errno
import sys
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from polyvox import __version__
from polyvox.cli.lazy_commands import LazyCommands
from polyvox.errors import InvalidRequestError, PolyvoxError

_COMMANDS = {
    "serve": "polyvox.cli.serve.command:serve",
    "say": "polyvox.cli.say:say",
    "book": "polyvox.cli.book.command:book",
    "mcp": "polyvox.cli.mcp.command:serve_mcp",
    "voices": "polyvox.cli.voices.command:app",
    "dictionary": "polyvox.cli.dictionary:app",
    "keys": "polyvox.cli.keys:app",
    "languages": "polyvox.cli.languages:languages",
    "models": "polyvox.cli.models:app",
    "pull": "polyvox.cli.pull:pull",
    "config": "polyvox.cli.config:config",
    "deploy": "polyvox.cli.deploy:app",
    "bench": "polyvox.cli.bench:app",
    "eval": "polyvox.cli.evaluate:evaluate",
}


class _Commands(TyperGroup):
    """Imports a command when it is run, and prints errors that a user can fix in one line.

    A traceback comes only with `--debug` or for a bug.
    """

    def __init__(self, **options: Any) -> None:  # noqa: ANN401 - typer's own signature
        super().__init__(**options)
        self.commands = LazyCommands(_COMMANDS)

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ANN401 - typer's own signature
        return list(_COMMANDS)

    def invoke(self, ctx: Any) -> Any:  # noqa: ANN401 - typer's own signature
        try:
            return super().invoke(ctx)
        except PolyvoxError as error:
            if ctx.params.get("debug"):
                raise
            _print_error(error.message)
            raise typer.Exit(2 if isinstance(error, InvalidRequestError) else 1) from error
        except OSError as error:
            if ctx.params.get("debug") or error.errno in (None, errno.EPIPE):
                raise
            place = f"{error.filename}: " if error.filename else ""
            _print_error(f"{place}{error.strerror}.")
            raise typer.Exit(1) from error


def _print_error(message: str) -> None:
    print(f"error: {message}", file=sys.stderr)


def _print_version(asked: bool) -> None:
    if asked:
        from polyvox.revision import revision

        commit = revision()
        print(f"polyvox {__version__} ({commit})" if commit else f"polyvox {__version__}")
        raise typer.Exit


app = typer.Typer(
    name="polyvox",
    cls=_Commands,
    help="One speech server, and its tools.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.callback()
def root(
    debug: Annotated[bool, typer.Option("--debug", help="Show a traceback with every error.")] = False,
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    pass  # `debug` is read where errors are printed; `version` has its callback
