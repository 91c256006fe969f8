"""The share of words that a recogniser hears wrongly, over all of the tests' sentences, through `polyvox serve`."""

from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

from helpers.speech import HARVARD_SENTENCES
from polyvox.audio.pcm import from_pcm16
from polyvox.bench.process import server_process
from polyvox.bundles.validate import open_bundle
from polyvox.evaluate.wer import word_error_rate
from polyvox.installation import load_settings
from polyvox.voices.recognition.transcribe import Moonshine


@pytest.mark.parametrize("model", ["kokoro", "wren"])
def test_nearly_all_words_are_understood(model: str) -> None:
    models_dir = load_settings().models_dir
    moonshine = Moonshine(open_bundle("moonshine-base", models_dir))
    with server_process(["serve", "--port", "0", "--model", model, "--models-dir", str(models_dir)]) as server:

        def spoken(text: str) -> bytes:
            body = {"model": model, "input": text, "voice": "af_heart", "response_format": "pcm"}
            return httpx.post(f"{server.url}/v1/audio/speech", json=body, timeout=300).raise_for_status().content

        with ThreadPoolExecutor(4) as callers:
            results = [
                word_error_rate(text, moonshine.transcribe(from_pcm16(audio), 24_000))
                for text, audio in zip(HARVARD_SENTENCES, callers.map(spoken, HARVARD_SENTENCES), strict=True)
            ]
    words, errors = sum(result.words for result in results), sum(result.errors for result in results)
    print(f"{model}: word error rate: {errors} of {words} words, {errors / words:.1%}")
    assert words >= 160
    assert errors / words <= 0.03
