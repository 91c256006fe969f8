"""Given names that the dictionary takes for other words; behind a surname they are names."""

from collections.abc import Mapping, Sequence
from typing import Final

_WRITTEN: Final = (
    "佳浩:よしひろ 佳純:かすみ 健人:けんと 健洋:たけひろ 優真:ゆーま 光輝:こーき 友子:ともこ 友裕:ともひろ "
    "和真:かずま 壮亮:そーすけ 大志:たいし 大悟:だいご 将暉:まさき 尊:たける 希実:のぞみ 希美:のぞみ 幸輝:こーき "
    "康輝:こーき 弘輝:こーき 彩艶:ざいおん 彰悟:しょーご 律:りつ 心春:こはる 心結:みゆ 怜央:れお 恋:れん "
    "悠人:ゆーと 悠仁:ひさひと 悠依:ゆい 悠希:ゆーき 悠生:ゆーき 愛莉:あいり 拓真:たくま 敬斗:けーと 文雄:ふみお "
    "新:あらた 昌磨:しょーま 有紀:ゆき 望:のぞみ 架純:かすみ 榛花:はるか 樹:いつき 武尊:たける 歩:あゆむ "
    "歩夢:あゆむ 毅:つよし 沙希:さき 淑子:よしこ 淳:じゅん 淳也:じゅんや 滉:こー 滉大:こーだい 潤人:じゅんと "
    "玲央:れお 璃花子:りかこ 環奈:かんな 碧:あお 礼:れー 祥秀:よしひで 紗理那:さりな 結翔:ゆいと 綺世:あやせ "
    "美宇:みう 美桜:みお 美羽:みう 美誠:みま 義之:よしゆき 翔征:しょーせー 翔真:しょーま 聖也:せーや 聡太:そーた "
    "航太:こーた 航輝:こーき 良子:よしこ 芽依:めい 芽生:めい 莉央:りお 蒼:あお 賢人:けんと 里帆:りほ "
    "陽向:ひなた 陽翔:はると 陽花:はるか 陽菜:ひな 陽葵:ひまり 隼:はやと 雄斗:ゆーと 雄星:ゆーせー 颯:はやて "
    "颯介:そーすけ 颯太:そーた 麗央:れお"
)
_SOUNDS: Final[Mapping[str, str]] = dict(entry.split(":") for entry in _WRITTEN.split())
_LONGEST: Final = 4


def given_name(surfaces: Sequence[str]) -> tuple[int, str] | None:
    """The number of words behind a surname that are one given name, and its sound; the longest decides."""
    found = None
    for count in range(1, min(_LONGEST, len(surfaces)) + 1):
        sound = _SOUNDS.get("".join(surfaces[:count]))
        found = (count, sound) if sound else found
    return found
