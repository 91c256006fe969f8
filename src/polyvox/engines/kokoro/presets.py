"""Kokoro's voices as prompts for engines that clone: the sentence that each speaks, in its own language."""

from pathlib import Path
from types import MappingProxyType

from polyvox.engines.kokoro.voices import OPENAI_NAMES, VOICES, language_of
from polyvox.engines.spec import PresetPrompt, PresetVoices
from polyvox.errors import UnknownVoiceError

_ENGLISH = "The morning train was late again, so we walked along the river and talked about the long summer."
_SENTENCES = MappingProxyType(
    {
        "en-us": _ENGLISH,
        "en-gb": _ENGLISH,
        "zh": "早上的火车又晚点了，我们沿着河边走，聊了聊这个漫长的夏天。",
        "ja": "朝の電車がまた遅れたので、川沿いを歩きながら長い夏の話をしました。",
        "es": "El tren de la mañana volvió a llegar tarde, así que paseamos junto al río y hablamos del verano.",
        "fr": "Le train du matin était encore en retard, alors nous avons marché le long de la rivière en parlant.",
        "hi": "सुबह की गाड़ी फिर देर से आई, इसलिए हम नदी के किनारे चले और गर्मियों की बातें करते रहे।",
        "it": "Il treno del mattino era di nuovo in ritardo, così abbiamo camminato lungo il fiume parlando.",
        "pt-br": "O trem da manhã atrasou de novo, então caminhamos ao lado do rio e falamos do longo verão.",
    }
)
"""Five to eight seconds each, which is what cloning models like best."""
_RECORDINGS = MappingProxyType({"af_heart": Path(__file__).parent / "prompts" / "af_heart.flac"})
"""Voices that speak their sentence in a file of the package: the default one, so that a model folder alone speaks."""


def _find(name: str) -> PresetPrompt | None:
    if name in OPENAI_NAMES:  # the server's settings say what these mean
        return None
    try:
        language = language_of(name)
    except UnknownVoiceError:
        return None
    return PresetPrompt(name, _SENTENCES[language], language, _ENGLISH, _RECORDINGS.get(name))


PRESETS = PresetVoices("kokoro", tuple(voice.id for voice in VOICES), _find)
