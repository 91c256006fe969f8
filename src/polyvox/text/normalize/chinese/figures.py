"""Plain figures: fractions, ratios, ranges and how many; and the signs of arithmetic."""

import math
import re
import unicodedata
from typing import Final

from polyvox.text.normalize.chinese import ranks, scores
from polyvox.text.normalize.chinese.amounts import until
from polyvox.text.normalize.chinese.numbers import (
    DASH,
    NUMBER,
    NUMBER_END,
    NUMBER_START,
    cardinal,
    counted,
    number,
    spelled,
)
from polyvox.text.tracked import TrackedText

_FRACTION: Final = re.compile(
    r"(?<![\d./])(?P<minus>(?<![\dA-Za-z)²³%零一二两三四五六七八九十百千万])[-−](?=\d))?(?:(?P<whole>\d{1,4})又)?(?P<top>\d{1,4})/(?P<bottom>\d{1,4})(?![\d/]|"
    r"\.\d)"
)
_SPAN_SIGN: Final = re.compile("[-–—~～至到]")
_DIGIT: Final = re.compile("[0-9⁰¹⁴-⁹]")
_RATIO_SIGN: Final = re.compile("∶")
_RATIO: Final = re.compile(
    rf"{NUMBER_START}{NUMBER}(?::{NUMBER})++{NUMBER_END}(?! ?[份个杯瓶盒碗件台只双支条张袋包箱斤盘])"
)
_RANGE: Final = re.compile(rf"{NUMBER_START}({NUMBER})([%个]?){DASH}({NUMBER}){NUMBER_END}")
# From so much to so much, the measure word behind both.
_UNTIL: Final = re.compile(
    r"(?=[ ~～–—-])(?:(?<=\d[十百千万亿元块米斤克吨升岁级层楼页章节条集期届度个人件名倍折])"
    r"|(?<=[零一二三四五六七八九十百千][万亿])|(?<=[\d十百千]万亿)"
    r"|(?<=\d(?:公里|公斤|厘米|毫米|小时|分钟|美元|万元|亿元|百元|千克|令吉)))"
    r" ?[-–—~～] ?(?=第?[\d一二两三四五六七八九])"
)
_DISCOUNT: Final = re.compile(r"(?:(?<=满\d{2})|(?<=满\d{3})|(?<=满\d{4}))-(?=\d)")
# Lines added and taken away: +1,284 −37.
_CHANGES: Final = re.compile(
    r"(?<![A-Za-z0-9)])(?P<added>\+ ?\d{1,7}(?:,\d{3}){0,2}(?:行|个文件)?)(?: ?[/,，、] ?|"
    r" )[-–−] ?(?=\d{1,7}(?:[,，]\d{3}){0,2}(?![\d.%℃°]))"
)
_TRUE_MINUS: Final = re.compile(r"(?<=\d) −(?=\d{1,9}(?![\d.]* ?[+*/×÷=−]))")
# So much less than before: 比9月-40.
_LESS_THAN: Final = re.compile(
    r"([比较](?:\d{1,2}月份?|上[个]?[月周期次]|昨[天日]|前一?[天日]|去年|同期)) ?[-−](?=\d)(?!\d{1,2}[月日号周])"
)
# A letter below nought, at the start of one side of an equation: y=-x².
_NEGATIVE_LETTER: Final = re.compile("(?<=[=(<>≤≥]) ?[-−](?=[a-zπ√](?![A-Za-z]))")
_BUILDING: Final = re.compile(r"(?<![\d*#])(\d{1,4})#(?:(?![\dA-Za-z#*])|(?<=(?<!\d)9[258]#)(?=\d\.\d))")
_POWER: Final = re.compile(
    r"(?<![A-Za-z\d.])(?P<base>\d{1,4}|[A-Za-z])(?:\^(?P<raised>-?\d{1,3}|[a-z])(?![\dA-Za-z])|"
    r"(?P<above>⁻?[⁰¹²³⁴-⁹]{2,3}|⁻[¹²³⁴-⁹]|[⁴-⁹]|ⁿ))"
)
_RAISED_BY_STARS: Final = re.compile(
    r"(?<=[A-Za-z\d)\]]) ?(?<!\*)\*\*(?!\*) ?(?=-?\d{1,3}(?![\d*])|[a-z](?![A-Za-z*]))"
)
_TIMES_TEN: Final = re.compile("(?<=×10)[²³](?![⁰¹²³⁴-⁹])")
# Letters in proportion, before the figures of it: a:b=3:4.
_LETTER_RATIO: Final = re.compile(
    r"(?<![A-Za-z0-9:])[A-Za-z]{1,2}(?::[A-Za-z]{1,2})+(?= ?= ?\d)"
    r"|(?<=求)[A-Za-z]{1,2}(?::[A-Za-z]{1,2})+(?![A-Za-z])"
    # Parts of a mixture: 生抽:老抽=2:1.
    r"|(?<![\u4e00-\u9fff:])[\u4e00-\u9fff]{1,6}(?::[\u4e00-\u9fff]{1,6})+"
    r"(?= ?[=为是约按]{1,2} ?\d{1,4}(?:\.\d{1,2})?:\d)"
)
_LENGTHS: Final = frozenset("米克升秒瓦焦伏帕毫厘千公")
# Points of an examination out of so many: 数学118/150.
_MARKS: Final = re.compile(
    r"(?=[\d是为了得考:： ])(?:(?<=语文)|(?<=[数科理化大]学)|(?<=[英日俄法德]语)|(?<=物理)|(?<=地理)|(?<=生物)"
    r"|(?<=历史)|(?<=政治)|(?<=[理文]综)|(?<=[听口]力)|(?<=阅读)|(?<=写作)|(?<=作文)|(?<=总分)|"
    r"(?<=成绩)|(?<=得分)|(?<=考了))"
    r"(?P<gap>[是为了得考:： ]{0,2})(?P<points>\d{1,3}(?:\.\d)?)/(?P<full>\d{2,3})(?:分)?(?![\d/.])"
)
# How tall and how heavy somebody is: 165/98斤.
_BODY: Final = re.compile(r"(?<![\d./])(1[4-9]\d|20\d)/([3-9]\d|1\d\d)(?![\d/%]|\.\d)")
_OF_BODY: Final = re.compile("身高|体重|/\\d{2,3}斤|穿(?:[SMLX]|什么|多大)|净身")
_RATING: Final = re.compile(r"(?<=分)(?P<gap>[是为:： ]{0,2})(?P<top>\d{1,2}\.\d{1,2})/(?P<bottom>5|10|100)(?![\d/.])")
_DECIMALS: Final = re.compile(r"(?:(?<=\d\.\d)|(?<=\d\.\d\d))/(?=\d{1,3}(?:\.\d)?(?![\d/]))")
# The one and the other of several that are numbered, or one of so many: 2/10号线, 3/12期.
_NUMBERED: Final = re.compile(
    r"(?<![\d./-])(?<!\d:)(\d{1,3})/(\d{1,3})(?=号[线楼院厅馆桌机]|[栋幢班层]|单元|期|年级|月(?![薪均供])|路(?:公交|车))"
    r"|(?<=第)(\d{1,3})/(\d{1,3})(?=[章节课页讲集单期季回题条])"
)
_STARS: Final = re.compile("(?<=\\d)[★☆⭐](?![★☆⭐])")
_SHARP: Final = re.compile("(?<![A-Za-z])([CF])#")
_VULGAR: Final = re.compile("(?P<whole>\\d{0,3})(?P<sign>[½¼¾⅓⅔⅕⅛])")
_HEIGHT: Final = re.compile(
    r"(?<=\d米)\d{2}(?![\d年月个人多余秒分]|[.:]\d)|"
    r"(?<=\d秒)\d{2,3}(?![\d个人名位次下张帧米圈转万千百分公毫步]|[.:]\d)"
)
# Laughter, love, and what is nearly new in hundredths: 2333, 1314, 95新.
_CHEER: Final = re.compile(
    r"(?:\A|(?<=[,!?。… \n太真哈啊]))([2-9])\1{2,}(?=\Z|[,!?。…~\n啊])"
    r"|(?<![\dA-Za-z.,¥￥$=+-])(?:6{3,}|23{2,})(?=[,!?。.…~ \n啊哈笑]|老铁|太好|\Z)(?![.,]\d)"
    r"|(?<!\d)520(?=快乐|表白|情人)|(?<=爱你)1314(?!\d)"
    r"|(?<![\d.,])(?:5201314|520|521|1314|886|88|666)(?=就?是(?:我爱|一生|拜拜|再见)|代表|谐音|寓意)"
    r"|(?<![\d.,])(?:8[05]|9\d)(?=新(?:[,，。. 的带成出]|$))"
)
_ROUND: Final = {"100": "百", "1000": "千"}
# Three numbers and more of one kind: 30/60/90.
_ROW: Final = re.compile(r"(?<![\d./A-Za-z-])\d{1,4}(?:\.\d)?(?:/\d{1,4}(?:\.\d)?){2,}(?![\d/A-Za-z]|\.\d)")
# Neighbouring editions of a program or a device: Windows 10/11.
_EDITIONS: Final = re.compile(r"(?<=[A-Za-z])(?P<gap> ?)(?P<first>\d{1,4})/(?P<last>\d{1,4})(?![\d/A-Za-z%]|\.\d)")
# One word or another, of which one at least is Chinese.
_CHOICE: Final = re.compile(
    "(?<=[\u4e00-\u9fff)”]) ?/ ?(?=[\u4e00-\u9fffA-Za-z(“])|(?<=[A-Za-z]) ?/ ?(?=[\u4e00-\u9fff])"
)
_EXPONENT: Final = re.compile(r"[eE][+-]")
_SCIENTIFIC: Final = re.compile(rf"{NUMBER_START}({NUMBER})[eE]([+-])(\d{{1,3}})(?![\dA-Za-z.])")
_ALWAYS: Final = re.compile(r"(?<![\d/])(?:24 ?/ ?7|7 ?/ ?24)(?![\d/]|小时)")
_ROMAN: Final = re.compile(
    r"(?<=[\u4e00-\u9fff]) ?(?P<title>I{2,3}|IV|VI{1,3}|IX|XI{1,3}|XI?V|XVI{1,3})(?![A-Za-z0-9+])"
    r"|(?<![A-Za-z0-9])(?P<grade>I{1,3}|IV|V(?!型)|VI{1,3}|IX)(?=[型期级类度]|卷(?!起))"
    # Kings, wars and games by their English names: Louis XIV, WWII, Final Fantasy VII.
    r"|(?:(?<=[A-Za-z]{2} )|(?<=\bWW))(?P<behind>I{2,3}|IV|VI{1,3}|IX|XI{1,3}|XI?V|XVI{1,3})(?![A-Za-z0-9+])"
)
_ROMANS: Final = {
    numeral: cardinal(str(value))
    for value, numeral in enumerate("I II III IV V VI VII VIII IX X XI XII XIII XIV XV XVI XVII XVIII".split(), start=1)
}
_HALF_LIFE: Final = re.compile(r"(?<![A-Za-z])[tT](?=1/2(?!\d))")
_FORMULA_SIGN: Final = re.compile("[-−^ⁿ⁰¹²³⁴-⁹⁻>›#½¼¾⅓⅔⅕⅛IVX\u2160-\u216b]")
_SINGLE_ROMAN: Final = re.compile("[\u2160-\u216b]")
# A dash between the parts of a heading: 李雷-3年.
_HEADING: Final = re.compile(
    "(?<![零一二两三四五六七八九十百千万亿])(?<=[\u4e00-\u9fff])-(?=\\d{1,4}(?:[年班号楼室栋组期章节课岁级层]|单元))"
)
_NEGATIVE: Final = re.compile(r"(?<![\dA-Za-z)零二三四五六七八九])-(?=\d)")
_MEASURE_WORD: Final = (
    "(?:[个位人名条张本天周年次遍种件家部台辆岁点倍块元米斤吨升杯碗瓶座堵场支片群批对双套头匹棵朵根间所篇首句段页滴颗粒把顶艘架轮届项类"
    "股份秒万亿千百金银铜胜勺匙盒包袋箱桶罐盘串壶趟回顿道节局球负平步圈口幅枚册卷集户亩桌组排锅锭波夜笔束株盏捆幢桩]"
    "|代(?=人|同堂|之间|领导)|[款针剂](?![项对头量])|贴(?!吧)|丸|扇(?!区)|堆(?!栈)|叠(?!加)|"
    "尊(?!重)|宗(?!旨)|[票餐题拳](?![价厅目击])|毛(?!利|巾|衣)|角(?!色|度|落|钱?形)"
    "|只(?![有是要能剩需会用见])|大(?=[\\d一两三]小|人(?=\\d))"
    "|电(?=[\\d一两]充)|[男女](?=[\\d一两三四五六七八九,，。、 (]|$)|助(?![理手教学])"
    "|车(?=受损|相撞|追尾|碰撞|连环|均|被|侧)|副(?!总|主|经|驾|食|业|本)|招(?!生|聘|标|商|牌|呼)|门(?=课|炮|语|学|选|考|功|手)|"
    "行(?=代码|字|文字|数据|日志|注释)|起(?=事故|案|诈骗|火灾|交通|盗)"
    "|列(?![车表为出入举])|层(?=小楼|楼房|高|别墅|蛋糕|建筑)|死(?=\\d|"
    "[一二两三四五六七八九十])|处(?=景|古|伤|错|遗|住|房|改|修|工|地)|成(?=以[上下]|左右|的|多|"
    "首付|[,，。]|$)"
    "|室(?=[\\d一两三]|厅)|[厅卫](?=[\\d一两三带,，。 的朝精]|$)|居室|房(?=[\\d一两三]厅)"
    "|分(?!之|部)|晚(?![上间会报饭餐]|自习)|尺|小时|分钟|星期|公里|公斤|厘米|毫米|汤匙|茶匙|大勺|小勺)"
)
_PAIR: Final = re.compile(
    r"(?=2)(?:(?:(?<=发行)|(?<=分)|(?<=共))2(?=期(?!工程|项目))|"
    r"(?<![\d.第排图表式=])(?<!\d,)(?<!第\d, )"
    rf"(?!2座(?<=[号园厦城苑庭湾府院区路街场心]2座)(?:\d|[A-Z]|[,，。 ]|$))2(?={_MEASURE_WORD}))"
)
# A round number and more: "200+次".
_AT_LEAST: Final = re.compile(r"(?<=[度克米升吨里斤瓦时]) ?\+(?=[,.;)。!]|$)")
_AND_MORE: Final = re.compile(rf"(?:(?<=\d0)|(?<=\d[百千万亿])|(?<=\d[十百千]万))(?<!\.\d0) ?\+ ?(?={_MEASURE_WORD})")
_OFF: Final = re.compile(rf"{NUMBER_START}([1-9])\.?([1-9])(?=(?:{DASH}[1-9](?:\.?[1-9])?)?折(?![叠合线页算]))")
# So much for one: 15一杯.
_FOR_ONE: Final = re.compile(r"(\d)(?=一[个杯斤份次只瓶碗条张位晚天盒包袋支件部台辆双块])")
_OFF_UNTIL: Final = re.compile(rf"(?<=[一二三四五六七八九]){DASH}(?=[1-9一二三四五六七八九]{{1,2}}折)")
_A_FEW: Final = re.compile(rf"(?<![\d.、第排])([1-8])、([2-9])(?={_MEASURE_WORD})")
# Lessons are numbered by their place in the timetable: 1-2节.
_COUNTED: Final = re.compile(rf"(?!节(?!课|电池|车厢)|年级|[段排](?=座|奶|\d)){_MEASURE_WORD}")
_LONG_NAME: Final = 12
_NUMBER: Final = re.compile(NUMBER)
_SIGNS: Final = {
    "+": "加",
    "=": "等于",
    "═": "等于",
    "×": "乘以",
    "*": "乘以",
    "÷": "除以",
    "±": "正负",
    "≈": "约等于",
    "≠": "不等于",
    "≤": "小于等于",
    "≥": "大于等于",
    "<": "小于",
    ">": "大于",
    "%": "百分号",
    "‰": "千分之",
    "&": "和",
    "@": "艾特",
    "#": "井号",
    "°": "度",
    "№": "第",
    "√": "根号",
    "∛": "三次根号",
    "∈": "属于",
    "∠": "角",
    "∵": "因为",
    "∴": "所以",
    "⊥": "垂直于",
    "∥": "平行于",
    "△": "三角形",
    "∪": "并",
    "∩": "交",
    "⊂": "包含于",
    "∞": "无穷大",
    "π": "派",
    "α": "阿尔法",
    "β": "贝塔",
    "γ": "伽马",
    "δ": "德尔塔",
    "Δ": "德尔塔",
    "θ": "西塔",
    "λ": "兰姆达",
    "σ": "西格玛",
    "Σ": "西格玛",
    "φ": "斐",
    "ω": "欧米伽",
    "ε": "艾普西龙",
    "ρ": "柔",
    "η": "伊塔",
    "μ": "缪",
    "ν": "纽",
    "τ": "陶",
    "χ": "卡",
    "ψ": "普赛",
    "ζ": "泽塔",
    "ξ": "克西",
    "κ": "卡帕",
    "Φ": "斐",
    "Ψ": "普赛",
    "Θ": "西塔",
    "Λ": "兰姆达",
    "Γ": "伽马",
    "Π": "派",
    "∑": "西格玛",
    "ϕ": "斐",
    "∝": "正比于",
    "≡": "恒等于",
    "∫": "积分",
    "∉": "不属于",
    "⊆": "包含于",
    "≌": "全等于",
    "∽": "相似于",
    "⊙": "圆",
    "☉": "太阳",
    "‖": "平行于",
    "∅": "空集",
    "Ω": "欧姆",
    "²": "的平方",
    "³": "的立方",
    "⌘": "Command",
}
# A relay of four, boards and boxes by their sides, things by their number: 4×100米, 3x3, 金币x500.
_BY: Final = re.compile(
    r"(?<=\d)(?<!(?<!\d)0)(?!X3D)[xX](?=\d)(?!x[0-9a-f]*[a-f])|(?<=[\u4e00-\u9fff])x(?=\d{1,4}(?![\dA-Za-z.]))"
)
_BY_SIGN: Final = re.compile(r"[xX×]\d")
# Left out by the writer: ××路, ×年×月.
_UNNAMED: Final = re.compile(
    "×{2,}|(?<![0-9A-Za-z])×(?=[年月日市县区省路街号某])|(?<![A-Za-z])X{2,3}(?=[省市县区路街村镇乡校]|公司|大学|项目)"
)
_LENS: Final = re.compile("(?<=[0-9十百])[×xX](?=[物目]?镜|[,.;)、。]|$)")
_RELAY: Final = re.compile(
    r"(?<=\d)×(?=\d{2,4} ?(?:米|m(?![A-Za-z])))|(?<=[\u4e00-\u9fff])×(?=\d)|(?<=\d)×(?=24小时|[一二四八]百米)"
)
_RANK: Final = re.compile(r"(?<![A-Za-z])[Nn][Oo]\.? ?(?=\d)")
_PER: Final = (
    "(?:[天日月年季学期床门科周时小分秒人位次份件个台间晚股斤克升米度平公吨瓶袋盒包箱只头亩片粒颗支本册页张套户家班组课节场千毫立栋帧顿杯碗盎桶磅加英"
    "票餐堂届针株棵条双对根盘罐听扎捆车趟轮局集章题枚板桌屉碟席提束幅打把笼筒管抽枝卷尾窝筐篮篓坛缸壶勺匙滴剂贴丸床辆艘架部名座排层段句行副串朵队]"
    "|方(?![面便案式法向位])|百(?!分之)|一(?=百?(?:公[里斤]|千米|克|毫升|[个次天年月日周期]))|笔(?!记)|单(?![价位元独身])|IP|用户|账号|设备|线程|实例|期(?![货待间权末])|程(?![序度]))"
)
_PAID: Final = "(?:(?<=[元块角仙镑])|(?<=令吉)|(?<=[金游港台]币)|(?<=[0-9]))"
# So many pieces, or so much of a unit, in each pack, time or place: "30枚/盒", "50MB/秒".
_MONEY: Final = (
    "(?:[美日欧港韩澳加纽新泰]元|离岸人民币|在岸人民币|人民币|英镑|瑞郎|卢布|泰铢|新台币"
    "|USD|CNY|CNH|EUR|JPY|GBP|HKD|AUD|CAD|CHF|KRW|SGD|NZD|USDT|BTC|ETH)"
)
_CURRENCIES: Final = re.compile(rf"(?<![\dA-Za-z万亿/])({_MONEY})/(?={_MONEY}(?![A-Za-z/]))")
_EXCHANGED: Final = re.compile(r"报|汇[率价]|[跌涨升贬]|货币对|中间价|盘中|关口|\d\.\d{3,4}")
_MANY: Final = "[0-9零一二两三四五六七八九十百千万亿半几]"
_PIECES: Final = (
    "[升克瓶斤次米里吨秒分帧转卡焦字摩尔瓦兆位个毛件度片粒颗支袋盒包滴枚张抽枝条卷根只罐板提箱桶双套本册台辆头尾株棵朵串把盘碗杯勺筒管排组场局节"
    "题道轮趟圈层户家间座栋亩句行页段篇集部幅副份笔单剂贴丸匹束打捆扎壶坛篮筐笼窝缸架艘班车人名项门钟时天月年周A-Za-z]"
)
_EACH: Final = re.compile(
    f"(?=/)(?:(?<=万)/(?=[平亩㎡])|(?<=[千万百])/(?={_PER})|{_PAID}/(?={_PER})(?!日元|加[元币]|英镑|家长|公司|小程)"
    f"|(?:(?<={_MANY}{_PIECES})|(?<={_MANY}.{_PIECES})|(?<={_MANY}..{_PIECES})|(?<={_MANY}...{_PIECES}))/(?={_PER})"
    "|(?<=元/[天日月年周人晚间次床位台户])/(?=[天日月年周人晚间次床位])|(?<=每平方米)/(?=[天日月年季]))"
)
# So much in so long: 15度/24小时.
_IN_TIME: Final = re.compile(
    "(?<=[\u4e00-\u9fff])(?<!摄氏度)(?<!华氏度)(?<!公里)(?<!米)/(?=[0-9零一二两三四五六七八九十百]{1,4}(?:个?(?:小时|月|星期)|分钟|"
    "[天秒周]|(?<=/[1一])年|公里|千克|毫升))"
)
_PRICE_OF: Final = re.compile(
    "(?<=[元块])/(?=[0-9一二两三四五六七八九十])(?![0-9.零一二两三四五六七八九十百千万]+(?:[元块起]|美元))"
)
# A letter or a root by a figure: π/2, √3/2.
_PART_OF_LETTER: Final = re.compile(
    r"(?<![A-Za-z\d./])(\d{0,3}[πθαβ][²³]?|[xyabmn][²³]?|√\d{1,3}(?:π|a)?)/(\d{1,3})(?![\dA-Za-z./])"
)
# A fraction of a letter: 2/3x.
_COEFFICIENT: Final = re.compile(r"(?<![\dA-Za-z./])(\d{1,3})/(\d{1,3})(?=[abkmntxyz](?![A-Za-z]))")
# The mark of a pupil: B-.
_MARK_BELOW: Final = re.compile(r"(?<=[\u4e00-\u9fff: ][A-D])-(?=[,.;)、。]|$)")
_PART_OF_DECIMAL: Final = re.compile(r"(?<![\dA-Za-z./])1/(\d{1,4}\.\d{1,4})(?![\d/.])")
# One over a letter, in a formula.
_RECIPROCAL: Final = re.compile(r"(?<![\dA-Za-z./])(\d)/([a-z][²³]?)(?=\Z|[<>=+≤≥,，。)的-])")
# So many ten thousands, of which there are more than ten thousand: hundreds of millions.
_MYRIADS: Final = re.compile(r"(?<![\d.,])(\d{1,3}(?:,\d{3})+|\d{5,8})(?=万)(?!万亿)")
_SLOT: Final = re.compile(r"(?<=\d)\.(?=[xX](?![A-Za-z0-9]))|(?<![A-Za-z.][A-Z])(?<=[A-Z])\.(?=\d(?!\d))")
_MINUS: Final = re.compile(
    r"(?=[ −-])(?:(?<=[次平立]方) ?[-−] ?(?=[\da-z(])"
    r"|(?<=[²³]) ?[-−] ?(?=[\dA-Za-z(])|(?<=[\d=+(][a-z])[-−](?=[\d(]|[a-z](?![A-Za-z]))"
    r"|(?<=\d)[-−](?!\d{1,6}(?:\.\d{1,4})?×十的)(?=\d{1,6}(?:\.\d{1,4})?[×÷])|(?:(?<=[×÷]\d)|(?<=[×÷]\d\d)|(?<=[×÷]\d{3}))[-−](?=\d)"
    r"|(?<=\d)[-−](?=\d{0,3}i(?![A-Za-z0-9]))"
    r"|(?<=[\dA-Za-z)²³])(?<![A-Za-z][A-Za-z]) ?[-−] ?(?=[\dA-Za-z(][\dA-Za-z.,²³+*/×÷() ^-]{0,24}[=≈<>≤≥]))"
)
# One thing less another, of which one at least is named in words, beside an equal sign: 收入-成本=利润.
_WORDS_LESS: Final = re.compile("(?<=[\u4e00-\u9fff)])[-−](?=[\u4e00-\u9fff(\\d])|(?<=\\d)[-−](?=[\u4e00-\u9fff(])")
_CLAUSE_BEFORE: Final = re.compile("=[^,;!?。]*\\Z")
_CLAUSE_BEHIND: Final = re.compile("[^,;!?。]*=")
_REMAINDER: Final = re.compile(r"(?<=[a-z)]) % (?=[a-z\d一二三四五六七八九十])")
_LESS_ABSOLUTE: Final = re.compile(r"(?<=[\dA-Za-z)²³])[-−](?=\|)")
_ABSOLUTE: Final = re.compile(
    r"\|(-?(?:\d{1,6}(?:\.\d{1,6})?|[a-z])|\d{0,4}[a-z] ?[-−+] ?\d{0,4}[a-z]?|\d{1,4} ?[-−+] ?\d{0,4}[a-z])\|"
)
_TERMS: Final = re.compile("(?<=.) ?([-−+]) ?")
_DIVIDED: Final = re.compile(r"(?<=[A-Za-z0-9²]\)) ?/ ?(?=[\dA-Za-z(])")
_MENU: Final = re.compile('(?<![²³])(?<=[^\\W\\d_]{2})[”"]? ?[>›] ?[“"]?(?=[^\\W\\d_]{2})')
_OPERATORS: Final = {"==": "=", "===": "=", "!=": "≠", "!==": "≠", "<=": "≤", ">=": "≥"}
_FACTORIAL: Final = re.compile(r"(?<![\d.A-Za-z])(\d{1,2})! ?= ?(\d++)(?![.,]?\d)")
_OPERATOR: Final = re.compile("(?<![=!<>])(?:={2,3}|!={1,2}|[<>]=)(?![=>])")
_TIMES_LETTER: Final = re.compile(
    r"(?<=[a-z\d)零一二两三四五六七八九十百千万] )\*(?= [a-z\d(零一二两三四五六七八九十百千万](?![a-z]{2}))"
    r"|(?:(?<=[\d零一二三四五六七八九十百千][GMTKBWVA])|(?<=[\d零一二三四五六七八九十百千][GMTK]B))\*(?=[\d零一二三四五六七八九十])"
    r"|(?<=[\dA-Za-z零一二三四五六七八九十]\)) ?\*(?!\*) ?(?=[\d(零一二两三四五六七八九十百千万])"
)
_ALL_COLUMNS: Final = re.compile(r"(?<=SELECT )\*|(?<=select )\*|\(\*\)")
# Short for two English words: R&D, Q&A.
# One quantity by another, compared with a figure: E/A<1.
_RATIO_OF_LETTERS: Final = re.compile(r"(?<![A-Za-z0-9/])([A-Z]{1,4}\d?)/(?=[A-Z]{1,4} ?[<>≤≥=] ?[\d百千负])")
_AND: Final = re.compile("(?<![A-Za-z])(R&D|L&D|D&[DG]|[QMGC]&A|S&P|P&[GL]|B&B|H&M|AT&T|T&C|O&M|F&B)(?![A-Za-z])")
_QUOTIENT: Final = re.compile(
    r"(?<==)( ?[A-Za-zα-ωΔ]{1,4})/(?=[A-Za-zα-ωΔ]{1,3}(?![A-Za-z]))|(?<![A-Za-z/])([a-z])/(?=[a-z] ?[=)])"
)
_ARROW: Final = re.compile(r" ?(?:->|=>|→) ?")
_WAY: Final = re.compile("[\u4e00-\u9fff)][\u4e00-\u9fffA-Z]|[A-Za-z][\u4e00-\u9fff]|[a-z][A-Z]")
_STEP: Final = 16
_STEP_BEFORE: Final = re.compile("→[^,.;!?]*\\Z")
_STEP_BEHIND: Final = re.compile(f"[^,.;!?]{{1,{_STEP}}}→")
_TIMED: Final = re.compile(
    "[零一二两三四五六七八九十]{1,3}点(?:[零一二三四五六七八九十]{1,3}分|半|[^零一二三四五六七八九])"
)
_BOTH: Final = re.compile("(?<!&) ?&& ?(?!&)")
_EITHER: Final = re.compile(r"(?<!\|) ?\|\| ?(?!\|)")
_SIGN: Final = re.compile(" ?([" + "".join(re.escape(sign) for sign in _SIGNS) + "])(?:(?<=#)号(?=键|$|[,.。]))? ?")
_ANY_SIGN: Final = re.compile("[|→/" + "".join(re.escape(sign) for sign in _SIGNS) + "]")
_STAR: Final = re.compile(
    r"(?<![\d零一二两三四五六七八九十百千万亿升克米片支粒瓶盒包袋])(?<!\d )\*|\*(?! ?[\d零一二两三四五六七八九十])"
)
_SUPERSCRIPT: Final = re.compile("[⁰¹⁴-⁹]")
_SUPERSCRIPTS: Final = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻ⁿ", "0123456789-n")


