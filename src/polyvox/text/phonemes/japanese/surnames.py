"""Surnames that the dictionary takes for other words, where a title or a request shows that they are names."""

import re
from collections.abc import Mapping
from typing import Final

from polyvox.text.phonemes.japanese.heteronyms import HAN

_WRITTEN: Final = (
    "大西:おーにし 大山:おーやま 大平:おーひら 大木:おーき 大内:おーうち 大坂:おーさか 大川:おーかわ "
    "大原:おーはら 大城:おーしろ 大場:おーば 大森:おーもり 大前:おーまえ 大神:おーがみ 大田:おーた 大東:だいとー "
    "大泉:おーいずみ 大倉:おーくら 大宮:おーみや 大門:だいもん 大月:おーつき 大浦:おーうら 大嶋:おーしま "
    "大熊:おーくま 大畑:おーはた 小倉:おぐら 小谷:こたに 小山:こやま 小田:おだ 小原:おばら 小出:こいで "
    "小畑:おばた 小宮:こみや 小室:こむろ 小沢:おざわ 小澤:おざわ 小島:こじま 小嶋:こじま 小西:こにし "
    "小柳:こやなぎ 小森:こもり 小菅:こすげ 小暮:こぐれ 小松原:こまつばら 小木曽:おぎそ 小幡:おばた "
    "小長谷:こながや 小高:おだか 小峰:こみね 小寺:こでら 小津:おず 小関:おぜき 小野田:おのだ 小早川:こばやかわ "
    "小石:こいし 小竹:こたけ 小平:こだいら 小河:おがわ 小城:こじょー 西:にし 西田:にしだ 西沢:にしざわ "
    "西澤:にしざわ 西本:にしもと 西原:にしはら 西尾:にしお 西出:にしで 西口:にしぐち 西脇:にしわき 西浦:にしうら "
    "西島:にしじま 西谷:にしたに 西平:にしひら 西森:にしもり 西方:にしかた 西条:にしじょー 中西:なかにし "
    "中尾:なかお 中本:なかもと 中原:なかはら 中条:なかじょー 中根:なかね 森本:もりもと 岸本:きしもと "
    "山本:やまもと 岡本:おかもと 宮本:みやもと 松本:まつもと 坂本:さかもと 橋本:はしもと 根本:ねもと "
    "杉本:すぎもと 榎本:えのもと 藤本:ふじもと 川本:かわもと 谷本:たにもと 吉本:よしもと 塚本:つかもと "
    "北本:きたもと 秋本:あきもと 福本:ふくもと 木本:きもと 倉本:くらもと 寺本:てらもと 竹本:たけもと "
    "梶本:かじもと 竹田:たけだ 新田:にった 長田:おさだ 白石:しらいし 飯田:いいだ 萩原:はぎわら 木下:きのした "
    "三上:みかみ 平野:ひらの 山内:やまうち 本間:ほんま 平山:ひらやま 平田:ひらた 上村:うえむら 上原:うえはら "
    "上条:かみじょー 下田:しもだ 下村:しもむら 高坂:こーさか 金城:きんじょー 金井:かない 金田:かねだ "
    "金沢:かなざわ 金本:かねもと 生田:いくた 生方:うぶかた 相田:あいだ 相川:あいかわ 東:ひがし 東野:ひがしの "
    "東田:ひがしだ 南:みなみ 南野:みなみの 北野:きたの 北原:きたはら 北条:ほーじょー 原:はら 堀:ほり 岡:おか "
    "星:ほし 関:せき 辻:つじ 谷:たに 土井:どい 水上:みずかみ 国分:こくぶ 一色:いっしき 日下:くさか "
    "日下部:くさかべ 月岡:つきおか 百瀬:ももせ 千田:ちだ 万代:ばんだい 門田:かどた 門脇:かどわき 立石:たていし "
    "立川:たちかわ 米田:よねだ 米山:よねやま 米沢:よねざわ 作田:さくた 有田:ありた 有馬:ありま 井手:いで "
    "手塚:てずか 海野:うんの 甲斐:かい 羽田:はだ 熊谷:くまがい 成瀬:なるせ 田部井:たべい 服部:はっとり "
    "渡部:わたなべ 阿部:あべ 安部:あべ 岡部:おかべ 磯部:いそべ 矢部:やべ 園部:そのべ 牧:まき"
)
_TITLE: Final = (
    "さん(?![々昧])|様|さま|氏|君|くん|ちゃん|先生|先輩|(?:副|元|前|新)?(?:部長|課長|社長|係長|次長|室長|所長|店長|会長|院長|校長|市長"
    "|町長|村長|知事|議員|首相|大臣|教授|准教授|監督|選手|主任|専務|常務|医師|弁護士|記者|容疑者|被告|投手|捕手|コーチ|リーダー)"
)
_ASKED: Final = (
    "まで(?:、|,)?(?:[ごお](?!越|出)|連絡|問|電話|メール|申|一報|知らせ|相談|気軽|返信|提出|内線)|と申|(?:宛|あて)(?:に|て|の|へ)"
    "|より(?:[ごお]|折り返し)|が(?:担当|対応|[ご伺]|お(?:伺|話|答|送))|(?:です|でございます)(?=[。.!,、]|$|が)"
)
_NAMED: Final = re.compile(f"(?:{_TITLE})")
_NAMED_OR_ASKED: Final = re.compile(f"(?:{_TITLE}|{_ASKED})")
_IN_CHARGE: Final = re.compile("(?:担当|部|課|係|室|店|科|社)(?:者)?(?:の|は|:|、|,| )?\\Z")
_REACH: Final = 6
_HAN: Final = re.compile(f"[{HAN}]")


def _table() -> dict[str, tuple[tuple[str, str], ...]]:
    """Surnames and their sounds by their first characters, the longest first."""
    pairs = [(name, sound) for name, _, sound in (entry.partition(":") for entry in _WRITTEN.split())]
    firsts = {name[0] for name, _ in pairs}
    ordered = sorted(pairs, key=lambda pair: -len(pair[0]))
    return {first: tuple(pair for pair in ordered if pair[0][0] == first) for first in firsts}


SURNAMES: Final[Mapping[str, tuple[tuple[str, str], ...]]] = _table()


def surname_at(text: str, place: int) -> tuple[str, str] | None:
    """The surname that stands at a place, and its sound."""
    for name, sound in SURNAMES[text[place]]:
        if text.startswith(name, place) and _is_name(text, place, place + len(name)):
            return name, sound
    return None


def _is_name(text: str, start: int, end: int) -> bool:
    """Return whether a title follows, or, behind a department, words as of someone who is to be asked."""
    in_charge = _IN_CHARGE.search(text, max(0, start - _REACH), start) is not None
    if not in_charge and _HAN.match(text, start - 1) and start:
        return False
    return (_NAMED_OR_ASKED if in_charge else _NAMED).match(text, end) is not None
