"""`polyvox models`: what can be installed, what is, and whether it is whole."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from polyvox.bundles.manifest import Manifest

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
    from polyvox.config import load

    folder = load(models_dir=models_dir).models_dir
    rows = [_listed(manifest, folder) for manifest in manifests()]
    if as_json:
        print(json.dumps([asdict(row) for row in rows], indent=2, ensure_ascii=False))
    else:
        _print_table(rows)


@app.command()
def check(
    name: Annotated[str, typer.Argument(help="Installed model, or the folder of a CosyVoice model.")],
    models_dir: ModelsDir = None,
) -> None:
    """Hash every file of an installed model, or compare the weights in a CosyVoice folder with its description."""
    if Path(name).is_dir():
        _check_folder(Path(name))
        return
    from polyvox.bundles.progress import RichProgress
    from polyvox.bundles.validate import open_bundle, verify
    from polyvox.config import load

    bundle = open_bundle(name, load(models_dir=models_dir).models_dir)
    verify(bundle, RichProgress())
    print(f"{bundle.manifest.title} in {bundle.folder} is whole.")


@app.command()
def convert(folder: Annotated[Path, typer.Argument(help="Folder of a CosyVoice model.")]) -> None:
    """Write the weights of a CosyVoice model as safetensors beside the published files; they load faster."""
    _require_torch()
    from polyvox.engines.cosyvoice.bundle import convert as converted
    from polyvox.engines.cosyvoice.bundle import open_model

    for path in converted(open_model(folder)):
        print(f"Wrote {path}.")


@app.command()
def export(
    folder: Annotated[Path, typer.Argument(help="Folder of a ZipVoice model: the base or the distilled one.")],
    to: Annotated[Path, typer.Option(help="Folder to make.")],
    int8: Annotated[bool, typer.Option(help="Also write the graphs in 8-bit precision.")] = True,
) -> None:
    """Write a ZipVoice model as ONNX graphs, with the inputs and outputs of the published ones."""
    _require_torch()
    from polyvox.engines.zipvoice.export import export as exported

    for path in exported(folder, to, int8=int8):
        print(f"Wrote {path}.")


def _check_folder(folder: Path) -> None:
    _require_torch()
    from polyvox.config import load
    from polyvox.engines.cosyvoice.bundle import open_model
    from polyvox.engines.cosyvoice.listening import Listener
    from polyvox.engines.cosyvoice.tags import Tags
    from polyvox.engines.cosyvoice.tokenizer import TextTokenizer

    bundle = open_model(folder, load().cosyvoice_lm)
    for line in bundle.check_weights():
        print(line)
    Listener(bundle, threads=1)
    print(f"{bundle.speaker_network.name} and {bundle.speech_tokenizer.name}: can be opened, inputs fit")
    tokenizer = TextTokenizer(bundle.backbone, Tags(bundle.version))
    print(f"{bundle.backbone.name}: text ids up to {tokenizer.largest}")
    voices = sorted(bundle.voices("check"))
    print(f"voices: {', '.join(voices) or 'none of its own; it speaks with cloned ones'}")
    print(f"CosyVoice {bundle.version} in {folder} can be used: set POLYVOX_COSYVOICE{bundle.version}_DIR to it.")


def _require_torch() -> None:
    from importlib.util import find_spec

    from polyvox.errors import UnavailableError

    if find_spec("torch") is None:
        raise UnavailableError("This needs PyTorch; install it with `pip install 'polyvox[torch]'`.")


@dataclass(frozen=True, slots=True)
class _Listed:
    """One model in the list; `detail` is its folder, or what is wrong."""

    name: str
    title: str
    version: str
    state: str
    detail: str
    licence: str
    code_licence: str
    bytes: int


def _listed(manifest: "Manifest", folder: Path) -> _Listed:
    from polyvox.bundles.validate import open_manifest
    from polyvox.errors import BundleError

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
    )


def _print_table(rows: list[_Listed]) -> None:
    from rich.console import Console
    from rich.filesize import decimal
    from rich.table import Table

    table = Table(box=None, header_style="bold", padding=(0, 2, 0, 0))
    for column in ("model", "state", "size", "licence", "title"):
        table.add_column(column, justify="right" if column == "size" else "left")
    for row in rows:
        size = decimal(row.bytes) if row.bytes else "unknown"
        table.add_row(row.name, row.state, size, row.licence, row.title)
    console = Console()
    console.print(table)
    for row in rows:
        if row.state == "damaged":
            console.print(row.detail, style="yellow", markup=False)
    if any(row.state == "available" for row in rows):
        console.print("Install one with: polyvox pull NAME", style="dim")