def read_guesses(text: TrackedText) -> TrackedText:
    """Two neighbouring figures before a measure word: "2、3个" is two or three; and one sign for all ratios."""
    if "∶" in text.text:
        text = text.sub(_RATIO_SIGN, ":")
    return text.sub(_A_FEW, _a_few) if "、" in text.text else text


def read_changes(text: TrackedText) -> TrackedText:
    """Lines added and taken away, and a true minus behind a space, which is no dash of a range."""
    if "+" in text.text:
        text = text.sub(_CHANGES, lambda match: f"{match['added']}, 减")
    if "比" in text.text or "较" in text.text:
        text = text.sub(_LESS_THAN, r"\1减")
    return text.sub(_TRUE_MINUS, ", 负") if "−" in text.text else text


def read_menus(text: TrackedText) -> TrackedText:
    """The steps of a menu; before a figure the sign compares."""
    return text.sub(_MENU, ", ") if ">" in text.text or "›" in text.text else text


def read_scientific(text: TrackedText) -> TrackedText:
    """ "1e-4" as a power of ten."""
    if _EXPONENT.search(text.text) is None:
        return text
    return text.sub(_SCIENTIFIC, lambda match: f"{match[1]}×10^{match[2].strip('+')}{match[3]}")


def read_formulas(text: TrackedText) -> TrackedText:
    """The minus of an equation and Roman numerals, before letters and figures are parted."""
    if "/" in text.text:
        text = text.sub(_RATIO_OF_LETTERS, r"\1比")
        text = text.sub(_COEFFICIENT, lambda match: f"{cardinal(match[2])}分之{cardinal(match[1])}")
    text = _read_factors(text)
    if "1/2" in text.text:
        text = text.sub(_HALF_LIFE, lambda match: f"{match.group()} ")
    if "|" in text.text:
        text = text.sub(_LESS_ABSOLUTE, "减").sub(_ABSOLUTE, _absolute)
    if "镜" in text.text or "放大" in text.text:
        text = text.sub(_LENS, "倍")
    if "×10" in text.text:
        text = text.sub(_TIMES_TEN, lambda match: "的二次方" if match.group() == "²" else "的三次方")
    if not _FORMULA_SIGN.search(text.text):
        return text
    if "=" in text.text:
        text = text.sub(_WORDS_LESS, _less)
    text = (
        text.sub(_NEGATIVE_LETTER, "负")
        .sub(_POWER, _power)
        .sub(_MINUS, "减")
        .sub(_DISCOUNT, "减")
        .sub(_MARK_BELOW, "减")
    )
    text = text.sub(_BUILDING, r"\1号").sub(_SHARP, r"\1 sharp").sub(_VULGAR, _vulgar)
    text = text.sub(_SINGLE_ROMAN, lambda match: cardinal(str(ord(match.group()) - 0x215F)))
    return text.sub(_ROMAN, lambda match: _ROMANS[match["title"] or match["grade"] or match["behind"]])


