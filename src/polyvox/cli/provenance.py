"""`polyvox provenance`: the key that signs what a server speaks, and checks of files."""

import asyncio
import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from polyvox.config import Settings
    from polyvox.provenance.signing_key import PublicKey
    from polyvox.provenance.verification import Findings

app = typer.Typer(help="Sign what is spoken, and check where a file comes from.", no_args_is_help=True)

DataDir = Annotated[Path | None, typer.Option(help="Folder of registered voices, which also has the signing key.")]
File = Annotated[Path, typer.Argument(help="A file of audio.", exists=True, dir_okay=False)]
ManifestFile = Annotated[
    Path | None, typer.Option("--manifest", help="Its signed manifest, as JSON; else one that is kept here.")
]
KeyFile = Annotated[Path | None, typer.Option("--key", help="The public key in PEM format; else that of this machine.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]

_MOST_BYTES = 67_108_864


@app.command()
def init(data_dir: DataDir = None) -> None:
    """Make the key that signs manifests. Then set `provenance: signed`."""
    from polyvox.installation import load_settings
    from polyvox.provenance.notary import provenance_folder
    from polyvox.provenance.signing_key import KEY_NAME, PUBLIC_NAME, SigningKey

    folder = provenance_folder(load_settings(data_dir=data_dir))
    key = SigningKey.create(folder)
    print(f"Made the key {key.public.id}.")
    print(f"  {folder / KEY_NAME}: keep it secret, and keep a copy; whoever has it signs in your name.")
    print(f"  {folder / PUBLIC_NAME}: publish it; it checks your signatures.")
    print("Set `provenance: signed`, or POLYVOX_PROVENANCE=signed, and start the server anew.")


@app.command()
def check(
    file: File,
    manifest: ManifestFile = None,
    key: KeyFile = None,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Check where a file comes from: its tags, its signature, its watermark.

    Ends with status 1 where nothing says that the file is synthetic.
    """
    from polyvox.installation import load_settings

    found = _checked(file, manifest, key, load_settings(data_dir=data_dir))
    if as_json:
        print(json.dumps(found.as_json()))
    else:
        for each in found.findings:
            print(f"{each.evidence:<10} {each.verdict:<12} {each.confidence:4.0%}  {each.says}")
            for name, value in each.details.items():
                print(f"{'':<10} {name}: {value}")
    if not found.synthetic:
        raise typer.Exit(1)


def _checked(file: Path, manifest: Path | None, key: Path | None, settings: "Settings") -> "Findings":
    from polyvox.errors import InvalidRequestError
    from polyvox.provenance.manifest import SignedManifest
    from polyvox.provenance.notary import stored_manifests
    from polyvox.provenance.verification import Verifier
    from polyvox.provenance.watermarks import installed_watermarker, search_for
    from polyvox.service.provenance_checks import exhibit_of
    from polyvox.voices.limits import too_large

    if file.stat().st_size > _MOST_BYTES:
        raise too_large(_MOST_BYTES)
    signed = None if manifest is None else SignedManifest.parse(manifest.read_bytes())
    if manifest is not None and signed is None:
        raise InvalidRequestError(f"{manifest} is no signed manifest.", field="manifest")
    exhibit = asyncio.run(exhibit_of(file.read_bytes(), _MOST_BYTES))
    watermark = installed_watermarker(settings.models_dir)
    search = None if watermark is None else search_for(watermark)
    verifier = Verifier(stored_manifests(settings).get, _keys(key, settings), search)
    return verifier.verify(exhibit, signed)


def _keys(named: Path | None, settings: "Settings") -> "tuple[PublicKey, ...]":
    from polyvox.provenance.notary import known_keys, provenance_folder
    from polyvox.provenance.signing_key import PublicKey

    return known_keys(provenance_folder(settings)) if named is None else (PublicKey.read(named),)
