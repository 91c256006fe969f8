"""URLs, e-mail addresses, telephone numbers, versions and other codes."""

import re
from typing import Final

from polyvox.text.normalize.chinese.numbers import cardinal, dialled, spelled
from polyvox.text.normalize.chinese.pinyin_names import as_characters
from polyvox.text.normalize.chinese.source_code import LINE_BELOW, PATH, read_source_code
from polyvox.text.normalize.commands import follows_command
from polyvox.text.tracked import TrackedText

_EMAIL: Final = re.compile(r"(?<![A-Za-z0-9._%+-])[A-Za-z0-9._%+-]++@[A-Za-z0-9-]++(?:\.[A-Za-z0-9-]*[A-Za-z0-9])++")
_PATH: Final = r"[A-Za-z0-9._~:/?#@!$&'*+,;=%-]*"
_URL: Final = re.compile(rf"(?<![A-Za-z0-9])(?:https?://|www\.)(?=[A-Za-z0-9]){_PATH}(?<![.,;:!?'*&-])", re.IGNORECASE)
_DOMAIN: Final = re.compile(
    r"(?<![A-Za-z0-9@./-])(?:[A-Za-z0-9-]++\.)+(?:com|cn|org|net|edu|gov|io|ai|co|hk|tw|jp|uk)(?![A-Za-z0-9@-]|\.[A-Za-z])"
    rf"(?:[:/?#](?=[A-Za-z0-9]){_PATH}(?<![.,;:!?'*&-]))?"
)
_LOCAL: Final = re.compile(
    rf"(?<![A-Za-z0-9@./-])localhost(?![A-Za-z0-9@-])(?:[:/](?=[A-Za-z0-9]){_PATH}(?<![.,;:!?'*&-]))?", re.IGNORECASE
)
_FOLDER: Final = re.compile(
    r"(?<![A-Za-z0-9_/.~元块角])(?!/(?:min|h|d|s|hr|day|week|month|kg|km|m|g|L|m[lL]|GB|MB|IP)(?![A-Za-z0-9_.-]))(?:(?:~|\.{1,2})(?:/[A-Za-z0-9_.-]+)+|(?:/[A-Za-z0-9_.-]+){2,})(?<![.-])(?:\?[A-Za-z0-9_]+=[A-Za-z0-9_=&%-]*)?"
)
_DRIVE: Final = re.compile(r"(?<![A-Za-z0-9])[A-Z]:(?:\\[A-Za-z0-9_. -]*[A-Za-z0-9_]){1,12}")
_SCHEME: Final = re.compile(r"https?://", re.IGNORECASE)
_PIECE: Final = re.compile(r"[A-Za-z]+|[\u4e00-\u9fff]+|\d+|__|.", re.DOTALL)
_MARKS: Final = {
    ".": "点",
    "/": "斜杠",
    "-": "杠",
    "_": "下划线",
    "__": "双下划线",
    "\\": "反斜杠",
    "@": "艾特",
    ":": "冒号",
    "?": "问号",
    "=": "等于",
    "&": "和",
    "#": "井号",
    "%": "百分号",
    "+": "加",
    "~": "波浪号",
}

_QUOTED_MARK: Final = re.compile(r"(?<=[“‘「『])[./\\_@#&%+~:?=-](?=[”’」』])")

