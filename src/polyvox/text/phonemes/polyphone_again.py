"""chóng, again: 重 before what is done once more, where no word of the dictionary has it."""

from collections.abc import Iterator, Sequence
from typing import Final

from polyvox.text.phonemes.chinese_words import parts_of_speech, word_cutter

_AGAIN: Final = "重"
_PAIR: Final = 2
_VERBAL: Final = "v"
# Verbs that the dictionary takes for something else.
_DOINGS: Final = frozenset("裁接报约下转导煮跑签交修")
# What somebody or something weighs or is, and how it is heavy.
_NOT_DONE: Final = frozenset("约达超过于是到有在了的得不能可会要应需大型量度点金心伤病症罪音")
# Behind these it is heavy, or the end of a noun.
_HEAVY: Final = frozenset("很太最更较够越并口味体净毛自负载沉严手情病胆轻超加减看注偏多挺真")
_THINGS: Final = frozenset("nax")
_ONCE: Final = tuple("一下 一遍 一次 一版 一个 一份 一张 一轮 一套 一条 一单 一锅 个 了 过 两".split())


def again(text: str, words: Sequence[str]) -> Iterator[tuple[int, str]]:
    """The places of 重 that begins a word nobody lists or stands before a verb, and its reading."""
    if _AGAIN not in text:
        return
    known = word_cutter().FREQ
    # The tokenizer makes up pairs such as 要重 of 要重刮.
    words = [
        part
        for word in words
        for part in (
            (word[:-1], _AGAIN) if len(word) == _PAIR and word[-1] == _AGAIN and not known.get(word) else (word,)
        )
    ]
    place = 0
    for index, word in enumerate(words):
        ahead = word[1:] or (words[index + 1] if index + 1 < len(words) else "")
        if word[0] == _AGAIN and ahead and not (len(word) > 1 and known.get(word)):
            before = words[index - 1] if index else ""
            after = index + (1 if len(word) > 1 else 2)
            behind = "".join(words[after : after + 2])
            joined = len(word) > 1 or behind.startswith(_ONCE)
            if _is_done(ahead) and behind[:1] not in ("不", "得") and not _is_heavy(before, joined):
                yield place, "chong2"
        place += len(word)


def _is_done(ahead: str) -> bool:
    """Return whether a word tells of something that can be done once more."""
    tags = parts_of_speech()
    verbal = tags.get(ahead, tags.get(ahead[0], ""))[:1] == _VERBAL
    return ahead[0] not in _NOT_DONE and (ahead[0] in _DOINGS or verbal)


def _is_heavy(before: str, joined: bool) -> bool:
    """Return whether it is rather said of the word in front that it is heavy; not where 重 and its verb are joined."""
    if before[-1:] in _HEAVY and before:
        return True
    return not joined and parts_of_speech().get(before, "")[:1] in _THINGS
