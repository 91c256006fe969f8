"""Word errors of the recognisers on Wren's own speech, read back in eight languages.

    python -m benchmarks.recognition --models whisper-base moonshine-base

Errors are those of speech and recognition together: a low figure says that both are good, a high one not which is bad.
Characters are counted in place of words where a language has no spaces. Needs the models that are named.
"""

import argparse
import json
import time
import unicodedata
from dataclasses import dataclass, field
from statistics import median

from polyvox import Speaker
from polyvox.audio.analysis import mono_16k
from polyvox.evaluate.wer import WerResult, word_error_rate, words_of
from polyvox.installation import load_settings
from polyvox.service.listening.recognisers import MODELS, ListeningModel, Recognisers
from polyvox.types import Pcm, WordTiming
from polyvox.voices.recognition.languages import UNSPACED
from polyvox.voices.recognition.recogniser import RATE, RecognitionTask

SENTENCES = {
    "en": (
        "The kettle began to whistle before anyone had found the cups.",
        "Leave the window open, the kitchen is far too warm.",
        "Why did the choir stop singing just before the last verse?",
        "Nobody on the bridge noticed the boy with the broken umbrella.",
    ),
    "es": (
        "La abuela dejó las llaves encima de la mesa de la cocina.",
        "Mañana por la tarde iremos todos juntos a la playa.",
        "El perro del vecino ladra cada vez que pasa un coche.",
        "¿Por qué no me dijiste que la tienda estaba cerrada?",
    ),
    "fr": (
        "Le boulanger ouvre sa boutique avant le lever du soleil.",
        "Nous avons marché longtemps sous la pluie sans parapluie.",
        "Pourquoi le train est-il toujours en retard le lundi matin ?",
        "Elle a rangé les livres sur la plus haute étagère.",
    ),
    "hi": (
        "आज सुबह बाज़ार में बहुत भीड़ थी।",
        "मेरी बहन हर शाम नदी के किनारे टहलती है।",
        "क्या तुमने दरवाज़ा बंद कर दिया?",
        "बच्चे बगीचे में खेल रहे हैं।",
    ),
    "it": (
        "Il gatto dorme sul divano vicino alla finestra aperta.",
        "Domani mattina partiamo presto per la montagna.",
        "Perché hai lasciato la luce accesa tutta la notte?",
        "La nonna prepara il pane con la farina del mulino.",
    ),
    "ja": (
        "今日はとても天気がいいので、公園まで歩きました。",
        "明日の朝、駅の前で会いましょう。",
        "この本はどこで買いましたか。",
        "弟は毎日学校から帰ると宿題をします。",
    ),
    "pt": (
        "O menino perdeu o chapéu quando o vento ficou mais forte.",
        "Amanhã cedo vamos comprar peixe fresco no mercado.",
        "Por que ninguém abriu a janela durante a tarde?",
        "A minha irmã toca piano todas as noites depois do jantar.",
    ),
    "zh": (
        "今天下午我们一起去图书馆看书。",
        "他把雨伞忘在了火车上。",
        "请你把窗户关上，外面太冷了。",
        "妈妈每天早上都去市场买菜。",
    ),
}
VOICES = {
    "en": "af_heart",
    "es": "ef_dora",
    "fr": "ff_siwis",
    "hi": "hf_alpha",
    "it": "if_sara",
    "ja": "jf_alpha",
    "pt": "pf_dora",
    "zh": "zf_xiaoxiao",
}


@dataclass(frozen=True)
class Clip:
    """A sentence as it is spoken, at 16 kHz, and when its words are by the model's own durations."""

    text: str
    pcm: Pcm
    words: tuple[WordTiming, ...]


@dataclass
class Score:
    """What one model heard of one language."""

    errors: WerResult = field(default_factory=lambda: WerResult(0, 0, 0, 0))
    detected: int = 0
    cpu_seconds: float = 0.0
    audio_seconds: float = 0.0
    start_errors: list[float] = field(default_factory=list)
    heard: list[str] = field(default_factory=list)

    def row(self, model: str, language: str) -> dict[str, object]:
        return {
            "model": model,
            "language": language,
            "words": self.errors.words,
            "errors": self.errors.errors,
            "rate": round(self.errors.rate, 3),
            "detected": self.detected,
            "cpu_seconds_a_second": round(self.cpu_seconds / self.audio_seconds, 2),
            "median_start_error": round(median(self.start_errors), 3) if self.start_errors else None,
            "heard": self.heard,
        }


def clips(speaker: Speaker, language: str) -> list[Clip]:
    spoken = [(text, speaker.say(text, voice=VOICES[language])) for text in SENTENCES[language]]
    return [Clip(text, mono_16k(speech.pcm, speech.sample_rate), tuple(speech.words)) for text, speech in spoken]


def compared(language: str, expected: str, heard: str) -> WerResult:
    """The errors in words, or in characters where there are no spaces."""
    if language in UNSPACED:
        return word_error_rate(*(" ".join("".join(words_of(text))) for text in (expected, heard)))
    return word_error_rate(*(_without_vowel_signs(text) for text in (expected, heard)))


def _without_vowel_signs(text: str) -> str:
    """Text whose words are letters alone: the comparison would part words at the signs of Devanagari."""
    return "".join(char for char in text if unicodedata.category(char)[0] != "M")


def scored(recognisers: Recognisers, model: ListeningModel, language: str, spoken: list[Clip]) -> Score:
    score, recogniser = Score(), recognisers.load(model)
    for clip in spoken:
        began = time.thread_time()
        found = recogniser.recognise(clip.pcm, RecognitionTask(words=True), lambda: None)
        score.cpu_seconds += time.thread_time() - began
        score.audio_seconds += len(clip.pcm) / RATE
        score.detected += found.language == language
        if model.detects and found.language != language:
            found = recogniser.recognise(clip.pcm, RecognitionTask(language=language, words=True), lambda: None)
        score.errors += compared(language, clip.text, found.text)
        score.heard.append(found.text)
        if found.words is not None and len(found.words) == len(clip.words):
            starts = zip(found.words, clip.words, strict=True)
            score.start_errors += [abs(one.start - other.start) for one, other in starts]
    return score


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", nargs="+", default=[model.name for model in MODELS])
    parser.add_argument("--languages", nargs="+", default=list(SENTENCES), choices=list(SENTENCES))
    options = parser.parse_args()
    recognisers = Recognisers(load_settings())
    with Speaker("wren") as speaker:
        for language in options.languages:
            spoken = clips(speaker, language)
            for model in (model for model in MODELS if model.name in options.models and language in model.languages):
                score = scored(recognisers, model, language, spoken)
                print(json.dumps(score.row(model.name, language), ensure_ascii=False), flush=True)


if __name__ == "__main__":
    main()