_MOBILE: Final = re.compile(r"(?<![A-Za-z0-9.-])(?:\+?86[ -]?)?1[3-9]\d(?:[ -]?\d{4}){2}(?!\d|\.\d)")
_MASKED: Final = re.compile(r"(?<![A-Za-z0-9.-])1[3-9]\d? ?\*{2,9} ?\d{2,4}(?!\d)")
_LANDLINE: Final = re.compile(
    r"(?<![A-Za-z0-9.-])(?<!\d )(?:\(0\d{1,3}\) ?|0\d{1,3}[ -])(?:\d{7,8}|\d{3,4}[ -]\d{4})(?!\d|\.\d)"
)
_ABROAD: Final = re.compile(r"\+\d{1,3}(?:[ -]\d{1,4}){2,4}(?!\d|\.\d|-\d)")
# A line of a town behind the name or the title of who answers: 孙工6201-8837.
_LOCAL_LINE: Final = re.compile(
    r"(?<=[工总师士任长理姐话机线系询人:： (])(?!20)[2-8]\d{3}-\d{4}(?<!00)(?=[,，。.;；)(]|$)(?!\.\d)"
)
_SERVICE: Final = re.compile(r"(?<![A-Za-z0-9.-])[48]00(?P<mark>[ -]?)\d{3,4}(?P=mark)\d{3,4}(?!\d|\.\d)")
_NO_COUNT: Final = (
    r"(?!\d|[.,:]\d|[年月日个人名位元块分折次下斤件场米天岁万千百亿例宗%℃]|点(?!击)|起(?!火)|公里|小时|美元)"
)
_PREFIX: Final = re.compile(r"(?<![\d.])\d{3,4}(?=开头|打头|号段)")
_ANOTHER_HOTLINE: Final = re.compile(rf"(?<=[零一二三四五六七八九幺][幺零二九五], )1(?:10|19|20|22){_NO_COUNT}")
_EXTENSION: Final = re.compile(rf"(?<=转)(?<![左右]转)\d{{3,6}}{_NO_COUNT}")
_GROUPED: Final = re.compile(r"(?<![A-Za-z0-9.-])(?:\d++(?:-\d++){2,}+|\d{3,}-0\d++)(?![\d-]|\.\d)")
_HOTLINE: Final = re.compile(
    rf"(?:(?<=[打叫拨警救助])|(?<=[热专内外]线)|(?<=[话线][:： ]))\d{{3,6}}{_NO_COUNT}"
    r"|(?<![A-Za-z\d.,])1(?:10|19|20|22)(?=急救|报警|火警|指挥|接警|出警|救护|调度|热线)"
    rf"|(?<=[或和])(?:1(?:10|19|20|22)|96\d{{3}}){_NO_COUNT}|(?<![A-Za-z\d])(?<!\d[.,])961(?:10|19){_NO_COUNT}"
    rf"|(?<![A-Za-z\d约共达近有])(?<!\d[.,])(?:123(?:06|15|20|28|33|45|66|78|93)|95[0-9]{{3}}|10086(?:11)?){_NO_COUNT}"
)
_CODE: Final = re.compile(
    r"(?:(?<=[号码编])(?<![A-Z]码)|"
    r"(?<=口令)|(?<=端口)|(?<=账户)|(?<=[\u4e00-\u9fff]#)|(?<=[MP]R #)|(?<=[MP]R#)|(?<=[Ii]ssue #)|"
    r"(?<=[A-Za-z]@)|(?<=[加扣]Q)|(?<=QQ号)|(?<=扣扣)|(?<=ID)|(?<=PIN)|(?<=OTP)|(?<=QQ)|(?<=QQ群)|"
    r"(?<=微信群))(?P<gap>[是为]?[:： ]{0,2})"
    r"(?P<digits>\d{3,}(?:[- ]\d++)*+|\d++(?:-\d++){2,}+)"
    r"(?!\d|[.,:]\d|-\d| ?(?:[年月个人名位元块分件次天岁万千百亿米行斤%℃]|公里|公斤|小时))"
)
# Six digits and more behind what has a number, though no word for number stands between: 订单20231105678.
_NUMBERED_THING: Final = re.compile(
    r"(?:(?<=[订运工保面递货]单)|(?<=单据)|(?<=快递)|(?<=包裹)|(?<=流水)|(?<=物流)|(?<=发票)|(?<=合同)|(?<=身份证)|(?<=护照)|(?<=银行卡)"
    r"|(?<=信用卡)|(?<=储蓄卡)|(?<=会员)|(?<=会员卡)|(?<=社保卡)|(?<=账单)|(?<=票据)|(?<=档案)|(?<=案件)|(?<=群)"
    r"|(?<=致电)|(?<=拨打)|(?<=热线)|(?<=客服))"
    r"(?P<gap>[是为]?[:： (（]{0,2})(?P<digits>\d{6,})"
    r"(?!\d|[.,:]\d|-\d| ?(?:[年月个人名位元块分件次天岁万千百亿米单笔份户条张票%℃]|公里|公斤|小时))"
)
# The last digits that win, behind how many they are: 末“4”位数3847.
_WINNING: Final = re.compile(r"(?<=”位数)(?P<gap>[:： ]{0,2})(?P<digits>\d{3,8}(?:, \d{3,8})*)")
_WIRELESS: Final = re.compile(r"(?<![\d.])802\.\d{1,2}(?=[A-Za-z/, ]|$)")
# A port before its name.
_PORT_NUMBER: Final = re.compile(r"(?<![\d.,:])\d{3,5}(?= ?(?:号?端口|/(?:tcp|udp|TCP|UDP)))")
# Four digits of a house, a lane or a gate behind the name of its street.
_HOUSE: Final = re.compile(
    r"(?<![\d-])(?<!\d[.,])\d{4}(?=弄|支弄)|(?<=[路街道巷弄村里])\d{4}(?=号(?!文|令|楼))|(?<![\d-])(?<!\d[.,])\d{4}(?=栋)"
)
_HOUSE_SIGN: Final = re.compile(r"\d[弄号栋支]")
# Bulletins, parts and files numbered by their year: CVE-2024-3094.
_SERIAL: Final = re.compile(
    r"(?<![A-Za-z0-9])(?P<letters>[A-Z]{2,8})[- ]?(?P<year>(?:19|20)\d\d)-(?P<rest>\d{3,7})(?![\d-]|[.,:]\d|[A-Za-z])"
)
# A draw numbered by its year: 第2024058期.
_ISSUE: Final = re.compile(r"(?<=第)20\d{4,6}(?=期)")
_CODE_PARTS: Final = re.compile("[- ]")
_ROOM: Final = re.compile(
    r"(?<![\d-])(?<!\d[.,])\d{3,4}(?=号?房间?|号?室|号?(?:教室|病房|宿舍|寝室|包厢|包间|会议室)|次列车|航班)"
    r"|(?<![\d-])(?<!\d[.,])\d{3}(?=路(?:公交|车|公共|$|[,.。 到去往的开])|国道|省道|县道)"
    r"|(?:(?<=[栋座元楼层幢])(?<!等座)|(?<=房间)|(?<=包厢)|(?<=包间)|(?<=病房)|(?<=教室)|(?<=会议室)|(?<=办公室)|(?<=[务事生政]处)"
    r"|(?<=[栋座元楼层幢], )|(?<=[A-Z]区)|(?<=[户室]\()|(?<=登机口)|(?<=检票口)|(?<=停机位))"
    r"\d{3,4}(?![\d元块人个万名位米号多余平方家户间套]|[.,:]\d)"
    r"|(?<=chmod )[0-7]{3,4}(?!\d)|(?:(?<=IP)|(?<=ip))\d\d(?!\d|[.,]\d)|(?<!\d)88(?=VIP)"
    rf"|(?<![\d.,$¥￥A-Za-z])(?:8080|3306|6379|27017){_NO_COUNT}"
    r"|(?:(?<=考上)|(?<=考上了)|(?<=是)|(?<=双))(?:985|211)(?=[,.!?。]|$|的|大)|(?<![\d])(?<!\d[.,])996(?=的|$)"
)
_ANOTHER_ROOM: Final = re.compile(
    "(?<=[零一二三四五六七八九]{3}[和与及])\\d{3,4}(?=都|均|两[家户间]|室|业主|漏|的?住户)"
)
# A building or an entrance and its room: 教3-201.
_BUILDING_ROOM: Final = re.compile(
    r"(?<![\d-])(?<!\d[.,])(?:(?<=[教楼栋座幢馆舍园苑区城号厦])(?P<house>\d{1,2})-(?P<room>\d{3,4})(?![\d-]|[.,:]\d|[元块人个万米名平])"
    r"|(?P<house2>\d{1,2})-(?P<room2>\d{3,4})(?=号?房间?|室|教室|病房|宿舍))"
)
# Digits between the keys of a telephone or a lock: *#06#, #1703*.
_KEYS: Final = re.compile(r"(?<![\dA-Za-z*#])[*#]{1,2}\d{2,8}(?:[*#]\d{1,8}){0,2}[*#](?![\dA-Za-z*#])")
_KEY_NAMES: Final = {"*": "星号", "#": "井号"}
_LICENCE: Final = re.compile(rf"(?<=[京津沪渝冀豫辽湘皖鲁浙赣鄂桂晋蒙陕闽粤琼])\d{{7,}}{_NO_COUNT}")
_ROOMS: Final = re.compile(
    r"(?<![\d-])(?<!\d[.,])(?P<first>\d{3,4})[-–~～](?P<last>\d{3,4})(?=号?(?:房间?|室|教室|病房|铺|单元))"
)
_PLATE: Final = re.compile(
    r"(?<=[京津沪渝冀豫云辽黑湘皖鲁新苏浙赣鄂桂甘晋蒙陕吉闽贵粤青藏川宁琼])[A-Z][·• ]?(?=[A-Z\d]{5,6}(?![A-Z\d]))"
)
_PLATE_DIGITS: Final = re.compile(
    r"(?<=[京津沪渝冀豫云辽黑湘皖鲁新苏浙赣鄂桂甘晋蒙陕吉闽贵粤青藏川宁琼][A-Z] )[A-Z\d]{5,6}(?![A-Z\d])"
)
_PLATE_SIGN: Final = re.compile("[\u4e00-\u9fff][A-Z][·• A-Z0-9]")
_VERSION_SIGN: Final = re.compile("[.vV][0-9]")
_AIRCRAFT: Final = re.compile(r"(?:(?<=波音)|(?<=空客)) ?\d{3}(?:-\d{2,4})?(?!\d)")
# Aircraft, rockets, missiles, ships of space and satellites behind the names of their families.
_DESIGNATION: Final = re.compile(
    r"(?P<family>武直|空警|无侦|攻击|鲲龙|翼龙|彩虹|米格|伊尔|雅克|长征|东风|巨浪|鹰击|红旗|霹雳|长剑|海鹰|神舟|天宫|天舟|天问|嫦娥|北斗|快舟|捷龙"
    r"|力箭|朱雀|引力|风云|高分|海洋|遥感|实践|联盟|进步|猎鹰|开普勒|格利泽|旅行者|先驱者|阿波罗|爱国者|民兵|白杨|萨姆|新冠|新舟|白介素|介素|欧米伽|样肽|碳|铀|钚|锶|铯|碘|钴|氚|氦|氧|钾|铅|镭|氡|锝|氮|钍|镅|钋|[歼轰直运教强水苏图安卡]|(?<!\d)米(?=[-–—]\d{1,2}(?!\d|米)))"
    r"[-–—](?P<number>\d{1,4})(?!\d|[.,:]\d|[%℃°]|[元块度个倍万亿])"
)
# Figures, tables, formulas and exercises are numbered by chapter: 图3-2, 附录B-3. Behind some words a range stands.
_STRUCTURE: Final = re.compile(
    r"(?:(?<![试企力意])图|(?<![代发外手])表|(?<![模形方款新老旧样招正仪])式|(?<![比病惯先条])例"
    r"|(?<![\u4e00-\u9fff])题|[习例]题|附录|定理|引理|推论|定义|命题|算法|实验|章节|程序|清单|练习)"
    r" ?\(?(?P<number>(?:[A-Z]|\d{1,3})[-–—]\d{1,3}(?:[-–—]\d{1,3})*"
    r"(?:(?:和|与|及|至|到|~|, ?)\d{1,3}[-–—]\d{1,3})*)"
    r"(?![\dA-Za-z-]|[.,:]\d|[月日年级周天个名位张人元号点岁%℃°倍次步季题道页章节条例种小秒遍]|公里|分钟)"
)
# Cases of a court: (2023)京0105民初12345号.
_CASE: Final = re.compile(
    r"(?<=[民刑行执破赔][初终申再监辖保审字执]第)\d{4,6}(?=号)|(?<=[民刑行执破赔知商][初终申再监辖保审执])\d{4,6}(?=号)|(?<=[0-9]执)\d{4,6}(?=号)"
)
_CASE_SIGN: Final = re.compile("[初终申再监辖保审执字]第?[0-9]{4}")
# The codes in which a server answers: of errors behind any word that tells of one, of success behind 返回 alone.
_FAILURE: Final = "(?:40[0-9]|41[0-8]|42[269]|451|50[0-8])"
_STATUS: Final = re.compile(
    r"(?=[2-5]\d\d(?!\d))(?:"
    rf"(?:(?<=返回)|(?<=响应)|(?<=返回了)|(?<=返回 ))(?:20[0-6]|30[0-8]|{_FAILURE}){_NO_COUNT}"
    r"|(?:(?<=报错)|(?<=报)|(?<=报了)|(?<=出现)|(?<=提示)|(?<=显示)|(?<=遇到)|(?<=直接)|(?<=错误)|(?<=抛出)|(?<=偶发)|(?<=频发)|(?<=偶现)"
    r"|(?<=大量)|(?<=全是)|(?<=变成)|(?<=一堆)|(?<=爆出)|(?<=触发)|(?<=批量)|(?<=疯狂)|(?<=很多)|(?<=个别)|(?<=网关)|(?<=接口)|(?<=吐)|(?<=刷)"
    r"|(?<=错误 )|(?<=显示 )|(?<=出现 )|(?<=一直))"
    rf"{_FAILURE}{_NO_COUNT}"
    rf"|(?:\A|(?<=[又口务面站全都接然])|(?<=[,。!;] )){_FAILURE}(?=了[,。!])"
    rf"|(?<![\dA-Za-z])(?<!\d[.,]){_FAILURE}(?= ?(?:错误|报错|页面|异常|状态|响应|占百分"
    r"|(?:Bad|Not|Forbidden|Unauthorized|Internal|Service|Gateway|Too|Unprocessable)\b|[Nn]ot [Ff]ound|网关"
    r"|(?:就?是|表示|说明|代表)(?:网关|服务|请求|资源|未|无|没有|权限|找不到|超时|禁止|限流))))"
)
_CARD: Final = re.compile(r"(?<![A-Za-z0-9.-])\d{4}(?: \d{4}){2,4}(?: \d{1,3})?(?!\d|\.\d)")
_LONG_GROUP: Final = 3
_LONGEST_SPELLED: Final = 5
# Consonants that begin no word of English or pinyin, or end none.
_UNSAYABLE: Final = re.compile(
    r"(?!gmail|nginx|[^aeiouy]*$)(?:(?!(?:[bcfgkp][lr]|[dt]r|[sz]h|ch|th|wh|ph|kn|wr|s[cklmnpqtw]|sch|qu|tw|dw|gn|ts|gh|rh|sr)[aeiouy]|s(?:[cpt]r|pl)|(?:shr|thr|phr|chr)|squ)"
    r"[bcdfghjklmnpqrstvwxz]{2}|xy|(?:oa|etc)$|[a-z]*(?:[sp]tc|[bdgjkpqtvw]k|[a-z]q|[a-z]j)$)"
)
_GROUP: Final = re.compile(r"\d+")
_IP: Final = re.compile(
    r"(?<![A-Za-z0-9.])((?:\d{1,3}\.){3}\d{1,3})(?::(\d{2,5})(?!\d)(/[A-Za-z0-9._/-]*[A-Za-z0-9])?)?(?![A-Za-z0-9]|\.\d)"
)
_VERSION: Final = re.compile(r"(?<![\d.])\d++(?:\.\d++){2,}+|(?<=[vV])(?<![A-Z]V)\d++(?:\.\d++)*+")
_TRIAL_SIGN: Final = re.compile(r"\d-[abr]")
_TRIAL: Final = re.compile(r"(?<=\d)-(alpha|beta|rc)[.-]?(\d{1,3})?(?![A-Za-z\d])")
# The number of a standard or a product behind its capitals: ISO 9001, RTX 4090.
_NUMBERED: Final = re.compile(
    rf"(?:(?<=[A-Z][A-Z] )|(?<=[A-Z]/T ))\d{{3,5}}+(?:\.\d{{1,2}})?+(?P<year>[:—–-](?:19|20)\d\d(?!\d))?+{_NO_COUNT}"
    "(?!强|多|余|[A-Za-z/×])"
)
_LABORATORY: Final = re.compile(
    r"(?:WBC|RBC|PLT|HGB|ALT|AST|LDL|HDL|CRP|TSH|AFP|CEA"
    r"|PSA|GGT|ALP|FBG|LDH|CK|ESR|ALB|BUN|GRE|GMAT|SAT|ACT|IELTS|TOEFL|DPI|PPI|FPS|BPM|RPM|PSI"
    r"|AQI|IQ|EQ|BMI|HR|DAU|MAU|PV|UV|GMV|APM|HP|ELO|MMR|TTL|MTU|QPS|TPS) \Z"
)
# What film and sensors take, no standard: ISO 400.
_LIGHT: Final = re.compile(r"(?!9000)\d+00\Z")
# The year of a program or a show behind its name: Office 2019.
_EDITION: Final = re.compile(rf"(?<=[A-Za-z+] )(?:199\d|20[0-3]\d){_NO_COUNT}(?![行条张份多余台只颗粒步字页强])")
# The year before the letters of a meeting or a body that is named by it: 2024 CES, 2024 RW1.
_YEAR_BEFORE: Final = re.compile(r"(?=[12])(?<![\d.,:])(?:19[5-9]|20[0-4])\d(?= [A-Z]{1,5}\d{0,3}(?![A-Za-z0-9]))")
_BEFORE_LETTER: Final = re.compile(r"\d [A-Z]")
_BEFORE_HIDDEN: Final = re.compile(r"(?<![\d.,])\d{2,8}(?=\*{2,}\d)")
# The digits behind those that are hidden: 3301********1234.
_UNHIDDEN: Final = re.compile(r"(?<=[\d零一二三四五六七八九幺])(\*{2,})(\d{2,6})(?![\d.*])")
_PROCESSOR: Final = re.compile(r"(?<![A-Za-z0-9])([iR][3579])-(\d{4,5})(?!\d)")
_HOUSE_LETTER: Final = re.compile(
    r"(?<![A-Za-z])(?P<house>[A-Z]{1,5}\d{1,16})-(?P<room>\d{2,12})(?![\d-]|[.,:]\d|[A-Za-z])"
)
# A house, its entrance, its floor and a room: A3-2-1104.
_HOUSE_PARTS: Final = re.compile(
    r"(?<![A-Za-z0-9-])(?P<house>[A-Z]\d{0,2})-(?P<parts>(?:\d{1,2}-){1,3})(?P<room>\d{3,4})(?![\d-]|[.,:]\d|[A-Za-z])"
)
# A shop by its floor and its place: 五层5-21号.
_STALL: Final = re.compile(r"(?:(?<=[层楼座]\d)|(?<=[层楼座]\d\d)|(?<=[A-Z]区\d)|(?<=[A-Z]区\d\d))-(?=\d{1,3}号)")
# A house between two others, and a gate of it: 人民路120-3号.
_HOUSE_BRANCH: Final = re.compile(r"(?<=[路街段道巷弄村里条])(?P<house>\d{1,4})-(?P<branch>\d{1,3})(?=号)")
# A floor where a house stands before it, or what is on a floor behind it.
_FLOOR: Final = re.compile(
    r"(?:(?<=[栋厦场心号幢区城馆院厅园])|(?<=[A-Z一二三四五六七八九东西南北]座)"
    r"|(?<=[位在于去上到至] )|(?<=[在于去上到至]))"
    r"(?<!车厢在)(?P<floor>\d{1,3})F(?![A-Za-z0-9/])"
    r"|(?<=\()(?P<floor3>\d{1,3})F(?=\))"
    r"|(?<![A-Za-z0-9.车位座])(?P<floor2>\d{1,3})F(?=[大小多]?会议|多功能|报告厅|食堂|茶水|展厅|办公|前台|电梯|大堂|大厅|餐厅|会议|美食|洗手|服务台|影院|咖啡|书店|男装|女装|专柜|中庭|健身|泳池|宴会|停车)"
)
_ROOM_DASH: Final = re.compile(r"(?:(?<=[栋座楼层幢])|(?<=单元))-(?=\d{3,4}(?![\d元块]|[.,:]\d))")
# A dot inside a file's or an object's name, not behind an initial.
_DOTTED: Final = re.compile(r"(?<=[A-Za-z0-9_)][A-Za-z0-9_)])\.(?=[A-Za-z_])")
# Names of files, accounts and variables: of several parts with a line below between, with the ending of a file, or
# behind the label of a name. A subscript such as x_1 is none.
_NAME_START: Final = r"(?<![A-Za-z0-9_./@-])(?=[0-9_./-]*[A-Za-z])"
_NAME: Final = re.compile(
    rf"{_NAME_START}(?![A-Za-z]_[A-Za-z0-9](?![A-Za-z0-9_]))(?=[A-Za-z0-9./-]*_)"
    r"(?:__[a-z]++__(?:\.py)?|[A-Za-z0-9]++(?:(?:_{1,2}|[./-])[A-Za-z0-9]++)++)(?![A-Za-z0-9@])"
)
_FILE: Final = re.compile(
    rf"{_NAME_START}(?=[A-Za-z0-9.]*[/-])[A-Za-z0-9]++(?:[./-][A-Za-z0-9]++)*+"
    r"(?:(?<=\.[ch])|(?<=\.(?:py|js|ts|md|sh|go|rs|gz|7z))"
    r"|(?<=\.(?:yml|xml|txt|doc|xls|ppt|pdf|csv|sql|zip|tar|png|jpg|gif|mp3|mp4|wav|log|cfg|css|vue|exe|apk|cpp))"
    r"|(?<=\.(?:json|yaml|toml|docx|xlsx|pptx|conf|html|java|jpeg)))(?![A-Za-z0-9@])"
)
_LABELLED_NAME: Final = re.compile(
    r"(?:(?<=用户名)|(?<=[账帐户信]号)|(?<=微信)|(?<=密码)|(?<=昵称)|(?<=文件名)|(?<=分支)|(?<=仓库)|(?<=ID[: 是]))"
    r"(?P<gap>[是为叫改成]{0,2}[:： ]{0,2})"
    r"(?P<name>(?=[0-9._-]*[A-Za-z])[A-Za-z0-9]++(?:[._-][A-Za-z0-9]++)++)(?![A-Za-z0-9@])"
)
# A name and a year, in one piece: zhangwei88.
_NAME_AND_YEAR: Final = re.compile(
    r"(?:(?<=用户名)|(?<=[账帐信]号)|(?<=微信)|(?<=昵称)|(?<=用户)|(?<=ID[: 是]))"
    r"(?P<gap>[是为叫改成]{0,2}[:： ]{0,2})(?P<name>[a-z]{4,20})(?P<year>\d{2,8})(?![A-Za-z0-9@_-]|\.[A-Za-z0-9])"
)
_NAME_SIGN: Final = re.compile(r"[A-Za-z0-9][_-][A-Za-z0-9]|[A-Za-z0-9]\.[A-Za-z0-9]|__[a-z]")
_OPTION: Final = re.compile(
    r"(?<=[A-Za-z][A-Za-z0-9] )-(?=[A-Za-z])|(?<=\d )-(?=[a-z]{1,4} )"
    r"|(?:(?<=[A-Za-z0-9]\s)|(?<=[\u4e00-\u9fff`“\"'（(])|(?<=[\u4e00-\u9fff\])]\s)|(?<=\A))--(?=[a-z]{2})"
    r"|(?:(?<=参数)|(?<=选项)|(?<=参数\s)|(?<=选项\s)|(?<=[加带用上]\s)|(?<=[加带`“\"']))-(?=[A-Za-z]{1,3}(?![A-Za-z]))"
)
# A signal or a count behind the program that takes it: kill -9.
_OPTION_NUMBER: Final = re.compile(r"(?<=[a-z] )-(?=\d{1,5}(?![\d.]))")
_CALLED: Final = re.compile(r"命令 ?[a-z]+ \Z")
_HIDDEN_FILE: Final = re.compile(
    r"(?<![A-Za-z0-9./])\.(?=(?:env|git|gitignore|gitattributes|gitlab-ci|github|bashrc|zshrc|ssh|vimrc|npmrc|yarnrc"
    r"|eslintrc|prettierrc|babelrc|editorconfig|htaccess|condarc|kube|aws|vscode|idea|venv|gradle|cargo|dockerignore|xlsx?|docx?|pptx?|pdf|txt|csv|zip"
    r"|rar|jpe?g|png|gif|mp[34]|exe|apk|json|html?|py|jsx?|tsx?|vue|sh|ya?ml|toml|ini|conf|cfg|log|sql|db|svg|css|pem|crt|key|jar|war|lock|sock"
    r"|md|tar|gz|7z|iso|img|deb|rpm|dmg|ipa|so|dll|mkv|avi|mov|wav|flac)(?![A-Za-z]))"
)
_SHELL_FILE: Final = re.compile(r"(?<=点 )sh(?![A-Za-z0-9])")
_DASHED: Final = re.compile("[-–—]")
_MIXED: Final = re.compile(
    r"(?<=[A-Za-z])-?(?P<behind>\d++)(?!\.\d)|(?<![\d])(?<!\d[.,])(?<!\d[~～])(?P<before>\d++)(?=[A-Za-z])"
)