def _read_factors(text: TrackedText) -> TrackedText:
    """Powers by two stars, what a writer left out, and sizes by their sides."""
    if "!" in text.text:
        text = text.sub(_FACTORIAL, _factorial)
    if "**" in text.text:
        text = text.sub(_RAISED_BY_STARS, "^")
    if "×" in text.text or "XX" in text.text:
        text = text.sub(_UNNAMED, lambda match: "某" * min(len(match.group()), 2))
    if _BY_SIGN.search(text.text):
        text = text.sub(_BY, "×").sub(_RELAY, "乘")
    return text


def _absolute(match: re.Match[str]) -> str:
    return _TERMS.sub(lambda sign: "加" if sign[1] == "+" else "减", match[1]) + "的绝对值"


def _factorial(match: re.Match[str]) -> str | None:
    """A product of all numbers up to one; None where the sign says that two numbers differ."""
    first, product = int(match[1]), int(match[2])
    return f"{first}的阶乘等于{product}" if math.factorial(first) == product else None


def _less(match: re.Match[str]) -> str | None:
    text, start, end = match.string, match.start(), match.end()
    return "减" if _CLAUSE_BEHIND.match(text, end) or _CLAUSE_BEFORE.search(text, 0, start) else None


def _a_few(match: re.Match[str]) -> str | None:
    return counted(match[1]) + number(match[2]) if int(match[2]) == int(match[1]) + 1 else None


