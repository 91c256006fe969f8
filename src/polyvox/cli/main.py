"""The command `polyvox`. Each command is a module or a package here, imported when it runs."""

import errno
import sys
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from polyvox import __version__
from polyvox.cli.lazy_commands import HELP_OPTIONS, LazyCommands, without_flag_types
from polyvox.errors import ApiError, InvalidRequestError, PolyvoxError

_COMMANDS = {
    "serve": "polyvox.cli.serve.command:serve",
    "say": "polyvox.cli.say:say",
    "book": "polyvox.cli.book.command:book",
    "mcp": "polyvox.cli.mcp.command:serve_mcp",
    "speechd": "polyvox.cli.speechd:speechd",
    "voices": "polyvox.cli.voices.command:app",
    "dictionary": "polyvox.cli.dictionary:app",
    "keys": "polyvox.cli.keys:app",
    "provenance": "polyvox.cli.provenance:app",
    "languages": "polyvox.cli.languages:languages",
    "models": "polyvox.cli.models:app",
    "pull": "polyvox.cli.pull:pull",
    "check": "polyvox.cli.check:check",
    "config": "polyvox.cli.config:config",
    "deploy": "polyvox.cli.deploy:app",
    "bench": "polyvox.cli.bench:app",
    "eval": "polyvox.cli.evaluate:evaluate",
}


_FIRST_STEPS = """\
Three things to begin with:

  polyvox serve                           serve speech and the Studio on http://127.0.0.1:8880
  polyvox say Hello world -o hello.wav    speak a text into a file; without -o, out loud
  polyvox voices                          list the voices that you can name with --voice

polyvox --help lists every command, and polyvox COMMAND --help its options."""

_ADVICE = {
    "GET /v1/audio/voices lists": "`polyvox voices` lists",
    "GET /speakers lists": "`polyvox voices` lists",
    "GET /v1/voices lists": "`polyvox voices list` shows",
    "GET /v1/dictionaries lists": "`polyvox dictionary list` shows",
}


class _Commands(TyperGroup):
    """Imports a command when it is run, and prints errors that a user can fix in one line.

    A traceback comes only with `--debug` or for a bug.
    """

    def __init__(self, **options: Any) -> None:  # noqa: ANN401 - typer's own signature
        super().__init__(**options)
        self.commands = LazyCommands(_COMMANDS)

    def make_context(self, *arguments: Any, **options: Any) -> Any:  # noqa: ANN401 - typer's own signature
        without_flag_types(self)
        return super().make_context(*arguments, **options)

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ANN401 - typer's own signature
        return list(_COMMANDS)

    def invoke(self, ctx: Any) -> Any:  # noqa: ANN401 - typer's own signature
        try:
            return super().invoke(ctx)
        except PolyvoxError as error:
            if ctx.params.get("debug"):
                raise
            is_servers = isinstance(error, ApiError) or isinstance(error.__cause__, ApiError)
            _print_error(error.message if is_servers else _for_commands(error.message))
            raise typer.Exit(2 if isinstance(error, InvalidRequestError) else 1) from error
        except OSError as error:
            if ctx.params.get("debug") or error.errno in (None, errno.EPIPE):
                raise
            place = f"{error.filename}: " if error.filename else ""
            _print_error(f"{place}{error.strerror}.")
            raise typer.Exit(1) from error


def _for_commands(message: str) -> str:
    """The advice of an error in terms of commands, where no server could be asked."""
    for request, command in _ADVICE.items():
        message = message.replace(request, command)
    return message


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
    invoke_without_command=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": list(HELP_OPTIONS)},
)


@app.callback()
def root(
    context: typer.Context,
    debug: Annotated[bool, typer.Option("--debug", help="Show a traceback with every error.")] = False,
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    # `debug` is read where errors are printed; `version` has its callback
    if context.invoked_subcommand is None:
        print(_FIRST_STEPS)