_NUMERAL: Final = re.compile("[一二两三四五六七八九十](?!分之)")
_LONG_NUMBER: Final = re.compile(r"\d{6}")
_YEAR_SIGN: Final = re.compile(r"[a-z]{4}\d\d")
_THOUSANDS: Final = re.compile("[Kk](?![A-Za-z0-9])")
_AIRLINE: Final = re.compile(
    "(?<![A-Za-z])(?:MU|CA|CZ|HU|ZH|MF|SC|FM|HO|KN|GS|JD|PN|TV|EU|GJ|DZ|KY|BK|CX|BR|CI|SQ|JL|NH|KE|OZ|TG|MH|EK|QR|LH|AF|BA|UA|DL)"
    "(?=[零一二三四五六七八九幺]{3,4}(?![零一二三四五六七八九十百千幺]))"
)
_LETTER_SPAN: Final = re.compile(
    "(?<=[A-Z]) ?[~～] ?(?=[A-Z零一二三四五六七八九十])|(?<=[零一二三四五六七八九十]) ?[~～] ?(?=[A-Z])"
)
# From page to page, from floor to floor, of cells: P210-P235, 3F-5F, A1:A10.
_LETTERED_SIGN: Final = re.compile("[A-Z][0-9]{1,4} ?[-–—~～:] ?[A-Z0-9]|[0-9]F ?[-–—~～]|[-–—~～] ?[0-9]{1,2}F")
_LETTERED_SPAN: Final = re.compile(
    r"(?<![A-Za-z0-9_/.-])(?P<letters>[A-Z]{1,3})(?P<first>\d{1,4})"
    r" ?[-–—~～] ?(?P<same>(?P=letters))(?P<last>\d{1,4})(?![\dA-Za-z_/-]|\.\d)"
    r"|(?<![A-Za-z0-9_/.-])P(?P<page>\d{1,4}) ?[-–—~～] ?(?P<end>\d{1,4})(?![\dA-Za-z_/-]|\.\d)"
    r"|(?<![A-Za-z0-9_/.-])(?P<floor>[BLF]\d|\d{1,3}F) ?[-–—~～] ?(?P<top>[LF]\d{1,2}|\d{1,3}F)(?![\dA-Za-z_/-]|\.\d)"
    r"|(?<![A-Za-z0-9_/.-])(?P<low>\d{1,2}) ?[-–—~～] ?(?P<high>\d{1,2})F(?![\dA-Za-z_/-]|\.\d)"
    r"|(?<![A-Za-z0-9_/.-])(?P<cell>[A-Z]{1,2}\d{1,4}):(?P<corner>[A-Z]{1,2}\d{1,4})(?![\dA-Za-z_/:-]|\.\d)"
)
# From so many to so many with a letter behind both: 3000K-6500K.
_SPAN_OF_LETTER: Final = re.compile("[0-9][A-Z][-–—~～][0-9]")
_SAME_LETTER: Final = re.compile(
    r"(?<![A-Za-z0-9_./-])(?P<from>\d{1,5}(?:\.\d)?)(?P<unit>[A-EI-Z])[-–—~～](?P<upto>\d{1,5}(?:\.\d)?)(?P=unit)(?![A-Za-z0-9_/-])"
)
_FLOOR_SIGN: Final = re.compile(r"(?<=\d)F(?![A-Za-z0-9])")
# Sizes and answers to choose from: S/M/L/XL, A/B/C.
_CHOICE: Final = "(?:[二三四五六]?X{0,3}[SL]|M|[A-Z])"
_CHOICES: Final = re.compile(
    f"(?<![A-Za-z0-9/]){_CHOICE}(?:/{_CHOICE}){{2,7}}(?![A-Za-z0-9/])|(?<![A-Za-z0-9/])(?:[SML]/[二三四]?X{{1,3}}L|S/M|M/L)(?![A-Za-z0-9/])"
)
_FILE_ENDING: Final = re.compile(
    r"(?<=[\u4e00-\u9fff])\.(?=(?:xlsx?|docx?|pptx?|pdf|txt|csv|zip|rar|jpe?g|png|gif|mp[34]|wav|exe|apk|md|py|json|html?)"
    "(?![A-Za-z0-9]))"
)
# Said by their letters in Chinese, though English has a word for them.
_INITIALS: Final = re.compile(
    "(?<![A-Za-z])(?:ETC|SOP|AE|BAT|CAD|TI|yyds|YYDS|yysy|Ig[ADEGM]|LOA)(?![A-Za-z])"
    "|(?<![A-Za-z])(?<![A-Za-z] )(?:AX|BI|OP|AT|AM|EM|PI|EX|EN|SEM|ASP|FOB|MOE)(?![A-Za-z]| [A-Za-z])"
)
_LAUGHTER: Final = re.compile("(?<![A-Za-z])h{2,}(?![A-Za-z])")