def read(text: TrackedText) -> TrackedText:
    """Every figure that is left."""
    text = text.sub(_RANK, "第")
    if _SPAN_SIGN.search(text.text):
        text = scores.read(text)
    if "/" in text.text:
        text = _read_slashes(text)
    if _DIGIT.search(text.text) is None:
        return text
    text = text.sub(_STARS, "星")
    text = _read_marked(text.sub(_HEIGHT, _spelled))
    text = text.sub(_CHEER, _spelled).sub(_OFF, lambda match: spelled(match[1] + match[2]))
    if _SPAN_SIGN.search(text.text):
        text = text.sub(_UNTIL, "到").sub(_OFF_UNTIL, "到").sub(_RANGE, _range)
        if "-" in text.text:
            text = text.sub(_HEADING, ", ").sub(_NEGATIVE, "负")
    text = ranks.read(text).sub(_PAIR, "两")
    if "一" in text.text:
        text = text.sub(_FOR_ONE, r"\1, ")
    text = text.sub(_SUPERSCRIPT, lambda match: match.group().translate(_SUPERSCRIPTS))
    return text.sub(_NUMBER, _number)


def _number(match: re.Match[str]) -> str:
    """A number; one so long that nobody would write it without commas names something."""
    written = match.group()
    if len(written) < _LONG_NAME or not written.isdigit() or written.endswith("0000"):
        return number(written)
    return spelled(written)


