"""Digits that are typed, dialled or addressed: answers and passwords, ports, rooms and the numbers of services."""

import re
from typing import Final

from polyvox.text.normalize.chinese.numbers import dialled, spelled
from polyvox.text.tracked import TrackedText


def _behind(words: str) -> str:
    """A pattern for the place behind any of the words, each of which may have a class in it."""
    return "(?:" + "|".join(f"(?<={word})" for word in words.split()) + ")"


_MEASURED: Final = (
    r"(?!\d|[.,:]\d|[-–~～/]\d|\+| ?(?:[年月日个人名位元块分折次下斤件场米天岁万千百亿吨克升度倍条张份]"
    "|[行字笔户套家间台辆只根颗粒页题道项种亩平栋层级座本瓶箱袋盒包株棵头匹步圈组例起宗秒时部多余%℃]"
    "|[KMGTkmg][Bb]?(?![A-Za-z])"
    "|公[里斤顷]|小时|用户|客户|员工|美元|平方|立方|字节|比特|点(?!击)|毫|厘|期(?!间)|左右|以[上下内]))"
)
_ROUND: Final = r"(?!\d*00(?!\d))"

# What the digits are for, and the word that has them typed; what stands between may be a mark.
_TYPED_SIGN: Final = re.compile(r"[填写输入复送辑信按令码钥号铃禁案位道][是为填写成按用改设就“\"': ]{0,4}\d{3}")
_LABEL: Final = _behind(
    "[口指]令 暗号 尾号 [账帐]号 区号 工号 学号 代号 [密证请取编分验换别]码 频道 密钥 门铃 门禁 [后前末尾][3-8]位"
)
_VERB: Final = _behind("填 填写 填入 输入 键入 回复 短信 发送 编辑")
_TYPED: Final = re.compile(
    r"(?=[\d就一还写是为设改填输按用了:“\"' ])"
    rf"(?:{_LABEL}(?P<label>(?:就是|一般是|还是|写?[是为]|[设改][为成]|填写?|输入?|[写按用]|[:“\"' ]){{0,2}}[:“\"' ]?)"
    rf"|{_VERB}(?P<verb>[了:“\"' ]{{0,2}})(?!\d{{2}}0(?!\d)){_ROUND}"
    rf"|(?<=答案)(?P<answer>(?:填写?|写|是|为|[:“\"' ]){{0,2}})(?=\d{{4}}){_ROUND}"
    rf"|(?<![运传灌])(?<=输)(?P<struck>){_ROUND}"
    r"|(?<=按)(?P<pressed>)(?=\d{3,8}(?:键|[#*]|再按|解锁|开[门锁]|呼叫|接通)))"
    rf"(?P<digits>\d{{3,8}})(?! \d)(?:{_MEASURED}|(?=[到至]1(?:00|06|2)\d))"
)
# From port to port or to a host, where a word of the trade stands near or both are the same.
_PORTS_SIGN: Final = re.compile(r"\d:[\da-z]|[a-z]:[\dals]|(?:\A|[\s`“\"(听定在问到向至用占成为]):\d")
_PORTS: Final = re.compile(
    r"(?P<option>(?<![A-Za-z0-9-])-p ?)?(?<![\d.,])"
    r"(?P<outer>\d{2,5}):(?P<inner>\d{2,5})(?P<protocol>/(?:tcp|udp))?(?![\d:]|[.,]\d)",
    re.IGNORECASE,
)
_TRADE: Final = re.compile(
    "端口|防火墙|放行|反代|映射|转发|容器|镜像|监听|暴露|docker|podman|compose|nginx|kubectl|forward|ports|(?<![A-Za-z])ssh"
    "|杠 p |-p ",
    re.IGNORECASE,
)
_TO_HOST: Final = re.compile(r"(?<![\d:.])(?P<port>\d{2,5}):(?=[a-z][a-z0-9.-]*(?: 冒号|:\d)|\d{1,3}(?:\.\d{1,3}){3}:)")
# The port of a program behind its name, or behind the option or the variable that sets it.
_SET_SIGN: Final = re.compile(
    r"(?:杠 [pP]|server|http|port) \d{2}|PORT|[A-Za-z](?:默认|监听|占用|跑在|[是用走在])\d{4}"
)
_PROGRAM: Final = _behind("SQL Redis ES Kafka [Nn]ginx Mongo MongoDB Tomcat Vite Flask Django SSH HTTP HTTPS")
_SET_PORT: Final = re.compile(
    r"(?=[\d =是为:改设默监占跑用走在])(?:(?<=杠 [pP] )|(?<=server )|(?<=http )|(?<=port )"
    r"|(?P<name>(?<=PORT)(?: ?= ?|[是为:]|[改设][成为]))"
    rf"|(?P<program>{_PROGRAM}(?:默认|监听|占用|跑在|[是用走在]))"
    r"|(?P<place>(?<=[A-Za-z])(?:监听|占用|跑?在)(?=\d{4,5}(?:[,.。上]|$))))"
    rf"(?P<port>\d{{2,5}})(?![\d:]|[.,]\d){_MEASURED}"
)
_KNOWN_PORT: Final = re.compile(
    r"(?<![\dA-Za-z.,:])(?:443|3000|3001|3307|5000|5173|5432|6443|8000|8001|8081|8443|8888|9000|9090|9092|9200)"
    + _MEASURED
)
_IMAGE: Final = re.compile(
    r"(?<![A-Za-z0-9@./:])(?P<host>[a-z][a-z0-9-]*):(?P<tag>\d{1,2}(?:\.\d{1,3}){0,2}(?![\d:])|(?:latest|alpine|slim)\b)"
)
_REVISION: Final = re.compile(r"(?<=HEAD)(?P<sign>[~^])(?P<steps>\d{1,3})")
_HOST_PORT: Final = re.compile(
    r"(?<![A-Za-z0-9@./:])(?P<host>(?!(?:id|no|tel|qq|vx|wx|pin|code)\b)[a-z][a-z0-9-]*):(?P<port>\d{4,5})(?![\d:]|[.,]\d)"
)
_BARE_PORT: Final = re.compile(
    r"(?:\A|(?<=[\s`“\"(])|(?<=监听)|(?<=绑定)|(?<=访问)|(?<=[在到向至用占成为])):(?P<port>\d{4,5}|80|443)(?![\d:]|[.,]\d)"
)

