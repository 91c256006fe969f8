"""Arriving text is read as the whole text would be: the corpora of readings, cut by the assembler."""

import re
from collections.abc import Callable, Iterator
from functools import cache

import pytest

from helpers.reading_corpus import FOLDER
from helpers.tables import each_row
from polyvox.text.normalize import normalizer_for
from polyvox.text.phoneme_frontend import PhonemeFrontend
from polyvox.text.segmentation.assembler import StreamSegment, TextAssembler
from polyvox.text.spoken import SpokenWord
from polyvox.text.tracked import TrackedText
from polyvox.types import NormalizationOptions

LANGUAGES = ("en", "ms", "zh", "es", "fr", "it", "pt", "hi", "ja")
# A figure whose meaning stands in the sentence before it, a list whose first item only the others explain, and fences,
# which are cut at their lines: the code of an arriving text is read.
NEEDS_THE_WHOLE = {
    "A 5 km wide crater, 2 m deep, lies 300 km N. of here.",
    "Lat. 40.7, long. -74.0 is near Wall St.",
    "What's the zip for Reno? 89501.",
    "i. First part\nii. Second part\niii. Third part",
    "Start:\n```\nx = 1\n```\nThen run it twice.",
    "First:\n```py\nprint(1)\n``` \nNow restart the app.",
}
# The same of a pause inside a sentence: its language, and the sense of a word, may show behind the pause, and a pause
# at the dot inside an address or a file's name is one at the end of a sentence.
NEEDS_THE_SENTENCE = NEEDS_THE_WHOLE | {
    "The parseHTML method in utils.py throws a TypeError at line 310.",
    "gmbr tu cantik sgt, send kt wsap",
    "India 287/6 (50 ov.) bt. Pakistan 241 a.o. by 46 runs; Bumrah 4-32.",
    "TS Hanna (50 kt, 998 mb) was 85 mi SSE of Tampa, FL as of 5 PM EDT.",
    "MrBeast, deadmau5, P!nk and will.i.am were at the 2024 VMAs; U2 & blink-182 weren't.",
    "Sinner d. Zverev 6-3, 7-6(4), 6-3 to defend his AO title; he's 10-0 in AO R16+ matches.",
    "Hurr. Milton: 897 mb, 180 mph; surge 8-12 ft, TPA to SRQ; evac. zones A-C.",
    "Man Utd v Spurs, 12.30pm BST Sat., TNT Sports 1; Utd are 4/6 favs, draw 3/1.",
    "Upgraded pg 14→16 on RDS (db.r6g.xlarge); IOPS capped @ 3k, CPU ~85%.",
    "He plays bass and fishes for bass.",
    "Per serv.: 520 cal., 31g protein, 9g sat. fat, 780mg sodium.",
    "3* hotel, 2 adults + 1 child (u12), 7 nts HB fr. £499pp.",
    "She takes 75mcg levothyroxine, 1 od mane, & 2 puffs salbutamol qds.",
    "Wanted: 2-bed flat nr. Zone 2 tube, £1,400–1,600 pcm, from w/c 5/8.",
    "Add it to .env and .gitignore, then chmod 755 run.sh.",
    "She sat down, read the letter, and wept.",
    "Lg. apt., fin. bsmt., 2-car gar., hdwd flrs, rec rm., ht. incl.",
    "House on 0.25 ac lot, 1,640 sq ft, built 1962, 2-car gar., new roof '21.",
    "Furn rm nr campus, utils incl, $575, avail 8/15, M/F ok.",
    "To let: 3-bed semi nr stn, GCH, gdn, £895 pcm + dep.",
    'On Ch. 2 at 8, a live "Frasier" reunion; on Ch. 5, bowling.',
    "The soil tested positive for lead at 5 ppm; put it to use.",
    "Go to bit.ly/3xYz or example.co.uk.",
    "Change line 42 of utils.py from x += 1 to x -= 1.",
    "Instala Python 3.12.4 y ejecuta «pip install -r requirements.txt».",
    "Aggiorna Java alla 17.0.2 e lancia build.gradle.",
    "Il corso gen.-feb. è pieno.",
    "贝多芬Op. 67首演。",
    "Atualize o Django para a versão 4.2.7 e rode manage.py migrate.",
    "A Dra. Lima mediu 38,5 °C de febre e pressão de 12/8.",
    "3ª feira, 12/8, às 15h.",
    "Python 3.10 इंस्टॉल करें और app.py चलाएँ।",
    "अपना बायोडाटा jobs.hr@company.co.in पर 30 जून तक भेजें।",
    "UPI ID ramesh.k@okaxis पर ₹2,500 भेज दें, रसीद A4 में लगाएँ।",
    "अधिक जानकारी www.india.gov.in पर 31 मार्च तक देखें।",
    "Pasang Python 3.12 dan jalankan main.py dalam folder src/.",
}

