"""Readings of Japanese numbers, alone and before a counter, as katakana with long vowels marked."""

import re
from collections.abc import Mapping
from typing import Final

_ONES: Final = ("ゼロ", "イチ", "ニ", "サン", "ヨン", "ゴ", "ロク", "ナナ", "ハチ", "キュー")
_HUNDREDS: Final = {1: "ヒャク", 3: "サンビャク", 6: "ロッピャク", 8: "ハッピャク"}
_THOUSANDS: Final = {1: "セン", 3: "サンゼン", 8: "ハッセン"}
_MYRIADS: Final = ("", "マン", "オク", "チョー")
LONGEST_NUMBER: Final = 16


def _table(pairs: str) -> dict[str, str]:
    """Counters and their sounds, written "回:カイ 個:コ"."""
    return {counter: sound for counter, _, sound in (pair.partition(":") for pair in pairs.split())}


# The sounds that a counter gives to the last word of the number, by the consonant that it begins with.
_HUNDRED: Final = {"ヒャク": "ヒャッ", "ビャク": "ビャッ", "ピャク": "ピャッ"}
_BEFORE_K: Final = {"イチ": "イッ", "ロク": "ロッ", "ハチ": "ハッ", "ジュー": "ジュッ", **_HUNDRED}
_BEFORE_S: Final = {"イチ": "イッ", "ハチ": "ハッ", "ジュー": "ジュッ"}
_BEFORE_H: Final = {**_BEFORE_K, "ハチ": "ハッ"}
_TEN_ONLY: Final = {"ジュー": "ジュッ"}
_FOUR_AND_NINE: Final = {"ヨン": "ヨ", "キュー": "ク", "ナナ": "シチ"}

