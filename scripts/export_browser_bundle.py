"""`python scripts/export_browser_bundle.py FOLDER`: write Wren and the installed Kokoro for polyvox-web."""

import argparse
from pathlib import Path

from polyvox.bundles.validate import open_bundle
from polyvox.engines.kokoro.voices import VOICES
from polyvox.engines.kokoro.wren.browser_bundle import write_bundle
from polyvox.installation import load_settings


def main() -> None:
    parser = argparse.ArgumentParser(description="Write Wren's files for the browser package polyvox-web.")
    parser.add_argument("folder", type=Path, help="folder to write; a web server serves it as it is")
    names = [voice.id for voice in VOICES]
    parser.add_argument("--voice", action="append", choices=names, metavar="VOICE", help="only these voices; repeat it")
    given = parser.parse_args()
    kokoro = open_bundle("kokoro", load_settings().models_dir)
    chosen = [voice for voice in VOICES if not given.voice or voice.id in given.voice]
    size = write_bundle(kokoro.folder, given.folder, chosen)
    print(f"{size / 1e6:.1f} MB in {given.folder}")


if __name__ == "__main__":
    main()