# A room or a shop behind the name of its house.
_HOUSE_SIGN: Final = re.compile(r"[塔区厦场心寓期楼店馆际园苑城里汇士隆街泰达局]\d{3}")
_HOUSE: Final = _behind(
    "塔 [A-Z0-9一二三四五六七八九十东西南北]区 大厦 广场 中心 公寓 [0-9一二三四五六]期 写字楼 酒店 宾馆 国际"
    " [花家公]园 小区 [嘉雅丽豪]苑 商城 新城 [配裙塔副主附]楼"
    " [里纷象方茂]城 太古[里汇] 来福士 恒隆 天街 万象汇 银泰 万达 [批政监]局"
)
_ROOM: Final = re.compile(rf"(?=\d){_HOUSE}{_ROUND}(?P<digits>\d{{3,5}})(?!号){_MEASURED}(?!强)")

# Numbers to call for help and of services, behind a word for what they help with or in a row of their like.
_HELP: Final = "1(?:10|14|19|20|22)"
_SERVICE_SIGN: Final = re.compile(
    rf"(?<!\d)(?:{_HELP}|1(?:00|18|2\d)\d\d|9[56]\d{{3}})(?!\d)|电话|内线|分机|总机|打[物前保]"
)
_HELPS: Final = _behind(
    "火灾 医疗 交通 治安 事故 故障 查号 查号台 报警 急救 火警 匪警 消防 救护 救护车"
    " [打拨叫] 热线 客服 电话 投诉 咨询 交警 挂号"
)
_SERVES: Final = _behind(
    "客服 热线 电话 [打拨叫] 致电 联通 广电 电信 移动 短信 查询 投诉 咨询 举报 报修 援助 水务 燃气 供电 电力 供热 热力"
    " 物业 公交 地铁 铁路 邮政 税务 医保 社保 银行 [工农中建交招]行 城管 环保 高速 气象"
)
_SERVICE: Final = re.compile(
    rf"(?=[\d是为:(“\" ])(?<![\d.])(?:{_HELPS}[是为:(“\" ]{{0,2}}{_HELP}{_MEASURED}"
    rf"|{_SERVES}[是为:(“\" ]{{0,2}}(?:100(?:00|10|86|50|99)|1(?:18|2\d)\d\d|9[56]\d{{3}}){_MEASURED}"
    rf"|(?<=[\u4e00-\u9fff])(?<![第约共达近有到至为计])10010{_MEASURED}"
    r"|(?:(?<=电话)|(?<=内线)|(?<=分机)|(?<=打物业)|(?<=打前台)|(?<=总机)|(?<=打保安))"
    r"[是为: ]{0,2}\d{3,8}(?![- ]\d| ?\*)"
    rf"{_MEASURED}|(?<=[\u4e00-\u9fff, ])(?<![约共达近有到至为计增超了数量赞额是上价])(?<!\d, )"
    rf"12(?:1(?:10|17|19|22|23)|3\d\d){_MEASURED}"
    r"|(?<![\d.])12123(?=已|[Aa]|上(?!涨|升)|可|查|平台)"
    r"|(?<=[到至])100(?:01|10|00)(?=查|办|即可|退订|开通|订)"
    rf"|{_HELP}(?=查号|挂号|号码百事通|负责|赶到|到场|出动|接线|平台)"
    rf"|{_HELP}(?:(?:, |和|或|及|与|/){_HELP}){{2,}}{_MEASURED}|(?:(?<=和)|(?<=或))122(?=[,.。!?]|$))"
)
_DIALLED_CODE: Final = re.compile(r"(?:(?<=打)|(?<=拨)|(?<=电信)|(?<=客服))10000(?=号)")
_DIGITS: Final = re.compile(r"\d+")
_REVISIONS: Final = {"~": "波浪号", "^": "尖角号"}
_LONG_PORT: Final = 3
_NEAR: Final = 40