_K: Final = _table(
    "回:カイ 個:コ 箇所:カショ か所:カショ ヶ所:カショ カ所:カショ か月:カゲツ ヶ月:カゲツ カ月:カゲツ "
    "ケ月:カゲツ か国:カコク カ国:カコク ヶ国:カコク 件:ケン 缶:カン 巻:カン 曲:キョク 機:キ 期:キ 区:ク "
    "階:カイ 軒:ケン 回目:カイメ 個目:コメ 階建て:カイダテ か月間:カゲツカン ヶ月間:カゲツカン "
    "カ月間:カゲツカン 回戦:カイセン 校:コー 級:キュー 球:キュー 項:コー 項目:コーモク 画:カク 斤:キン 戸:コ "
    "県:ケン 拠点:キョテン 系統:ケートー 回転:カイテン 教科:キョーカ 区間:クカン 気圧:キアツ 口座:コーザ "
    "階級:カイキュー 階層:カイソー 回裏:カイウラ 回表:カイオモテ 回払い:カイバライ "
    "句:ク 課:カ 科目:カモク 基:キ 脚:キャク 騎:キ 貫:カン 回忌:カイキ "
    "か年:カネン カ年:カネン ヶ年:カネン 箇年:カネン 区画:クカク"
)
_S: Final = _table(
    "冊:サツ 歳:サイ 才:サイ 足:ソク 社:シャ 週間:シューカン 種類:シュルイ 周:シュー 周年:シューネン 食:ショク "
    "章:ショー 世紀:セーキ 席:セキ 隻:セキ センチ:センチ センチメートル:センチメートル 世帯:セタイ 勝:ショー "
    "セット:セット 頭:トー 点:テン 通:ツー 丁目:チョーメ 着:チャク 体:タイ 種:シュ 丁:チョー 滴:テキ 店:テン "
    "店舗:テンポ 等:トー 銭:セン トン:トン 等分:トーブン 節:セツ 棟:トー 艇:テー 升:ショー 反:タン "
    "町歩:チョーブ 週:シュー 週目:シューメ 週連続:シューレンゾク 色:ショク 種目:シュモク 室:シツ 首:シュ "
    "手:テ 死:シ 世:セー 症例:ショーレー 党:トー 世代:セダイ 周目:シューメ 通話:ツーワ 体制:タイセー "
    "選:セン 戦:セン 集:シュー 尺:シャク 床:ショー 層:ソー "
    "親等:シントー 進法:シンホー 進数:シンスー 車種:シャシュ 点差:テンサ "
    "都市:トシ 投目:トーメ 小節:ショーセツ"
)
# Usual sound, sound behind a doubled consonant, and sound behind three.
_H: Final = {
    "本": ("ホン", "ポン", "ボン"),
    "匹": ("ヒキ", "ピキ", "ビキ"),
    "杯": ("ハイ", "パイ", "バイ"),
    "分": ("フン", "プン", "プン"),
    "分間": ("フンカン", "プンカン", "プンカン"),
    "泊": ("ハク", "パク", "パク"),
    "票": ("ヒョー", "ピョー", "ビョー"),
    "発": ("ハツ", "パツ", "パツ"),
    "歩": ("ホ", "ポ", "ポ"),
    "本目": ("ホンメ", "ポンメ", "ボンメ"),
    "敗": ("ハイ", "パイ", "パイ"),
    "品": ("ヒン", "ピン", "ピン"),
    "分後": ("フンゴ", "プンゴ", "プンゴ"),
    "分前": ("フンマエ", "プンマエ", "プンマエ"),
    "分以内": ("フンイナイ", "プンイナイ", "プンイナイ"),
    "分程度": ("フンテード", "プンテード", "プンテード"),
    "杯目": ("ハイメ", "パイメ", "バイメ"),
    "匹目": ("ヒキメ", "ピキメ", "ビキメ"),
    "拍": ("ハク", "パク", "パク"),
    "俵": ("ヒョー", "ピョー", "ビョー"),
    "包": ("ホー", "ポー", "ポー"),
    "編": ("ヘン", "ペン", "ペン"),
    "遍": ("ヘン", "ペン", "ベン"),
    "版": ("ハン", "パン", "ハン"),
    "派": ("ハ", "パ", "パ"),
    "班": ("ハン", "パン", "パン"),
    "品目": ("ヒンモク", "ピンモク", "ヒンモク"),
    "品種": ("ヒンシュ", "ピンシュ", "ヒンシュ"),
    "辺": ("ヘン", "ペン", "ヘン"),
    "発目": ("ハツメ", "パツメ", "パツメ"),
}
_FOURTH_AS_P: Final = frozenset(("分", "分間", "分後", "分前", "分以内", "分程度", "泊", "敗"))
# Behind one and two in their native forms.
_NATIVE: Final = _table(
    "部屋:ヘヤ 晩:バン 箱:ハコ 袋:フクロ 粒:ツブ 皿:サラ 切れ:キレ 束:タバ 株:カブ 房:フサ 玉:タマ 口:クチ "
    "桁:ケタ 針:ハリ 筋:スジ 駅:エキ 山:ヤマ かけ:カケ つまみ:ツマミ 振り:フリ 組:クミ 揃い:ソロイ 筆:フデ "
    "瓶:ビン 鍋:ナベ 片:カケ 通り:トーリ 言:コト かたまり:カタマリ 握り:ニギリ 盛り:モリ ふさ:フサ 鉢:ハチ "
    "棹:サオ 区切り:クギリ 夏:ナツ 冬:フユ 手間:テマ 張:ハリ 柱:ハシラ 畝:ウネ"
)
_KILO: Final = {"キロ": "キロ", "キロメートル": "キロメートル", "キログラム": "キログラム"}
_PLAIN: Final = _table(
    "円:エン 年:ネン 年間:ネンカン 年生:ネンセー 年前:ネンマエ 年目:ネンメ 年度:ネンド 時:ジ 時間:ジカン "
    "時間目:ジカンメ 月:ガツ 度:ド 番:バン 枚:マイ 台:ダイ 倍:バイ 秒:ビョー 名:メー 号:ゴー 号室:ゴーシツ "
    "番地:バンチ 番線:バンセン 番目:バンメ 位:イ ドル:ドル メートル:メートル グラム:グラム 割:ワリ 問:モン "
    "万:マン 代:ダイ 両:リョー 車線:シャセン 号車:ゴーシャ リットル:リットル ページ:ページ "
    "パーセント:パーセント 行:ギョー 列:レツ 円玉:エンダマ 円札:エンサツ 話:ワ 部:ブ 段:ダン 段階:ダンカイ "
    "口径:コーケー 組織:ソシキ 組合:クミアイ 部門:ブモン 部隊:ブタイ 部署:ブショ 画素:ガソ 画面:ガメン 番組:バングミ "
    "枚切り:マイギリ 枚切:マイギリ "
    "枚組:マイグミ 行動:コードー 次元:ジゲン 畳:ジョー 畳間:ジョーマ 帖:ジョー 拍子:ビョーシ 坪:ツボ 字:ジ "
    "文字:モジ 試合:シアイ 錠:ジョー 人前:ニンマエ 人乗り:ニンノリ 割引:ワリビキ "
    "割引き:ワリビキ 円高:エンダカ 円安:エンヤス 円台:エンダイ 年ぶり:ネンブリ 連勝:レンショー 連敗:レンパイ "
    "番台:バンダイ 単位:タンイ 便:ビン 条:ジョー 打席:ダセキ 打点:ダテン 安打:アンダ 本塁打:ホンルイダ "
    "秒間:ビョーカン 秒後:ビョーゴ "
    "秒前:ビョーマエ 年代:ネンダイ 年後:ネンゴ 年来:ネンライ 時半:ジハン 時台:ジダイ 時頃:ジゴロ 時ごろ:ジゴロ "
    "時過ぎ:ジスギ 時前:ジマエ 時以降:ジイコー 時発:ジハツ 番町:バンチョー 番出口:バンデグチ 番手:バンテ "
    "番人気:バンニンキ 番乗り:バンノリ 塁:ルイ 塁打:ルイダ 膳:ゼン 輪:リン 軍:グン 羽:ワ 人称:ニンショー "
    "合:ゴー 限:ゲン 限目:ゲンメ 議席:ギセキ 打数:ダスー 場所:バショ "
    "団体:ダンタイ 号線:ゴーセン 号機:ゴーキ 号店:ゴーテン 号棟:ゴートー"
)
_DAYS: Final = dict(
    zip(
        (*range(2, 11), 14, 20, 24),
        "フツカ ミッカ ヨッカ イツカ ムイカ ナノカ ヨーカ ココノカ トーカ ジューヨッカ ハツカ ニジューヨッカ".split(),
        strict=True,
    )
)
_DAY_COUNTERS: Final = {"日": ""} | _table(
    "日間:カン 日目:メ 日前:マエ 日後:ゴ 日夜:ヨル 日朝:アサ 日未明:ミメー 日分:ブン "
    "日以内:イナイ 日ぶり:ブリ 日連続:レンゾク 日おき:オキ"
)
_PEOPLE: Final = {"人": ""} | _table(
    "人目:メ 人組:グミ 人分:ブン 人用:ヨー 人家族:カゾク 人部屋:ベヤ 人掛け:ガケ 人暮らし:グラシ "
    "人以上:イジョー 人制:セー"
)
_THINGS: Final = dict(
    enumerate("ヒトツ フタツ ミッツ ヨッツ イツツ ムッツ ナナツ ヤッツ ココノツ トー".split(), start=1)
)
_FOUR_AS_YO: Final = frozenset(
    (
        "円",
        "円玉",
        "人前",
        "人乗り",
        "年",
        "年間",
        "年生",
        "年前",
        "年目",
        "年度",
        "時",
        "時間",
        "時間目",
        "年ぶり",
        "年代",
        "年来",
        "円高",
        "円安",
        "円台",
        "限",
        "限目",
    )
)
_HOURS: Final = frozenset(counter for counter in _PLAIN if counter.startswith("時"))
COUNTERS: Final = frozenset((*_K, *_S, *_H, *_NATIVE, *_KILO, *_PLAIN, *_DAY_COUNTERS, *_PEOPLE, "つ", "つ目"))
# Between two numbers: the line of a fraction, and a score.
_BETWEEN: Final = {"分の": "ブンノ", "対": "タイ"}
_ANY: Final = "|".join(sorted(COUNTERS, key=len, reverse=True))
# A number that names its myriads: 1億2400万.
MYRIADS: Final = re.compile(
    r"(?<![0-9.点])(?=[0-9]+[兆億万])(?:(?P<trillions>[0-9]{1,4})兆)?(?:(?P<hundred_millions>[0-9]{1,4})億)?"
    r"(?:(?P<myriads>[0-9]{1,4})万)?(?P<ones>[0-9]{1,4}(?![千百0-9]))?(?![点0-9])"
)
# Thousands and hundreds named behind a figure: 3千, 1千5百.
NAMED_HUNDREDS: Final = re.compile(
    "(?<![0-9.,点])(?:(?P<thousands>[1-9])千(?:(?P<more>[1-9])百)?|(?P<hundreds>[1-9])百)(?![0-9千])"
)
NUMBER_AND_COUNTER: Final = re.compile(
    rf"(?P<number>[0-9]+)(?P<counter>(?:{'|'.join(_BETWEEN)})(?=[0-9])|{_ANY})?(?!(?<=間)隔|(?<=口)金|(?<=乗り)場|(?<=部)[品分]|(?<=本)[日人当質]|(?<=版)[画権元型]|(?<=手)[順段続法配伝話術作形口元書帳]|(?<=年生)ま|(?<=選)[挙手択考出定]|(?<=戦)[争略闘国後前力]|(?<=集)[団合計落中]|(?<=課)[題長税]|(?<=基)[本準地礎金幹盤調]"
    rf"|(?<=句)[読会点]|(?<=派)[遣生手]|(?<=床)[面屋下]|(?<=脚)[本光]|(?<=合)[計格意同金併成体唱わせう]|(?<=限)[定界度りらっ]"
    rf"|(?<=張)[りる]|(?<=層)別|(?<=死)[者亡体傷後因刑])"
)

