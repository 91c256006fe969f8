"""Two as a rank, which is èr, or as a count, which is liǎng, before words that are measures of both."""

import re
from typing import Final

from polyvox.text.tracked import TrackedText

_TWO: Final = r"(?<![\d.,/:~～–-])2"
_SIGN: Final = re.compile("2[段排档挡级栋层类座格年次本元人把周项部组道股环幢台站下]")
# Grades of players and of powdered milk, whose words stand somewhere in the clause.
_GRADED: Final = re.compile(
    "奶粉|米粉|辅食|配方|宝宝|[个满]月|围棋|象棋|棋手|棋力|黑带|跆拳|柔道|剑道|业余|职业|专业段|升段|定段"
)
_GRADE: Final = re.compile(_TWO + "(?=段)(?<![分剪写抄背录共这那前后拍有成发删改加两读听走唱跳演跑路了的各]2)")
# What classes, pairs of equations and so on are of, behind their own words.
_CLASSED: Final = "水|地区|卷|卡|户|账户|疫苗|医疗|器械|标准|工伤|城市|区|低保|执照|费用"
_COLLEGES: Final = "院校|线|大学|学校|毕业|以上|批|及以"
_SECONDARY: Final = (
    "元|方(?!案|面|式|法)|函数|项|型|开发|曲线|方程|创作|供水|污染|感染|加工|消费|电池|回流|确认|验证|世界|利用|根式"
    "|装修|转运|搬运|回路"
)
_RANKS: Final = re.compile(
    # Rows and seats, and what lies on a road.
    rf"{_TWO}(?=排(?:\d|[左右中]|靠|[,，。 ]\d{{1,3}}[座号]|$))"
    rf"|(?<=[第区厅层楼])2(?=排)|(?<=[在坐])2(?=排(?:[,，。的]|$))|(?<=排)2(?=座)"
    rf"|(?<=[路街道])2(?=段)|{_TWO}(?=段(?:奶粉|配方|米粉|奶(?!茶)))"
    # Forms at school, and classes of water, goods and illness.
    rf"|{_TWO}(?=年级|类(?:{_CLASSED})|本(?:{_COLLEGES})|次(?:{_SECONDARY}))"
    rf"|{_TWO}(?=元(?:一次|二次|函数|论|方程)|人(?:转|台|世界)|把手(?![艺工])|周目|项(?:式|分布)|道贩|股东|台戏)"
    rf"|{_TWO}(?=组(?:\d号|[组长]|的?[同成]|负责))|(?<=[务售场发术产营监线造])2(?=[部组区])"
)
_PILED: Final = (
    "小|纱布|口罩|膜|意思|含义|意义|保护|皮|奶油|衣服|棉|玻璃|抽屉|[书货]架|布|毛巾|被|高低|蛋糕|包装|隔板|楼梯|油漆"
)
_STEPS: Final = r"(?!级(?:能效|风|响应|预警|甲等|警告|高血压|心功能|市场))"
_COUNTS: Final = re.compile(
    # So many steps up or down.
    r"(?:(?<=[升降跳差分涨掉跨减提共]了)|(?<=[升降跳差分共涨掉跨减提])|(?<=有)(?=2[档段层栋格]))2(?=[级档挡格段层栋])"
    + _STEPS
    + r"|(?<=[这那前后各每高低盖建买造加叠隔铺穿套戴贴裹包缠涂刷抹垫糊])2(?=[栋幢层格档])(?!层的)"
    r"|(?<=[盖建买铺加套裹]了)2(?=[栋幢层])"
    rf"|{_TWO}(?=[栋幢](?:楼(?![下上道前后门里栋口顶底的])|别墅|房|建筑|大楼|厂房|[教宿公住])|格(?![式局外])"
    rf"|档(?:可调|调节|变速|综艺|节目|风|温|选|加热|位可)|级台阶|站(?![台点长内房位岗])|层(?:{_PILED}))"
    r"|(?<=[按敲点摇跳拍打晃踩拉推戳抖响滑])2(?=下(?![午载周月班]))"
)


def read(text: TrackedText) -> TrackedText:
    """Lone twos before the words that they may count or rank, where the words around tell."""
    if _SIGN.search(text.text) is None:
        return text
    if "2段" in text.text and _GRADED.search(text.text):
        text = text.sub(_GRADE, "二")
    return text.sub(_RANKS, "二").sub(_COUNTS, "两")