def read_quoted_marks(text: TrackedText) -> TrackedText:
    """A mark alone between quotes is spoken of: “/”."""
    return text.sub(_QUOTED_MARK, lambda match: _MARKS[match.group()])


def read_emails(text: TrackedText) -> TrackedText:
    return text.sub(_EMAIL, _email) if "@" in text.text else text


def read_urls(text: TrackedText) -> TrackedText:
    """Web addresses, with their scheme left out, bare domain names, and names of files and objects."""
    for pattern in (_URL, _DOMAIN, _LOCAL):
        text = text.sub(pattern, lambda match: _aloud(match.group()))
    if "_" in text.text:
        text = text.sub(LINE_BELOW, " 下划线 ")
    if "\\" in text.text:
        text = text.sub(_DRIVE, lambda match: _aloud(match.group()))
    if "/" in text.text:
        text = text.sub(_FOLDER, lambda match: _aloud(match.group())).sub(PATH, lambda match: _aloud(match.group()))
    if _NAME_SIGN.search(text.text):
        text = text.sub(_LABELLED_NAME, lambda match: match["gap"] + _aloud(match["name"]))
        text = text.sub(_NAME, lambda match: _aloud(match.group())).sub(_FILE, lambda match: _aloud(match.group()))
    if _YEAR_SIGN.search(text.text):
        text = text.sub(_NAME_AND_YEAR, lambda match: f"{match['gap']}{match['name']} {spelled(match['year'])}")
    if " -" in text.text:
        text = text.sub(_OPTION_NUMBER, lambda match: _dashes(match) if follows_command(match, _CALLED) else None)
    text = read_source_code(text).sub(_HIDDEN_FILE, "点 ").sub(_DOTTED, " 点 ")
    if "点 sh" in text.text:
        text = text.sub(_SHELL_FILE, "S H")
    return text.sub(_OPTION, _dashes) if "-" in text.text else text


