"""`polyvox deploy`: the server on a cluster."""

from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(help="The server on a cluster.", no_args_is_help=True)


@app.callback()
def root() -> None:
    """The server on a cluster."""


@app.command()
def init(
    path: Annotated[Path, typer.Argument(help="File to write.")] = Path("ray.yaml"),
    model: Annotated[
        list[str] | None, typer.Option("--model", "-m", help="Model to serve; give it again for more.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite an existing file.")] = False,
) -> None:
    """Write a ray.yaml for `serve deploy` with the current settings."""
    from polyvox.deploy.ray_yaml import ray_yaml
    from polyvox.errors import ConflictError
    from polyvox.installation import load_settings

    settings = load_settings(models=model or None)
    if model and settings.default_model not in model:
        settings = settings.model_copy(update={"default_model": model[0]})
    if path.exists() and not force:
        raise ConflictError(f"{path} exists already; overwrite it with --force.")
    path.write_text(ray_yaml(settings, str(path)), encoding="utf-8")
    print(f"Wrote {path}. Start Ray, then deploy it with: serve deploy {path}")
