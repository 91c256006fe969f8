"""LazyCommands: the commands of a group by name, each imported when it is asked for."""

from collections import UserDict
from importlib import import_module
from typing import Any

import typer
from typer.main import get_group

HELP_OPTIONS = ("-h", "--help")


class LazyCommands(UserDict[str, Any]):
    """Starts with `module:attribute` for each name: a function is a command, a `Typer` a group of them.

    Running one command imports that one; a list of all with their help imports all.
    """

    def __getitem__(self, name: str) -> Any:  # noqa: ANN401 - typer names no public type of a command
        if isinstance(self.data[name], str):
            self.data[name] = _loaded(name, self.data[name])
        return self.data[name]


def _loaded(name: str, place: str) -> Any:  # noqa: ANN401 - as above
    module, _, attribute = place.partition(":")
    found = getattr(import_module(module), attribute)
    holder = typer.Typer()
    if isinstance(found, typer.Typer):
        holder.add_typer(found, name=name)
    else:
        holder.command(name)(found)
    return without_flag_types(get_group(holder).commands[name])


def without_flag_types(command: Any) -> Any:  # noqa: ANN401 - as above
    """The command, whose help names no type for options that take no value; and so for those of a group."""
    help_option = command.get_help_option(typer.Context(command, help_option_names=list(HELP_OPTIONS)))
    for option in (*command.params, help_option):
        if getattr(option, "is_flag", False):
            option.metavar = ""
    if not isinstance(commands := getattr(command, "commands", {}), LazyCommands):
        for below in commands.values():
            without_flag_types(below)
    return command