def read_phones(text: TrackedText) -> TrackedText:
    """Mobile, landline and service numbers in groups, and short ones after the verb that dials them."""
    text = text.sub(_MOBILE, _mobile).sub(_ABROAD, lambda match: "加" + _dialled_groups(match))
    if "*" in text.text:
        text = text.sub(_MASKED, _dialled_groups)
    if "-" in text.text:
        text = text.sub(_LOCAL_LINE, _dialled_groups)
    for pattern in (_LANDLINE, _SERVICE, _HOTLINE, _ANOTHER_HOTLINE, _EXTENSION, _PREFIX):
        text = text.sub(pattern, _dialled_groups)
    return text


def read_designations(text: TrackedText) -> TrackedText:
    """Spans from letter to letter, and numbers whose hyphen is no sign: of aircraft, rockets, figures and tables."""
    if _LETTERED_SIGN.search(text.text):
        text = text.sub(_LETTERED_SPAN, _lettered_span)
    if _SPAN_OF_LETTER.search(text.text):
        text = text.sub(_SAME_LETTER, _same_letter)
    if _FLOOR_SIGN.search(text.text):
        text = text.sub(_FLOOR, lambda match: f"{match['floor'] or match['floor2'] or match['floor3']}楼")
    if _CASE_SIGN.search(text.text):
        text = text.sub(_CASE, lambda match: spelled(match.group()))
    if _DASHED.search(text.text) is None:
        return text
    text = text.sub(_PROCESSOR, lambda match: f"{match[1][0]}{cardinal(match[1][1])} {spelled(match[2])}")
    return text.sub(_DESIGNATION, _designation).sub(_STRUCTURE, _structure)


