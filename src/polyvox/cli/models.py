"""`polyvox models`: available and installed models, and checks of their files."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from polyvox.errors import BundleError, UnavailableError

if TYPE_CHECKING:
    from polyvox.bundles.manifest import Manifest
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
    from polyvox.installation import load_settings

    folder = load_settings(models_dir=models_dir).models_dir
    rows = [_listed(manifest, folder) for manifest in manifests()]
    if as_json:
        print(json.dumps([asdict(row) for row in rows], indent=2, ensure_ascii=False))
    else:
        _print_table(rows)


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

    bundle = open_bundle(name, settings.models_dir)
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
    """One model in the list; `detail` is its folder, or the problem; `pinned` a value of `Pinning`."""

    name: str
    title: str
    version: str
    state: str
    detail: str
    licence: str
    code_licence: str
    bytes: int
    pinned: str


def _listed(manifest: "Manifest", folder: Path) -> _Listed:
    from polyvox.bundles.validate import open_manifest

    pinning = manifest.pinning
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
        pinning,
    )


def _print_table(rows: list[_Listed]) -> None:
    from rich.console import Console
    from rich.filesize import decimal
    from rich.table import Table

    table = Table(box=None, header_style="bold", padding=(0, 2, 0, 0))
    for column in ("model", "state", "size", "pinned", "licence", "title"):
        table.add_column(column, justify="right" if column == "size" else "left")
    for row in rows:
        size = decimal(row.bytes) if row.bytes else "unknown"
        table.add_row(row.name, row.state, size, row.pinned, row.licence, row.title)
    console = Console()
    console.print(table)
    for row in rows:
        if row.state == "damaged":
            console.print(row.detail, style="yellow", markup=False)
    if any(row.pinned != "sha256" for row in rows):
        console.print(
            "pinned: every file by its sha256; or by the commit it comes from; or none: a branch as it is today.",
            style="dim",
        )
    if any(row.state == "available" for row in rows):
        console.print("Install one with: polyvox pull NAME", style="dim")