_FIGURES: Final = {char: value for value, char in enumerate("零一二三四五六七八九")}
_UNITS: Final = {"十": 10, "百": 100, "千": 1000}
# Counters behind numerals in characters; the dictionary knows one 十分 only, which is plenty.
_BEHIND_CHARACTERS: Final = (
    "時間|時(?![代期点計給差速節])|分間(?!隔)|分(?![の裂割析類別担離岐散布目咲丈袖])|人前|人(?![気間物口生類材事格])|年生|年間|年度|年目|年"
    "|か月|ヶ月|カ月|か国|カ国|月|円玉|円|週間|世紀|種類|日間|日目|(?<!一)日(?![本曜々常光程中月])|点(?![一二三四五六七八九零])|足(?![先早飛跳])"
    "|歩(?![合留兵行道調])|[本匹杯冊回個階歳才枚台頭軒泊票話章件曲社周首室]"
)
NUMERAL_AND_COUNTER: Final = re.compile(
    rf"(?<![一二三四五六七八九十百千万億数何幾点])(?!(?<!時)十分(?!間|後|前|待|ほど|程|以|く|お|経|か[かっ]))"
    rf"(?P<numeral>[一二三四五六七八九十百千]{{1,9}})(?P<counter>{_BEHIND_CHARACTERS})"
)
ASKED_AND_COUNTER: Final = re.compile(f"何(?P<counter>{'|'.join(_H)}|階|軒|足)")


