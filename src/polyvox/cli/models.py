"""`polyvox models`: available and installed models, and checks of their files."""

import json
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from polyvox.errors import BundleError, UnavailableError

if TYPE_CHECKING:
    from polyvox.bundles.manifest import Manifest
    from polyvox.config import Settings
    from polyvox.engines.spec import EngineSpec

app = typer.Typer(help="List models, or check an installed one.", invoke_without_command=True)

ModelsDir = Annotated[Path | None, typer.Option(help="Folder of installed models.")]


@app.callback()
def models(
    context: typer.Context,
    models_dir: ModelsDir = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    if context.invoked_subcommand is not None:
        return
    from polyvox.bundles.manifest import manifests
    from polyvox.engines.catalog import Catalog
    from polyvox.installation import load_settings

    settings, catalog = load_settings(models_dir=models_dir), Catalog.installed()
    rows = [_listed(manifest, settings.models_dir) for manifest in manifests()]
    bundles = {row.name: row for row in rows}
    shared = {model: catalog.bundle_of(model) for model in catalog.factories if model not in bundles}
    rows += [
        replace(bundles[bundle], name=model, title=f"comes with {bundle}: the same files and voices")
        for model, bundle in shared.items()
        if bundle in bundles
    ]
    first = {model: place for place, model in enumerate(settings.models)}
    rows.sort(key=lambda row: (first.get(row.name, len(first)), row.name))
    if as_json:
        print(json.dumps([asdict(row) for row in rows], indent=2, ensure_ascii=False))
    else:
        _print_table(rows, settings)


@app.command()
def check(
    name: Annotated[str, typer.Argument(help="Installed model, or a model's folder.")],
    models_dir: ModelsDir = None,
) -> None:
    """Check the hashes of an installed model, or the files of a model's folder."""
    from polyvox.installation import load_settings

    settings = load_settings(models_dir=models_dir)
    if Path(name).is_dir():
        spec = _spec_of(Path(name))
        if spec.tools.check is None:
            raise UnavailableError(f"A folder of {spec.title} cannot be checked; give the name of an installed model.")
        for line in spec.tools.check(Path(name), settings):
            print(line)
        return
    from polyvox.bundles.progress import RichProgress
    from polyvox.bundles.validate import open_bundle, verify
    from polyvox.engines.catalog import Catalog

    bundle = open_bundle(Catalog.installed().bundle_of(name), settings.models_dir)
    verify(bundle, RichProgress())
    print(f"{bundle.manifest.title} in {bundle.folder} is complete.")


@app.command()
def convert(folder: Annotated[Path, typer.Argument(help="Folder of a model.")]) -> None:
    """Write a model's weights as safetensors next to the published files; they load faster."""
    spec = _spec_of(folder)
    if spec.tools.convert is None:
        raise UnavailableError(f"The weights of {spec.title} need no conversion.")
    for path in spec.tools.convert(folder):
        print(f"Wrote {path}.")


@app.command()
def export(
    name: Annotated[str, typer.Argument(help="Installed model, or a model's folder.", metavar="MODEL")],
    to: Annotated[
        Path | None,
        typer.Option("--to", "--output", help="Folder to make; CosyVoice has a place of its own for it."),
    ] = None,
    int8: Annotated[bool, typer.Option(help="Also write the graphs in 8-bit precision.")] = True,
    models_dir: ModelsDir = None,
) -> None:
    """Export a model to ONNX graphs, for ONNX Runtime and TensorRT."""
    folder = _folder_of(name, models_dir)
    spec = _spec_of(folder)
    if spec.tools.export is None:
        raise UnavailableError(
            f"{spec.title} has no ONNX export; `polyvox serve --model_dir` uses the folder as it is."
        )
    for path in spec.tools.export(folder, to, int8):
        print(f"Wrote {path}.")


@app.command()
def browser(
    to: Annotated[
        Path | None,
        typer.Option(file_okay=False, help="Folder to write, for a web server of yours; unless given, the Studio's."),
    ] = None,
    voice: Annotated[
        list[str] | None, typer.Option(help="Only these voices; repeat it. Unless given, all that read text there.")
    ] = None,
    models_dir: ModelsDir = None,
) -> None:
    """Write the files with which a browser speaks by itself, from the installed Kokoro."""
    from polyvox.bundles.browser_bundle import export_browser_bundle
    from polyvox.installation import load_settings
    from polyvox.service.registry.browser_export import write_for_browsers

    folder = load_settings(models_dir=models_dir).models_dir
    if to is not None:
        write_for_browsers(folder, to, voice or ())
        print(f"Wrote {to}.")
        return
    bundle = export_browser_bundle(folder, lambda stage: write_for_browsers(folder, stage, voice or ()))
    print(f"Wrote {bundle.bytes / 1e6:.0f} MB to {bundle.folder}; the Studio of this server speaks on your device now.")


def _folder_of(name: str, models_dir: Path | None) -> Path:
    """A model's folder: the one given, that of the settings, or that of the installed model."""
    from polyvox.engines.catalog import Catalog
    from polyvox.installation import load_settings

    if Path(name).is_dir():
        return Path(name)
    settings, catalog = load_settings(models_dir=models_dir), Catalog.installed()
    if name not in catalog.factories:
        return Path(name)
    locate = catalog.spec(name).tools.locate
    return (locate and locate(name, settings)) or settings.models_dir / catalog.bundle_of(name)


def _spec_of(folder: Path) -> "EngineSpec":
    """The engine family of the model in a folder, with its requirements checked."""
    from polyvox.engines.catalog import Catalog

    catalog = Catalog.installed()
    found = catalog.recognize(folder)
    if found is None:
        families = ", ".join(spec.title for spec in catalog.specs)
        raise BundleError(f"{folder} holds no model that an installed engine ({families}) recognises; check the path.")
    spec = catalog.spec(found.model)
    spec.check_installed()
    return spec


@dataclass(frozen=True, slots=True)
class _Listed:
    """One model in the list; `detail` is its folder, or the problem; `pinned` a value of `Pinning`.

    `bytes` is its size on disk, as far as it is known; `download_bytes` is what `polyvox pull` would fetch now, with
    the models that it needs, and None where that is unknown.
    """

    name: str
    title: str
    version: str
    state: str
    detail: str
    licence: str
    code_licence: str
    bytes: int
    download_bytes: int | None
    pinned: str


def _listed(manifest: "Manifest", folder: Path) -> _Listed:
    from polyvox.bundles.validate import open_manifest

    pinning, fetched = manifest.pinning, _download_bytes(manifest, folder)
    try:
        bundle = open_manifest(manifest, folder)
        manifest, state, detail = bundle.manifest, "installed", str(bundle.folder)
    except BundleError as error:
        state = "damaged" if (folder / manifest.name).exists() else "available"
        detail = error.message
    return _Listed(
        manifest.name,
        manifest.title,
        manifest.version,
        state,
        detail,
        manifest.licence.weights,
        manifest.licence.code,
        manifest.bytes,
        fetched,
        pinning,
    )


def _download_bytes(manifest: "Manifest", folder: Path) -> int | None:
    """The size of what a pull would fetch: the model, those that it needs and its companions, unless installed."""
    from polyvox.bundles.manifest import manifest_named

    sizes = [
        each.download_bytes
        for each in (manifest, *map(manifest_named, (*manifest.needs, *manifest.companions)))
        if not _is_installed(each, folder)
    ]
    return None if None in sizes else sum(size for size in sizes if size is not None)


def _is_installed(manifest: "Manifest", folder: Path) -> bool:
    from polyvox.bundles.validate import open_manifest

    try:
        open_manifest(manifest, folder)
    except BundleError:
        return False
    return True


def _print_table(rows: list[_Listed], settings: "Settings") -> None:
    from rich.console import Console
    from rich.filesize import decimal
    from rich.table import Table

    table = Table(box=None, header_style="bold", padding=(0, 2, 0, 0))
    for column in ("model", "state", "size", "pinned"):
        table.add_column(column, justify="right" if column == "size" else "left", no_wrap=True)
    table.add_column("licence", overflow="fold")
    table.add_column("title", overflow="fold")
    for row in rows:
        known = row.bytes if row.state == "installed" else row.download_bytes
        table.add_row(row.name, row.state, decimal(known) if known else "unknown", row.pinned, row.licence, row.title)
    console = Console()
    console.width = max(console.width, _narrowest(rows)) if console.is_terminal else _LINE_WIDTH
    console.print(table)
    for row in rows:
        if row.state == "damaged":
            console.print(row.detail, style="yellow", markup=False)
    if any(row.pinned != "sha256" for row in rows):
        console.print(
            "pinned: every file by its sha256; or by the commit it comes from; or none: a branch as it is today.",
            style="dim",
        )
    beside = [model for model in settings.models if model != settings.default_model]
    console.print(
        f"A request that names no model is spoken by {settings.default_model}."
        + (f" Loaded beside it: {', '.join(beside)}." if beside else ""),
        style="dim",
    )
    if any(row.state == "available" for row in rows):
        console.print(
            "size: what has to be fetched, with the models that it needs; on disk, once it is installed.", style="dim"
        )
        console.print("Install one with: polyvox pull NAME", style="dim")


_LINE_WIDTH = 200
"""Columns where a program reads the table: a line for each model."""
_WORDS_WIDTH = 62
"""Columns for everything in the table but the names: its other words and the titles, folded."""


def _narrowest(rows: list[_Listed]) -> int:
    """The width below which the table would cut names; a terminal that is narrower breaks its lines."""
    return max(len(row.name) for row in rows) + _WORDS_WIDTH
