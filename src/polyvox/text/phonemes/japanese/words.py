"""Japanese words that the dictionary misreads, and characters that are read by their neighbours."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

_FILE: Final = Path(__file__).with_name("words.txt")
_HAN: Final = "\u4e00-\u9fff"
_CLAUSE: Final = 14
# A word of three characters or more is that word wherever it stands; a shorter one only between the dictionary's words.
_SURE_FROM: Final = 3
# 今日中国 is China today.
_BEHIND_MIDDLE: Final = frozenset("国学止心間央東")


@dataclass(frozen=True, slots=True)
class KnownWord:
    """A word at a place in a text, and how it sounds there."""

    start: int
    end: int
    reading: str
    certain: bool
    """True if it is that word whatever the dictionary makes of the characters around."""


@dataclass(frozen=True, slots=True)
class _Rule:
    """A reading for the first character of `pattern`; `before` must be found close before it, if there is one."""

    pattern: re.Pattern[str]
    reading: str
    before: re.Pattern[str] | None


def _rules(*rules: tuple[str, str] | tuple[str, str, str]) -> tuple[_Rule, ...]:
    """Readings with their patterns, and with what stands before; kana in the pattern keep their sound."""
    return tuple(_Rule(re.compile(rule[1]), rule[0], re.compile(rule[2]) if len(rule) > 2 else None) for rule in rules)


def _sounds(table: str) -> dict[tuple[str, str], str]:
    """Parts of words with two sounds, written "川:かわ:がわ"."""
    return {(part, usual): behind for part, usual, behind in (entry.split(":") for entry in table.split())}


_WHO: Final = (
    "他|希望|持ち|越し|齢|年配|未成年|初めて|はじめて|以上|以下|未満|在住|障害|障がい|性|外国|一般|会員|担当|当選|購入|参加|妊娠中|[歳才]|利用|申込|申し込み|住まい|経験"
    "|初心者|探し|忘れ|急ぎ|客様|家族|都合|悩み|連れ|身内|遺族|目上|お勤め|予約|来場|着用|希望者|病気|独身|既婚|現役|学生|主婦|通院中|服用中|お使い|治療中"
)
# Of these today is the age, and not the day.
_LANDS: Final = "日本|中国|韓国|米国|アメリカ|欧州|ヨーロッパ|アジア|世界|[わ我]が国"
_AFFAIRS: Final = "経済|社会|政治|文化|教育|産業|科学|技術|医療|農業|法|制度|財政|外交|繁栄|発展|姿|課題|問題"
# By the character that they begin with; the first rule that fits decides.
_RULES: Final[Mapping[str, tuple[_Rule, ...]]] = {
    "何": _rules(
        ("なんじ", "何時(?!間|か|でも)"),
        ("なんにん", "何人(?!たり)"),
        ("なんにち", "何日"),
        ("なんよーび", "何曜日?"),
        ("なん", "何(?=か[月国所])"),
        (
            "なに",
            "何(?=[をがもかへ]|に(?!ん)|より|しろ|や(?!ら)|はともあれ|卒|とぞ|気な|まで|一つ|ひとつ|不自由|[事者色語])",
        ),
    ),
    "今": _rules(
        ("こんにち", "今日(?=では,)"),
        ("こんにち", f"今日(?=の(?:{_LANDS})の(?:{_AFFAIRS})(?!ニュース|番組|欄|面))"),
        ("こんにち", "今日(?=の(?:(?:国際|情報|現代|高齢|消費)社会|社会[はがでにをの,]|[わ我]が国|繁栄|隆盛))"),
    ),
    "方": _rules(
        ("かたがた", "方々", "の\\Z"),
        ("かた", "方(?![法向面針角式程言])", "あの\\Z"),
        ("かた", "方(?=[はをにもへ,]|の[ごお]|で[すしあ])", "[こそ]の\\Z"),
        ("かた", "方(?=[はにへをも,]|で[すしはも,]|限定|のみ|向け|優先|から|[.,]|$)", f"(?:{_WHO})の\\Z"),
        ("かた", "方(?=[はにへも,])", "(?:いる|ない|れる|する|たい|った|いた|ある|れた|した)\\Z"),
        ("がた", "方(?![法向面針角式程言])", "(?:先生|皆様|皆さま|奥様|あなた|保護者|殿)\\Z"),
    ),
    "辛": _rules(
        (
            "から",
            "辛(?:い|く|かっ|(?=[さそめす]))",
            "カレー|ラーメン|料理|[味鍋汁食舌甘麺]|キムチ|麻婆|スープ|わさび|ワサビ|スパイス|ソース|唐|カラシ|からし|タイ|四川|激|ピリ|ルー|菓子|スナック|タレ|チリ",
        ),
        ("から", "辛い(?=カレー|ラーメン|料理|味|もの|物|食|スープ|の[がは][好苦])"),
    ),
    "開": _rules(
        (
            "あ",
            "開[いくかきけ]",
            "(?:ドア|扉|窓|店|穴|口|門|蓋|ふた|シャッター|鍵|目|栓|図書館|銀行|デパート|スーパー)[がも](?:[一二三四五六七八九十]{1,3}時に|自動で|急に|勝手に|少し)?\\Z",
        ),
    ),
    "空": _rules(
        ("す", "空[いくきか]", "(?:腹|なか|電車|車内|車両|道|道路|店内|館内|会場|バス|レジ)[がはも]\\Z"),
    ),
    "描": _rules(
        ("か", "描[いきくかけ]", "(?:[絵図線円]|漫画|マンガ|イラスト|地図|グラフ|キャラ|模様)を\\Z"),
    ),
    "抱": _rules(
        ("だ", "抱[いきくかけ]", "(?:子ども|赤ん坊|赤ちゃん|人形|ぬいぐるみ|[子供猫犬肩腰膝])を\\Z"),
    ),
    "止": _rules(("や", "止め", "(?:タバコ|たばこ|煙草|[酒事社活校])を\\Z")),
    "額": _rules(("ひたい", "額(?=に(?:汗|手|傷|しわ|キス|触)|の汗|から汗)")),
    "側": _rules(("そば", "側(?=に(?:い|置|立|座|あ|寄))", f"(?:[^{_HAN}]|^)の?\\Z")),
    "色": _rules(("しきし", "色紙(?=に(?:サイン|寄せ))")),
    "値": _rules(("ね", "値(?=が(?:上|下|高|張|付|つ)|を(?:上げ|下げ|付け|つけ))", f"(?:^|[^{_HAN}])\\Z")),
    "米": _rules(
        (
            "こめ",
            "米(?=を(?:研|炊|洗|買|作|食)|の(?:値段|価格|収穫|生産|銘柄|消費|在庫|備蓄)|価格|不足|農家|作り|粒|[.,]|$)",
            f"(?:^|[^{_HAN}])\\Z",
        ),
    ),
    "一": _rules(("ついたち", "一日(?![中目間])", "月\\Z"), ("いちにち", "一日(?!千秋)")),
    "都": _rules(("みやこ", "都(?=[をにがのと])(?!の(?:市|職員|発表|担当))", f"(?:^|[^{_HAN}])\\Z")),
    "着": _rules(("ちゃく", "着", "[時分日]\\Z")),
    "発": _rules(("はつ", "発(?![表売言行信])", "[時分日]\\Z")),
    "中": _rules(("ちゅー", "中(?=[一二三四五六]個)")),
    "下": _rules(("しも", "下(?=[一二三四五六]桁)")),
    "市": _rules(("いちば", "市場(?=で(?:新鮮|魚|野菜|果物|買い物|朝))")),
    "八": _rules(("やっ", "八つ(?![ヶが当裂])")),
}
# The last part of a name and of a compound, the dictionary's sound for it, and the right one.
_BEHIND_NAMES: Final = _sounds(
    "川:かわ:がわ 山:やま:さん 道:みち:どー 人:にん:じん 寺:てら:じ 湖:みずーみ:こ 城:しろ:じょー 口:くち:ぐち"
)
_BEHIND_NOUNS: Final = _sounds(
    "日:ひ:び 日:にち:び 日:か:び 切り:きり:ぎり 豆腐:とーふ:どーふ 口:くち:ぐち 口:こー:ぐち 勝ち:かち:がち "
    "会社:かいしゃ:がいしゃ 部屋:へや:べや 通り:とーり:どーり 不足:ふそく:ぶそく 風呂:ふろ:ぶろ 布団:ふとん:ぶとん "
    "時計:とけー:どけー 棚:たな:だな 畑:はたけ:ばたけ 靴:くつ:ぐつ 薬:くすり:ぐすり 払い:はらい:ばらい 沿い:そい:ぞい "
    "連れ:つれ:ずれ 暮らし:くらし:ぐらし 疲れ:つかれ:ずかれ 嫌い:きらい:ぎらい 好き:すき:ずき 作り:つくり:ずくり "
    "替え:かえ:がえ 傘:かさ:がさ 箱:はこ:ばこ 袋:ふくろ:ぶくろ 止め:とめ:どめ 書き:かき:がき 太鼓:たいこ:だいこ "
    "外:そと:がい"
)
_PLACES: Final = re.compile(
    "(?:研究|保健|停留|案内|洗面|休憩|診療|投票|撮影|避難|相談|教習|紹介|造船|給油|派出|検問|料金|印刷|託児|養成|収容|留置"
    "|製作|療養|観測|試験|待合|喫煙|脱衣|救護)\\Z"
)
_LEADING_HAN: Final = re.compile(f"[{_HAN}]+")


def known_words(text: str) -> Iterator[KnownWord]:
    """The listed words and the decided characters of a text, in its order."""
    listed = _listed()
    for place, char in enumerate(text):
        if char in listed:
            yield from _words_at(text, place, listed[char])
        if char in _RULES:
            yield from _decided_at(text, place, _RULES[char])


def sound_behind(before: str, part: str, reading: str, *, name: bool) -> str | None:
    """The sound of the last part of a name or of a compound noun; None where it is the dictionary's."""
    if name:
        return _BEHIND_NAMES.get((part, reading))
    if part == "所" and _PLACES.search(before):
        return "じょ"
    return _BEHIND_NOUNS.get((part, reading)) if len(before) > 1 else None


