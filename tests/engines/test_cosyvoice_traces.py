"""A trace of CosyVoice shows the language model, the flow and the vocoder of each chunk."""

from collections import Counter
from pathlib import Path

import pytest

from helpers.serving import called
from helpers.tiny_cosyvoice import tiny_model
from helpers.traces import KeptSpans
from polyvox.engines.catalog import Catalog
from polyvox.installation import load_settings
from polyvox.service.local_service import build_service
from polyvox.service.voices.voices import VoiceService

pytestmark = [pytest.mark.anyio, pytest.mark.slow]

SPEECH = (Path(__file__).parents[1] / "recordings" / "librivox_a.flac").read_bytes()


async def test_each_chunk_has_its_stages_within_its_time(tmp_path):
    settings = load_settings(
        models=["cosyvoice3"],
        default_model="cosyvoice3",
        cosyvoice3_dir=tiny_model(tmp_path / "model", 3),
        models_dir=tmp_path / "models",
        data_dir=tmp_path / "data",
        cosyvoice_first_hop=25,
        cosyvoice_max_hop=25,
    )
    service, spans = build_service(settings, Catalog.installed().factories), KeptSpans()
    service.tracer = spans.tracer
    voices = VoiceService.for_service(service)
    async with called(service, voices) as client:
        answer = await client.post(
            "/inference_zero_shot",
            data={"tts_text": "the wall.", "prompt_text": "a word", "seed": "11"},
            files={"prompt_wav": ("prompt_wav", SPEECH, "application/octet-stream")},
            timeout=120,
        )
        await voices.close()
    assert answer.status_code == 200
    speech, chunks = spans.one("speech cosyvoice3"), spans.named("synthesize")
    names = Counter(spans.children(speech))
    assert names["prepare text"] == names["queue"] == names["prepare voice"] == 1
    assert len(chunks) == min(8, speech.attributes["polyvox.chunks"]) > 1
    for chunk in chunks:
        assert Counter(spans.children(chunk)) == {"lm": 1, "flow": 1, "vocoder": 1}
        parts = {span.name: span for span in spans.all if span.parent and span.parent.span_id == chunk.context.span_id}
        assert chunk.start_time <= parts["lm"].start_time
        assert parts["lm"].end_time <= parts["flow"].start_time
        assert parts["flow"].end_time <= parts["vocoder"].start_time
        assert parts["vocoder"].end_time == chunk.end_time
        assert parts["flow"].attributes["polyvox.device_seconds"] > 0
    voice = spans.one("prepare voice")
    first = next(span for span in spans.named("lm") if span.parent.span_id == chunks[0].context.span_id)
    assert voice.end_time <= first.start_time
    assert speech.attributes["polyvox.lm_seconds"] > 0
    assert speech.attributes["gen_ai.request.seed"] == 11
