"""Write `misaki_*.txt.gz`: the dictionaries of misaki, compact, as `polyvox.text.phonemes.misaki` reads them.

pip download --no-deps --python-version 3.12 misaki==0.9.4
python scripts/build_misaki.py misaki-0.9.4-py3-none-any.whl
"""

import gzip
import hashlib
import json
import sys
from pathlib import Path
from zipfile import ZipFile

FOLDER = Path(__file__).parents[1] / "src/polyvox/text/phonemes"


def english(gold: bytes, silver: bytes) -> list[str]:
    """Words and sounds in columns; entries by part of speech, of which there are few, as JSON."""
    checked, others = json.loads(gold), json.loads(silver)
    plain = {word: entry for word, entry in checked.items() if isinstance(entry, str)}
    by_part_of_speech = {word: entry for word, entry in checked.items() if word not in plain}
    as_json = json.dumps(by_part_of_speech, ensure_ascii=False, separators=(",", ":"))
    return [*columns(plain), as_json, *columns(others)]


def columns(entries: dict[str, str]) -> tuple[str, str]:
    if any("\n" in text for entry in entries.items() for text in entry):
        raise SystemExit("an entry has a line break, which this format cannot hold")
    return "\n".join(entries), "\n".join(entries.values())


def write(name: str, version: str, files: dict[str, bytes], blocks: list[str]) -> None:
    hashes = {file: hashlib.sha256(content).hexdigest() for file, content in files.items()}
    header = json.dumps({"source": f"misaki {version}", "licence": "Apache-2.0", "sha256": hashes})
    target = FOLDER / f"misaki_{name}.txt.gz"
    target.write_bytes(gzip.compress("\n\n".join([header, *blocks]).encode(), mtime=0))
    print(f"{target.name}: {target.stat().st_size / 1e6:.2f} MB from {sum(map(len, files.values())) / 1e6:.2f} MB")


def main() -> None:
    wheel = Path(sys.argv[1])
    version = wheel.name.split("-")[1]
    with ZipFile(wheel) as archive:
        for variant in ("us", "gb"):
            files = {
                file: archive.read(f"misaki/data/{file}") for file in (f"{variant}_gold.json", f"{variant}_silver.json")
            }
            write(variant, version, files, english(*files.values()))
        words = archive.read("misaki/data/ja_words.txt")
        write("ja", version, {"ja_words.txt": words}, ["\n".join(words.decode().split())])


if __name__ == "__main__":
    main()