def _words_at(text: str, place: int, words: tuple[tuple[str, str, bool], ...]) -> Iterator[KnownWord]:
    for word, reading, certain in words:
        end = place + len(word)
        if text.startswith(word, place) and not (word[-1] == "中" and text[end : end + 1] in _BEHIND_MIDDLE):
            yield KnownWord(place, end, reading, certain)


def _decided_at(text: str, place: int, rules: tuple[_Rule, ...]) -> Iterator[KnownWord]:
    for rule in rules:
        match = rule.pattern.match(text, place)
        if match and (rule.before is None or rule.before.search(text, max(0, place - _CLAUSE), place)):
            kana = _LEADING_HAN.sub("", match.group(), count=1)
            yield KnownWord(place, match.end(), rule.reading + kana, certain=False)
            return


@cache
def _listed() -> Mapping[str, tuple[tuple[str, str, bool], ...]]:
    """The words of the list by their first character, the longest first, each with its reading and whether it is sure.

    A word of the list with an exclamation mark is sure though it is short.
    """
    found: dict[str, list[tuple[str, str, bool]]] = {}
    for line in _FILE.read_text(encoding="utf-8").splitlines():
        written, reading = line.split(" ")
        word = written.removesuffix("!")
        found.setdefault(word[0], []).append((word, reading, len(word) >= _SURE_FROM or word != written))
    return {first: tuple(sorted(words, key=lambda word: -len(word[0]))) for first, words in found.items()}