def read_codes(text: TrackedText) -> TrackedText:
    """Numbers that name something: of cards, after 号, 码 or 编, of rooms, trains, cars and aircraft, of versions."""
    if "#" in text.text:
        text = text.sub(_KEYS, _keys)
    versioned = _VERSION_SIGN.search(text.text) is not None
    if versioned:
        text = text.sub(_IP, _host)
    text = text.sub(_CARD, lambda match: ", ".join(spelled(group) for group in match.group().split(" ")))
    if "端口" in text.text or "/" in text.text:
        text = text.sub(_PORT_NUMBER, lambda match: spelled(match.group()))
    if _HOUSE_SIGN.search(text.text):
        text = text.sub(_HOUSE, lambda match: spelled(match.group()))
    text = text.sub(_CODE, lambda match: match["gap"] + ", ".join(map(spelled, _CODE_PARTS.split(match["digits"]))))
    if _LONG_NUMBER.search(text.text):
        text = text.sub(_ISSUE, lambda match: spelled(match.group()))
        text = text.sub(_NUMBERED_THING, lambda match: match["gap"] + spelled(match["digits"]))
    if "-" in text.text:
        text = text.sub(_SERIAL, lambda match: f"{match['letters']} {spelled(match['year'])}杠{spelled(match['rest'])}")
        text = text.sub(_ROOMS, lambda match: f"{spelled(match['first'])}到{spelled(match['last'])}")
        text = text.sub(_HOUSE_PARTS, _house_parts).sub(_GROUPED, _grouped).sub(_BUILDING_ROOM, _building_room)
        text = (
            text.sub(_STALL, "杠")
            .sub(_HOUSE_BRANCH, _house_branch)
            .sub(_ROOM_DASH, ", ")
            .sub(_HOUSE_LETTER, lambda match: f"{match['house']}杠{spelled(match['room'])}")
        )
    text = text.sub(_LICENCE, lambda match: spelled(match.group()))
    if _PLATE_SIGN.search(text.text):
        text = text.sub(_PLATE, lambda match: match.group()[0] + " ")
        text = text.sub(_PLATE_DIGITS, lambda match: _letters(match.group()))
    text = text.sub(_AIRCRAFT, lambda match: "".join(map(spelled, _GROUP.findall(match.group()))))
    text = text.sub(_STATUS, lambda match: spelled(match.group())).sub(_ROOM, lambda match: spelled(match.group()))
    text = text.sub(_ANOTHER_ROOM, lambda match: spelled(match.group()))
    if not versioned:
        return text
    if _TRIAL_SIGN.search(text.text):
        text = text.sub(_TRIAL, lambda match: f" {match[1]} {cardinal(match[2]) if match[2] else ''}")
    return text.sub(_VERSION, _version)


