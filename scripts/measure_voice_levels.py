"""Measure the loudness of Kokoro's built-in voices and write the table that evens them out.

Usage: python scripts/measure_voice_levels.py [voice ...]; without names, all voices. Needs the installed model.
"""

import asyncio
import json
import sys
from pathlib import Path

import numpy as np

from polyvox.audio.loudness import LoudnessMeter
from polyvox.engines.kokoro.engine import KokoroEngine
from polyvox.errors import PolyvoxError
from polyvox.installation import load_settings
from polyvox.types import Pcm, Utterance

TABLE = Path(__file__).parents[1] / "src/polyvox/engines/kokoro/voice_levels.json"
# A few seconds of everyday speech in each language; a voice whose language is not installed reads the English one.
TEXTS = {
    "en": "The old lighthouse keeper climbed the stairs every evening, carrying a lamp and a heavy book.",
    "es": "El viejo farero subía las escaleras todas las tardes, con una lámpara y un libro muy pesado.",
    "fr": "Le vieux gardien du phare montait l'escalier chaque soir, avec une lampe et un livre très lourd.",
    "it": "Il vecchio guardiano del faro saliva le scale ogni sera, con una lampada e un libro pesante.",
    "pt": "O velho faroleiro subia as escadas todas as noites, com uma lâmpada e um livro muito pesado.",
    "hi": "बूढ़ा आदमी हर शाम सीढ़ियाँ चढ़ता था, और उसके हाथ में एक दीपक और एक भारी किताब होती थी।",
    "ja": "年をとった灯台守は、毎晩ランプと重い本を持って、長い階段をのぼりました。",
    "zh": "看守灯塔的老人每天晚上都提着一盏灯，拿着一本厚厚的书，慢慢地走上楼梯。",
}


def loudness(pcm: Pcm, sample_rate: int) -> float:
    """Integrated loudness of a whole recording, in LUFS."""
    meter = LoudnessMeter(sample_rate)
    for start in range(0, len(pcm) - meter.block + 1, meter.block):
        meter.add(pcm[start : start + meter.block, None].astype(np.float64))
    if meter.loudness is None:
        raise SystemExit("The voice is silent.")
    return meter.loudness


async def spoken(engine: KokoroEngine, voice: str, language: str) -> Pcm:
    try:
        utterance = Utterance(TEXTS[language.partition("-")[0]], voice)
        return np.concatenate([chunk.pcm async for chunk in engine.speak(utterance)])
    except PolyvoxError as error:
        print(f"{voice} reads English: {error}", file=sys.stderr)
        return np.concatenate(
            [chunk.pcm async for chunk in engine.speak(Utterance(TEXTS["en"], voice, language="en-us"))]
        )


async def main(names: list[str]) -> None:
    engine = KokoroEngine(load_settings(kokoro_voice_levels="raw"))
    await engine.start()
    table = json.loads(TABLE.read_text()) if TABLE.exists() else {}
    for voice in engine.voices:
        if not names or voice.id in names:
            pcm = await spoken(engine, voice.id, voice.language)
            table[voice.id] = round(loudness(pcm, engine.capabilities.sample_rate), 1)
            print(voice.id, table[voice.id], f"peak {np.abs(pcm).max():.3f}", flush=True)
            TABLE.write_text(json.dumps(dict(sorted(table.items())), indent=1) + "\n")
    await engine.close()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1:]))