def _read_marked(text: TrackedText) -> TrackedText:
    """Figures that a sign or a character beside them makes something else than a number."""
    if "." in text.text:
        text = text.sub(_SLOT, "点")
    if "万" in text.text:
        text = text.sub(_MYRIADS, lambda match: cardinal(match[1].replace(",", "") + "0000").removesuffix("万"))
    if "+" in text.text:
        text = text.sub(_AND_MORE, "多")
    if ":" in text.text:
        text = text.sub(_LETTER_RATIO, lambda match: match.group().replace(":", "比"))
        text = text.sub(_RATIO, lambda match: "比".join(number(part) for part in match.group().split(":")))
    return text


def _read_slashes(text: TrackedText) -> TrackedText:
    """Parts of a whole, rates, marks, and one word or another: all that a slash stands between."""
    text = text.sub(_PART_OF_LETTER, lambda match: f"{cardinal(match[2])}分之{match[1]}")
    text = (
        text.sub(_NUMBERED, lambda match: match.group().replace("/", ", "))
        .sub(_ROW, lambda match: match.group().replace("/", ", "))
        .sub(_EDITIONS, _editions)
    )
    text = text.sub(_PART_OF_DECIMAL, lambda match: f"{number(match[1])}分之一").sub(
        _RECIPROCAL, lambda match: f"{match[2]}分之{cardinal(match[1])}"
    )
    text = text.sub(_CURRENCIES, r"\1兑") if _EXCHANGED.search(text.text) else text
    text = text.sub(_EACH, "每").sub(_IN_TIME, "每").sub(_PRICE_OF, "每").sub(_DIVIDED, "除以")
    text = text.sub(_BODY, r"\1, \2") if _OF_BODY.search(text.text) else text
    text = text.sub(_RATING, lambda match: f"{match['gap']}{number(match['top'])}分, 满分{number(match['bottom'])}分")
    text = text.sub(_DECIMALS, ", ")
    text = text.sub(_MARKS, lambda match: f"{match['gap']}{number(match['points'])}分, 满分{number(match['full'])}分")
    return text.sub(_ALWAYS, "七天二十四小时").sub(_FRACTION, _fraction).sub(_CHOICE, ", ")