def asked_kana(counter: str) -> str:
    """何 before a counter that changes behind it: "ナンボン"."""
    return "ナン" + (_H[counter][2] if counter in _H else {"階": "ガイ", "軒": "ゲン", "足": "ゾク"}[counter])


def in_digits(groups: Mapping[str, str]) -> str:
    """The figures of a match of `MYRIADS`, whose groups are 0 where they are missing."""
    names = ("trillions", "hundred_millions", "myriads", "ones")
    return "".join(groups[name].zfill(4) for name in names).lstrip("0") or "0"


def numeral_value(numeral: str) -> int:
    """A number below ten thousand that is written in characters: 二十四, 三百五."""
    total = ones = 0
    for char in numeral:
        if char in _UNITS:
            total, ones = total + (ones or 1) * _UNITS[char], 0
        else:
            ones = ones * 10 + _FIGURES[char]
    return total + ones


def number_kana(value: int) -> str:
    """A whole number of up to sixteen digits: "センニヒャクサンジューヨン"."""
    if value == 0:
        return _ONES[0]
    words = ""
    for power, name in reversed(list(enumerate(_MYRIADS))):
        group = value // 10_000**power % 10_000
        if group:
            words += _joined(
                _below_myriad(group, lone_thousand="イッセン" if power and group == 1000 else "セン"), name
            )
    return words