Reader = Callable[[str], tuple[str, ...]]


def written(language: str) -> list[str]:
    lines = (FOLDER / f"{language}.tsv").read_text(encoding="utf-8").splitlines()
    texts = [line.split("\t")[1].replace("\\n", "\n") for line in lines if line]
    return [text for text in texts if text != "written"]


def reader(language: str) -> Reader:
    """The phonemes of English, the spoken words of the others; of writing without spaces, its characters."""
    if language == "en":
        frontend = PhonemeFrontend("en-us", espeak="")

        def phonemes(text: str) -> tuple[str, ...]:
            spoken = (word for each in frontend.read(text, NormalizationOptions()) for word in each.words)
            return tuple(word.phonemes for word in spoken if isinstance(word, SpokenWord) and not word.is_punctuation)

        return cache(phonemes)
    normalize = normalizer_for(language)
    token = r"\w" if language in ("zh", "ja") else r"\w+"
    return cache(
        lambda text: tuple(re.findall(token, normalize(TrackedText.of(text), NormalizationOptions()).text.lower()))
    )


def read(segments: list[StreamSegment], reads: Reader) -> tuple[str, ...]:
    return tuple(word for segment in segments for word in reads(segment.text))


def with_a_pause(text: str) -> Iterator[list[StreamSegment]]:
    """The text with a pause behind each of its characters in turn."""
    for place in range(1, len(text)):
        assembler = TextAssembler()
        yield [
            *assembler.push(text[:place]),
            *assembler.release(),
            *assembler.push(text[place:]),
            *assembler.finish(),
        ]


@pytest.mark.long
@each_row("language", LANGUAGES)
def test_segments_are_read_as_the_whole_text(language: str) -> None:
    reads = reader(language)
    misread = {}
    for text in written(language):
        assembler = TextAssembler()
        segments = [*assembler.push(text), *assembler.finish()]
        if read(segments, reads) != reads(text):
            misread[text] = [segment.text for segment in segments]
    assert misread.keys() <= NEEDS_THE_WHOLE, misread


@pytest.mark.long
@each_row("language", LANGUAGES)
def test_a_pause_after_any_character_changes_no_word(language: str) -> None:
    reads = reader(language)
    texts = written(language)[:: 3 if language in ("en", "ms") else 2]
    misread = {}
    for text in texts:
        for cut in {tuple(segments) for segments in map(tuple, with_a_pause(text))}:
            if read(list(cut), reads) != reads(text):
                misread[text] = [segment.text for segment in cut]
    assert misread.keys() <= NEEDS_THE_SENTENCE, misread


@each_row("language", ["en", "ms", "zh", "es"])
def test_a_long_text_is_read_as_its_sentences(language: str) -> None:
    """One text of many sentences, a character at a time."""
    reads = reader(language)
    texts = [
        text for text in written(language) if text.endswith((".", "!", "?", "。", "！", "？")) and "\n" not in text
    ]
    texts = [text for text in texts if text not in NEEDS_THE_WHOLE and not text[:1].islower()][:60]
    whole = "\n".join(texts)
    assembler = TextAssembler()
    segments = [segment for char in whole for segment in assembler.push(char)] + list(assembler.finish())
    assert len(segments) >= len(texts)
    assert read(segments, reads) == tuple(word for text in texts for word in reads(text))