def read_signs(text: TrackedText) -> TrackedText:
    """Signs of arithmetic and of the keyboard as words."""
    if _ANY_SIGN.search(text.text) is None:
        return text
    text = text.sub(_REMAINDER, "取余") if " % " in text.text else text
    text = text.sub(_OPERATOR, lambda match: _OPERATORS[match.group()]).sub(_BOTH, "并且").sub(_EITHER, "或者")
    if "+" in text.text:
        text = text.sub(_AT_LEAST, "以上")
    if "&" in text.text:
        text = text.sub(_AND, lambda match: match.group().replace("&", " and "))
    if "/" in text.text:
        text = text.sub(_QUOTIENT, lambda match: f"{match[1] or match[2]}除以")
    text = text.sub(_ALL_COLUMNS, " 星号 ").sub(_ARROW, _arrow)
    text = text.sub(_TIMES_LETTER, "×") if "*" in text.text else text
    return text.sub(_STAR, " ").sub(_SIGN, lambda match: _SIGNS[match[1]])


def _arrow(match: re.Match[str]) -> str | None:
    """The way from one place to another, or an arrow of code; None for one that is drawn between formulas.

    The steps of a plan, or of a way through several places, are parted as in a list.
    """
    text, start, end = match.string, match.start(), match.end()
    before, behind = text[start - 1 : start], text[end : end + 1]
    if _WAY.fullmatch(before + behind):
        parted = _STEP_BEFORE.search(text, max(0, start - _STEP), start) or _STEP_BEHIND.match(text, end)
        return ", " if parted or before == ")" or _TIMED.match(text, end) else "到"
    return None if "→" in match.group() else " 箭头 "


