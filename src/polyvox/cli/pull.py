"""`polyvox pull`: install a model."""

from pathlib import Path
from typing import Annotated, Literal

import typer

_PART_OF_POLYVOX = frozenset({"silero-vad"})
"""Models that were pulled once and come with the package now."""


def pull(
    context: typer.Context,
    name: Annotated[str, typer.Argument(help="Model to install; `polyvox models` lists them.")],
    folder: Annotated[
        Path | None,
        typer.Option("--from", exists=True, file_okay=False, help="Folder that already holds the model's files."),
    ] = None,
    models_dir: Annotated[Path | None, typer.Option(help="Folder of installed models.")] = None,
    hub: Annotated[
        Literal["huggingface", "modelscope"],
        typer.Option(help="Hub to fetch from; not every model is on each. Packages are asked all the same."),
    ] = "huggingface",
) -> None:
    """Install a model, or repair an installed one."""
    from polyvox.bundles.manifest import manifest_named
    from polyvox.bundles.pinning import unpinned_notice
    from polyvox.bundles.progress import RichProgress
    from polyvox.bundles.pull import pull as pull_bundle
    from polyvox.engines.catalog import Catalog
    from polyvox.installation import load_settings
    from polyvox.service.telemetry.logs import configure_logging

    if name in _PART_OF_POLYVOX:
        print(f"{name} is part of Polyvox; there is nothing to fetch.")
        return
    level = "debug" if context.find_root().params["debug"] else "warning"
    settings = load_settings(models_dir=models_dir, log_level=level, log_format="console")
    configure_logging(settings)
    wanted = manifest_named(Catalog.installed().bundle_of(name))
    for manifest in (*map(manifest_named, wanted.needs), wanted):
        if notice := unpinned_notice(manifest):
            print(notice)
    elsewhere = hub == "modelscope"
    bundle = pull_bundle(
        wanted.name,
        models_dir=settings.models_dir,
        folder=folder,
        hub_url=settings.modelscope_url if elsewhere else settings.hub_url,
        progress=RichProgress(),
        hub="modelscope" if elsewhere else "hub",
    )
    print(f"{bundle.manifest.title} is installed in {bundle.folder}.")