def read(text: TrackedText) -> TrackedText:
    """Ports, rooms and what is typed, digit by digit."""
    if ":" in text.text and _PORTS_SIGN.search(text.text):
        text = text.sub(_PORTS, _ports).sub(_TO_HOST, lambda match: f"{spelled(match['port'])} 冒号 ")
        text = text.sub(_IMAGE, _image).sub(_HOST_PORT, lambda match: f"{match['host']} 冒号 {spelled(match['port'])}")
        text = text.sub(_BARE_PORT, lambda match: f" 冒号 {spelled(match['port'])}")
    if _SET_SIGN.search(text.text):
        text = text.sub(_SET_PORT, _set_port)
    if _KNOWN_PORT.search(text.text) and _TRADE.search(text.text):
        text = text.sub(_KNOWN_PORT, lambda match: spelled(match.group()))
    if "HEAD" in text.text:
        text = text.sub(_REVISION, lambda match: f" {_REVISIONS[match['sign']]} {match['steps']}")
    if _TYPED_SIGN.search(text.text):
        text = text.sub(_TYPED, _typed)
    if _HOUSE_SIGN.search(text.text):
        text = text.sub(_ROOM, lambda match: spelled(match["digits"]))
    return text


def read_services(text: TrackedText) -> TrackedText:
    """The numbers of emergency and other services."""
    if _SERVICE_SIGN.search(text.text) is None:
        return text
    return text.sub(_SERVICE, lambda match: _DIGITS.sub(_dialled, match.group())).sub(_DIALLED_CODE, _dialled)


def _dialled(match: re.Match[str]) -> str:
    return dialled(match.group())


def _typed(match: re.Match[str]) -> str:
    before = next(match[name] for name in ("label", "verb", "answer", "struck", "pressed") if match[name] is not None)
    return before + spelled(match["digits"])


def _ports(match: re.Match[str]) -> str | None:
    """Two ports; None for a ratio, points or a time."""
    outer, inner = match["outer"], match["inner"]
    short = len(outer) < _LONG_PORT and len(inner) < _LONG_PORT
    if short and not (match["option"] or match.string.endswith("杠 p ", 0, match.start())):
        return None
    if (short or outer != inner) and not _of_trade(match):
        return None
    protocol = f" {match['protocol'][1:].upper()}" if match["protocol"] else ""
    option = "杠 p " if match["option"] else ""
    return f"{option}{spelled(outer)} 冒号 {spelled(inner)}{protocol}"


def _set_port(match: re.Match[str]) -> str:
    return (match["name"] or match["program"] or match["place"] or "") + spelled(match["port"])


def _image(match: re.Match[str]) -> str | None:
    """An image of a container and its tag; None where no word of the trade is near."""
    if not _of_trade(match):
        return None
    return f"{match['host']} 冒号 {match['tag']}"


def _of_trade(match: re.Match[str]) -> bool:
    """Return whether a word of those who run servers stands near."""
    return _TRADE.search(match.string, max(0, match.start() - _NEAR), match.end() + _NEAR) is not None