def _joined(number: str, name: str) -> str:
    """Only 兆 changes the number before it."""
    return _changed(number, _BEFORE_S) + name if name == "チョー" else number + name


def _below_myriad(number: int, *, lone_thousand: str) -> str:
    thousands, hundreds, tens, ones = number // 1000, number // 100 % 10, number // 10 % 10, number % 10
    words = ""
    if thousands:
        words += lone_thousand if thousands == 1 else _THOUSANDS.get(thousands) or _ONES[thousands] + "セン"
    if hundreds:
        words += _HUNDREDS.get(hundreds) or _ONES[hundreds] + "ヒャク"
    if tens:
        words += ("" if tens == 1 else _ONES[tens]) + "ジュー"
    return words + (_ONES[ones] if ones else "")


def counted_kana(digits: str, counter: str, *, in_month: bool = False, as_part: bool = False) -> str:
    """A number with its counter.

    `in_month` where a month stands before, so that 1日 is the first; `as_part` where the number is no count: the top
    of a fraction, or the class of a school year.
    """
    value = int(digits)
    number = number_kana(value)
    if counter in _BETWEEN:
        return number + _BETWEEN[counter]
    if counter in _DAY_COUNTERS:
        return _day(value, number, first=in_month and counter == "日") + _DAY_COUNTERS[counter]
    if counter in _PEOPLE:
        people = {1: "ヒトリ", 2: "フタリ"}.get(value) or _changed(number, {"ヨン": "ヨ"}) + "ニン"
        return people + _PEOPLE[counter]
    if counter in ("つ", "つ目"):
        return (_THINGS.get(value) or number + "ツ") + ("メ" if counter == "つ目" else "")
    if counter in _NATIVE:
        native = None if as_part else {1: "ヒト", 2: "フタ"}.get(value)
        return (native or number) + _NATIVE[counter]
    if counter in ("歳", "才") and value == 20:
        return "ハタチ"
    if counter in _H:
        return _with_h(number, counter)
    if counter == "月":
        return _changed(number, {"ヨン": "シ", "ナナ": "シチ", "キュー": "ク"}) + "ガツ"
    if counter in _HOURS:
        return ("レー" if value == 0 else _changed(number, _FOUR_AND_NINE)) + _PLAIN[counter]
    return _plain(number, counter)


def _plain(number: str, counter: str) -> str:
    if counter in _K:
        voiced = {"階": "ガイ", "軒": "ゲン", "階建て": "ガイダテ"}.get(counter) if number.endswith("サン") else None
        return _changed(number, _BEFORE_K) + (voiced or _K[counter])
    if counter in _S:
        voiced = "ゾク" if counter == "足" and number.endswith("サン") else None
        return _changed(number, _BEFORE_S) + (voiced or _S[counter])
    if counter in _KILO:
        return _changed(number, {"ロク": "ロッ", "ジュー": "ジュッ", **_HUNDRED}) + _KILO[counter]
    if counter in ("パーセント", "ページ"):
        return _changed(number, _TEN_ONLY) + counter
    return (_changed(number, {"ヨン": "ヨ"}) if counter in _FOUR_AS_YO else number) + _PLAIN[counter]


def _with_h(number: str, counter: str) -> str:
    usual, doubled, behind_three = _H[counter]
    changed = _changed(number, _BEFORE_H)
    if changed != number:
        return changed + doubled
    if number.endswith(("サン", "セン", "マン")):
        return number + behind_three
    return number + (doubled if counter in _FOURTH_AS_P and number.endswith("ヨン") else usual)


def _day(value: int, number: str, *, first: bool) -> str:
    return (
        "ツイタチ"
        if first and value == 1
        else _DAYS.get(value) or _changed(number, {"キュー": "ク", "ナナ": "シチ"}) + "ニチ"
    )


def _changed(number: str, ends: dict[str, str]) -> str:
    """The number with its last word in the form that the counter asks for."""
    for end, form in ends.items():
        if number.endswith(end):
            return number.removesuffix(end) + form
    return number
