"""Cuts inside a sentence: between phrases, in all languages of Kokoro."""

from helpers.tables import each_row
from polyvox.engines.kokoro.chunking import split_chunks
from polyvox.engines.kokoro.phrases import phrase_words
from polyvox.engines.kokoro.voices import LANGUAGE_TAGS
from polyvox.text.spoken import Sentence, SpokenWord
from polyvox.types import ChunkPolicy, Span

# Words as the frontends of the languages give them; a bar is where the first chunk may end.
SENTENCES = {
    "en-us": "The farmer crossed the frozen lake | before the sun had risen | over the hills | of the north",
    "en-gb": "Nobody | in the office knew | that the letters had gone | to the wrong address",
    "es": "Mañana | por la tarde vamos | a visitar | a mis abuelos | en la casa grande | del pueblo",
    "fr": "Le directeur | de l'usine ancienne voulait répondre | aux questions | des journalistes",
    "it": "Domani pomeriggio andremo | a trovare i nonni | nella casa vicino | al mare",
    "pt-br": "Amanhã | à tarde vamos visitar os meus avós | na casa perto | do mar",
    "hi": "राम ने | कल शाम को | अपने दोस्तों के साथ | बाज़ार में | बहुत सारी किताबें खरीदीं",
    "zh": "我们 昨天下午 | 在 学校 附近 的 图书馆 里 看到 了 很多 | 关于 中国 历史 的 书",
    "ja": "明日 の 朝 は | 早く 起き なけれ ば なり ません から | 今夜 は | 友達 と | 駅前 の レストラン で | 食べる",
}
# Places where no chunk ends, even if there is no better one.
TIED = {
    "en-us": "crossed the ~ frozen lake",
    "en-gb": "a friend of ~ the family",
    "es": "a ~ mis ~ abuelos",
    "fr": "dans ~ la ~ maison",
    "it": "nella ~ casa",
    "pt-br": "os ~ meus ~ avós",
    "hi": "दोस्तों ~ के ~ साथ",
    "zh": "在 ~ 学校 附近 ~ 的 ~ 图书馆 ~ 里",
    "ja": "起き ~ なけれ ~ ば ~ なり ~ ません",
}


def sentence(words, phonemes):
    """Words of so many phonemes each."""
    return Sentence(tuple(SpokenWord(word, "a" * phonemes, Span(0, 1), True) for word in words), False)


def test_there_is_a_row_for_every_language():
    assert SENTENCES.keys() == TIED.keys() == LANGUAGE_TAGS


@each_row("language", SENTENCES)
def test_the_first_chunk_ends_where_a_phrase_does(language):
    parts = [part.split() for part in SENTENCES[language].split("|")]
    words = [word for part in parts for word in part]
    ends = {sum(len(part) for part in parts[:count]) for count in range(1, len(parts) + 1)}
    found = phrase_words(language)
    for phonemes in range(2, 9):
        first, *_ = split_chunks(iter((sentence(words, phonemes),)), ChunkPolicy(32, 1.4, 200), phrases=found)
        count = len(first.words)
        if any(13 <= end * (phonemes + 1) <= 44 for end in ends):
            assert count in ends, (phonemes, words[:count])
        else:
            assert count == len(words) or not found.are_tied(words[count - 1], words[count]), words[:count]


@each_row("language", TIED)
def test_words_that_belong_together_are_not_parted(language):
    words = TIED[language].split()
    found = phrase_words(language)
    for place, word in enumerate(words):
        if word == "~":
            assert found.are_tied(words[place - 1], words[place + 1]), words[place - 1 : place + 2]


@each_row("language", SENTENCES)
def test_a_text_of_nothing_but_tied_words_is_spoken_all_the_same(language):
    found = phrase_words(language)
    small = sorted(found.leading | found.trailing) * 3
    chunks = list(split_chunks(iter((sentence(small, 3),)), ChunkPolicy(32, 1.4, 200), phrases=found))
    assert [word.text for chunk in chunks for word in chunk.words] == small


def test_an_unknown_language_has_no_small_words():
    assert not phrase_words("xx").are_tied("the", "lake")