def _power(match: re.Match[str]) -> str:
    """A base and its power, in figures that are read later, where they have no letter in them."""
    raised = (match["raised"] or match["above"]).translate(_SUPERSCRIPTS)
    below = raised.startswith("-")
    digits = raised.lstrip("-")
    power = cardinal(digits) if digits.isdigit() else digits
    base = cardinal(match["base"]) if match["base"].isdigit() else match["base"]
    unit = base[-1:] in "十百千" and match.string[match.end() : match.end() + 1] in _LENGTHS
    named = "" if below or unit else {"2": "平方", "3": "立方"}.get(digits, "")
    return f"{base}的{named}" if named else f"{base}的{'负' if below else ''}{power}次方"


def _vulgar(match: re.Match[str]) -> str:
    top, bottom = unicodedata.normalize("NFKC", match["sign"]).split("\u2044")
    part = f"{cardinal(bottom)}分之{cardinal(top)}"
    return f"{cardinal(match['whole'])}又{part}" if match["whole"] else part


def _spelled(match: re.Match[str]) -> str:
    return spelled(match.group())


def _editions(match: re.Match[str]) -> str | None:
    first, last = match["first"], match["last"]
    return f"{match['gap']}{first}, {last}" if 1 <= int(last) - int(first) <= 2 < int(first) else None


def _fraction(match: re.Match[str]) -> str:
    bottom = _ROUND.get(match["bottom"]) or cardinal(match["bottom"])
    part = ("负" if match["minus"] else "") + f"{bottom}分之{cardinal(match['top'])}"
    return f"{cardinal(match['whole'])}又{part}" if match["whole"] else part


def _range(match: re.Match[str]) -> str:
    first, unit, last = match.groups()
    if not unit and scores.is_score(first, last):
        between = "杠" if match.string.endswith("号", 0, match.start()) else "比"
        return f"{number(first)}{between}{number(last)}"
    ranked = match.string.endswith("第", 0, match.start())
    counts = not ranked and _COUNTED.match(match.string, match.end()) is not None
    lower = counted(first) if unit or counts else number(first)
    return f"{lower}{unit}{until(match, 1, 3)}{counted(last) if counts else number(last)}"