def _keys(match: re.Match[str]) -> str:
    return "".join(_KEY_NAMES.get(char) or spelled(char) for char in match.group())


def read_mixed(text: TrackedText) -> TrackedText:
    """Digits that touch Latin letters and were no measure."""
    if " 20" in text.text or " 19" in text.text:
        text = text.sub(_EDITION, lambda match: spelled(match.group()))
    if "802." in text.text:
        text = text.sub(_WIRELESS, lambda match: "点".join(map(spelled, match.group().split("."))))
    if "位数" in text.text:
        text = text.sub(_WINNING, lambda match: _GROUP.sub(lambda digits: spelled(digits.group()), match.group()))
    if "**" in text.text:
        text = text.sub(_BEFORE_HIDDEN, lambda match: spelled(match.group())).sub(
            _UNHIDDEN, lambda match: match[1] + spelled(match[2])
        )
    if _BEFORE_LETTER.search(text.text):
        text = text.sub(_YEAR_BEFORE, lambda match: spelled(match.group()))
    return text.sub(_NUMBERED, _numbered).sub(_MIXED, _mixed)


def _lettered_span(match: re.Match[str]) -> str | None:
    if match["letters"]:
        first, last = match["letters"] + match["first"], match["same"] + match["last"]
        return f"{first}到{last}" if int(match["first"]) < int(match["last"]) else None
    if match["floor"]:
        return "到".join(_FLOOR_SIGN.sub("楼", floor) for floor in (match["floor"], match["top"]))
    if match["low"]:
        return f"{match['low']}到{match['high']}楼"
    if match["page"]:
        rising = int(match["page"]) < int(match["end"])
        return f"P{match['page']}到{match['end']}" if rising else None
    return f"{match['cell']}到{match['corner']}"


