"""The command `polyvox`. Each command is a module here and imports heavy packages only when it runs."""

import errno
import sys
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from polyvox import __version__
from polyvox.cli import bench, config, deploy, dictionary, evaluate, keys, languages, models, pull, say
from polyvox.cli.book import command as book
from polyvox.cli.mcp import command as mcp
from polyvox.cli.serve import command as serve
from polyvox.cli.voices import command as voices
from polyvox.errors import InvalidRequestError, PolyvoxError


class _PlainErrors(TyperGroup):
    """Prints errors that a user can fix in one line; a traceback only with `--debug` or for a bug."""

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
        print(f"polyvox {__version__}")
        raise typer.Exit


app = typer.Typer(
    name="polyvox",
    cls=_PlainErrors,
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


app.command()(serve.serve)
app.command()(say.say)
app.command()(book.book)
app.command("mcp")(mcp.serve_mcp)
app.add_typer(voices.app, name="voices")
app.add_typer(dictionary.app, name="dictionary")
app.add_typer(keys.app, name="keys")
app.command()(languages.languages)
app.add_typer(models.app, name="models")
app.command()(pull.pull)
app.command()(config.config)
app.add_typer(deploy.app, name="deploy")
app.add_typer(bench.app, name="bench")
app.command("eval")(evaluate.evaluate)