def _same_letter(match: re.Match[str]) -> str | None:
    rising = float(match["from"]) < float(match["upto"])
    return f"{match['from']}{match['unit']}到{match['upto']}{match['unit']}" if rising else None


def _house_branch(match: re.Match[str]) -> str:
    house = match["house"]
    said = spelled(house) if len(house) > _LONG_GROUP else cardinal(house)
    between = "到" if int(house) < int(match["branch"]) else "杠"
    return f"{said}{between}{cardinal(match['branch'])}"


def _designation(match: re.Match[str]) -> str:
    number = match["number"]
    exact = len(number) >= _LONG_GROUP and not number.endswith("0" * (len(number) - 1))
    return match["family"] + (spelled(number) if exact else cardinal(number))


def _structure(match: re.Match[str]) -> str:
    label = match.string[match.start() : match.start("number")]
    dashed = _DASHED.sub("杠", match["number"])
    return label + _GROUP.sub(lambda digits: cardinal(digits.group()), dashed)


def _dashes(match: re.Match[str]) -> str:
    return "杠 " * len(match.group())


def _email(match: re.Match[str]) -> str:
    name, _, domain = match.group().partition("@")
    return _aloud(f"{as_characters(name) or name}@{domain}")


def _aloud(address: str) -> str:
    pieces = _PIECE.findall(_SCHEME.sub("", address, count=1).rstrip("/"))
    return " ".join(spelled(piece) if piece.isdigit() else _MARKS.get(piece) or _word(piece) for piece in pieces)


def _word(piece: str) -> str:
    """A word of an address; by its letters where nobody could say it, or a code has them: pku, xyz, aB."""
    if piece.lower() == "www":
        return "W W W"
    if len(piece) == 2 and piece[0].islower() and piece[1].isupper():
        return piece.upper()
    return piece.upper() if len(piece) <= _LONGEST_SPELLED and _UNSAYABLE.match(piece.lower()) else piece


def _letters(written: str) -> str:
    return "".join(spelled(char) if char.isdigit() else char for char in written)


def _grouped(match: re.Match[str]) -> str:
    """Groups of a number digit by digit; short ones, such as marks in a row, as numbers."""
    groups = match.group().split("-")
    short = all(len(group) < _LONG_GROUP and (group[0] != "0" or group == "0") for group in groups)
    return ", ".join(map(cardinal if short else dialled, groups))


def _building_room(match: re.Match[str]) -> str:
    house, room = match["house"] or match["house2"], match["room"] or match["room2"]
    return f"{cardinal(house)}, {spelled(room)}"


def _house_parts(match: re.Match[str]) -> str:
    parts = "".join(f"{cardinal(part)}杠" for part in _GROUP.findall(match["parts"]))
    return f"{match['house']}杠{parts}{spelled(match['room'])}"


def _dialled_groups(match: re.Match[str]) -> str:
    return ", ".join(map(dialled, _GROUP.findall(match.group())))


def _mobile(match: re.Match[str]) -> str:
    digits = "".join(_GROUP.findall(match.group()))
    country, digits = digits[:-11], digits[-11:]
    groups = [*([country] if country else []), digits[:3], digits[3:7], digits[7:]]
    return ("加" if match.group()[0] == "+" else "") + ", ".join(dialled(group) for group in groups)


def _numbered(match: re.Match[str]) -> str | None:
    """The number of a standard and the year of its edition; what a laboratory counts is left to be a number."""
    if match.string.endswith("ISO ", 0, match.start()) and _LIGHT.match(match.group()):
        return None
    if _LABORATORY.search(match.string, max(0, match.start() - 6), match.start()):
        return None
    number, year = match.group().removesuffix(match["year"] or ""), match["year"] or ""
    said = "点".join(map(spelled, number.split(".")))
    return said + ((", " if year[0] == ":" else "杠") + spelled(year[1:]) if year else "")


def _host(match: re.Match[str]) -> str:
    port = f" 冒号 {spelled(match[2])}" if match[2] else ""
    path = f" {_aloud(match[3])}" if match[3] else ""
    return "点".join(map(spelled, match[1].split("."))) + port + path


def _version(match: re.Match[str]) -> str:
    """The parts of a version; a first 一 keeps its tone before what looks like a time of day."""
    first, *others = match.group().split(".")
    apart = " " if first == "1" and others and len(others[0]) == 2 else ""
    return "点".join((cardinal(first) + apart, *map(cardinal, others)))


def _mixed(match: re.Match[str]) -> str:
    digits = match["behind"] or match["before"]
    thousands = match["before"] and _THOUSANDS.match(match.string, match.end())
    words = cardinal(digits) if len(digits) <= 2 or thousands else spelled(digits)
    if match["behind"] and _NUMERAL.match(match.string, match.end()):
        words += ", "  # another number follows: 问界M9五座
    elif match["behind"] == "1":
        words += " "  # a name such as F1 ends here: 一 keeps its tone before the word behind it
    return " " + words if match.group()[0] == "-" else words


def read_letters(text: TrackedText) -> TrackedText:
    """Letters that are no words: codes of airlines before figures, ranges of sizes, endings of files, laughter."""
    text = text.sub(_FILE_ENDING, "点")
    if "/" in text.text:
        text = text.sub(_CHOICES, lambda match: match.group().replace("/", ", "))
    for pattern in (_AIRLINE, _INITIALS):
        text = text.sub(pattern, lambda match: " ".join(match.group().upper()))
    return text.sub(_LETTER_SPAN, "到").sub(_LAUGHTER, lambda match: "哈" * len(match.group()))
