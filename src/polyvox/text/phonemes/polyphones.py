"""Chinese characters with several readings, decided by the words around them.

pypinyin knows the readings of words. Where a character stands alone, or where its word says nothing, these phrases and
patterns decide; they see one stretch of Chinese characters at a time, whose ends are the ends of a clause.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final

from polyvox.text.phonemes.chinese_words import parts_of_speech, pieces

# Longer phrases win. A phrase counts wherever it stands, whatever the tokenizer cut.
PHRASES: Final = {
    "内蒙": "nei4 meng3",
    "外蒙": "wai4 meng3",
    "蒙古": "meng3 gu3",
    "时差": "shi2 cha1",
    "待会": "dai1 hui4",
    "着了凉": "zhao2 le5 liang2",
    "朝九晚五": "zhao1 jiu3 wan3 wu3",
    "子网": "zi3 wang3",
    "朝阳路": "chao2 yang2 lu4",
    "待一会": "dai1 yi2 hui4",
    "温差": "wen1 cha1",
    "逆差": "ni4 cha1",
    "顺差": "shun4 cha1",
    "睡不着": "shui4 bu4 zhao2",
    "睡得着": "shui4 de5 zhao2",
    "睡着": "shui4 zhao2",
    "找不着": "zhao3 bu4 zhao2",
    "够不着": "gou4 bu4 zhao2",
    "用不着": "yong4 bu4 zhao2",
    "犯不着": "fan4 bu4 zhao2",
    "管不着": "guan3 bu4 zhao2",
    "摸不着": "mo1 bu4 zhao2",
    "猜不着": "cai1 bu4 zhao2",
    "点着了": "dian3 zhao2 le5",
    "着凉": "zhao2 liang2",
    "着迷": "zhao2 mi2",
    "衣着": "yi1 zhuo2",
    "数一数": "shu3 yi1 shu3",
    "数了数": "shu3 le5 shu3",
    "数不清": "shu3 bu4 qing1",
    "数不胜数": "shu3 bu4 sheng4 shu3",
    "数得清": "shu3 de5 qing1",
    "直奔": "zhi2 ben4",
    "投奔": "tou2 ben4",
    "公转": "gong1 zhuan4",
    "自转": "zi4 zhuan4",
    "团团转": "tuan2 tuan2 zhuan4",
    "转圈": "zhuan4 quan1",
    "打转": "da3 zhuan4",
    "转椅": "zhuan4 yi3",
    "当真": "dang4 zhen1",
    "当作": "dang4 zuo4",
    "当成": "dang4 cheng2",
    "当铺": "dang4 pu4",
    "当晚": "dang4 wan3",
    "上当": "shang4 dang4",
    "结巴": "jie1 ba5",
    "结实": "jie1 shi5",
    "剥皮": "bao1 pi2",
    "剥壳": "bao1 ke2",
    "看守": "kan1 shou3",
    "看护": "kan1 hu4",
    "看管": "kan1 guan3",
    "看押": "kan1 ya1",
    "呕吐": "ou3 tu4",
    "吐血": "tu4 xie3",
    "晒干": "shai4 gan1",
    "晾干": "liang4 gan1",
    "擦干": "ca1 gan1",
    "吹干": "chui1 gan1",
    "烘干": "hong1 gan1",
    "风干": "feng1 gan1",
    "口干": "kou3 gan1",
    "干巴": "gan1 ba5",
    "喝倒彩": "he4 dao4 cai3",
    "喝彩": "he4 cai3",
    "卡住": "qia3 zhu4",
    "卡壳": "qia3 ke2",
    "关卡": "guan1 qia3",
    "还款": "huan2 kuan3",
    "还钱": "huan2 qian2",
    "还书": "huan2 shu1",
    "还债": "huan2 zhai4",
    "还贷": "huan2 dai4",
    "还价": "huan2 jia4",
    "还给": "huan2 gei3",
    "归还": "gui1 huan2",
    "退还": "tui4 huan2",
    "长胖": "zhang3 pang4",
    "长高": "zhang3 gao1",
    "长大": "zhang3 da4",
    "长相": "zhang3 xiang4",
    "长辈": "zhang3 bei4",
    "背着书包": "bei1 zhe5 shu1 bao1",
    "背书包": "bei1 shu1 bao1",
    "背包": "bei1 bao1",
    "数以": "shu4 yi3",
    "散发": "san4 fa1",
    "中意": "zhong4 yi4",
    "旋风": "xuan4 feng1",
    "重重地": "zhong4 zhong4 de5",
    "舍不得": "she3 bu4 de5",
    "恨不得": "hen4 bu4 de5",
    "巴不得": "ba1 bu4 de5",
    "怪不得": "guai4 bu4 de5",
    "不见得": "bu4 jian4 de5",
    "一撮": "yi4 cuo1",
    "当做": "dang4 zuo4",
    "不得不": "bu4 de2 bu4",
    "只得": "zhi3 de2",
    "弹吉他": "tan2 ji2 ta1",
    "弹起": "tan2 qi3",
    "弹奏": "tan2 zou4",
    "猪圈": "zhu1 juan4",
    "圈养": "juan4 yang3",
    "撒盐": "sa3 yan2",
    "撒上": "sa3 shang4",
    "撒点": "sa3 dian3",
    "撒些": "sa3 xie1",
    "撒一": "sa3 yi1",
    "照片": "zhao4 pian4",
    "相片": "xiang4 pian4",
    "落下": "luo4 xia4",
    "和泥": "huo2 ni2",
    "和牌": "hu2 pai2",
    "扇耳光": "shan1 er3 guang1",
    "大喝一声": "da4 he4 yi4 sheng1",
    "降魔": "xiang2 mo2",
    "整宿": "zheng3 xiu3",
    "跟帖": "gen1 tie3",
    "发帖": "fa1 tie3",
    "回帖": "hui2 tie3",
    "马尾": "ma3 wei3",
    "献血": "xian4 xue4",
    "采血": "cai3 xue4",
    "抽血": "chou1 xue4",
    "炸鸡": "zha2 ji1",
    "炸薯条": "zha2 shu3 tiao2",
    "炸至": "zha2 zhi4",
    "炸成": "zha2 cheng2",
    "下锅炸": "xia4 guo1 zha2",
    "创可贴": "chuang1 ke3 tie1",
    "曾国藩": "zeng1 guo2 fan1",
    "系领带": "ji4 ling3 dai4",
    "系安全带": "ji4 an1 quan2 dai4",
    "系好": "ji4 hao3",
    "系上": "ji4 shang4",
    "系紧": "ji4 jin3",
    "嚼碎": "jiao2 sui4",
    "细嚼慢咽": "xi4 jiao2 man4 yan4",
    "属相": "shu3 xiang4",
    "褪色": "tui4 se4",
    "褪去": "tui4 qu4",
    "粘性": "nian2 xing4",
    "单县": "shan4 xian4",
    "作死": "zuo1 si3",
    "混蛋": "hun2 dan4",
    "一溜小跑": "yi2 liu4 xiao3 pao3",
    "路还长": "lu4 hai2 chang2",
    "时间还长": "shi2 jian1 hai2 chang2",
}
# Readings of words as the tokenizer cut them, which pypinyin does not know.
WORDS: Final = {
    "着实": "zhuo2 shi2",
    "着力": "zhuo2 li4",
    "脏水": "zang1 shui3",
    "教唱": "jiao1 chang4",
}
SURNAMES: Final = {
    "尉迟": "yu4 chi2",
    "万俟": "mo4 qi2",
    "长孙": "zhang3 sun1",
    "澹台": "tan2 tai2",
    "令狐": "ling2 hu2",
    "单": "shan4",
    "仇": "qiu2",
    "任": "ren2",
    "华": "hua4",
    "曾": "zeng1",
    "解": "xie4",
    "查": "zha1",
    "区": "ou1",
    "朴": "piao2",
    "盖": "ge3",
    "缪": "miao4",
    "宁": "ning4",
    "翟": "zhai2",
    "覃": "qin2",
    "员": "yun4",
    "种": "chong2",
    "乐": "yue4",
    "洗": "xian3",
    "冼": "xian3",
    "召": "shao4",
    "折": "she2",
    "黑": "he4",
    "秘": "bi4",
    "燕": "yan1",
    "哈": "ha3",
    "葛": "ge3",
    "那": "na1",
    "纪": "ji3",
    "应": "ying1",
    "繁": "po2",
    "尹": "yin3",
    "车": "che1",
    "石": "shi2",
    "重": "chong2",
}
_TITLE: Final = (
    "(?:先生|女士|小姐|老师|教授|经理|医生|大夫|同学|主任|师傅|律师|总(?![是会要有])|董(?!事会)|队长|局长|书记)"
)
_NAMED: Final = re.compile(f"姓(?P<name>{'|'.join(SURNAMES)})")
# Before a title only those that are seldom anything else there.
_TITLED: Final = re.compile(
    f"(?:^|(?<=[找见请问给跟和是叫位的了]))(?P<name>尉迟|令狐|[单仇任曾解查朴区翟覃缪葛纪])(?={_TITLE})"
)


@dataclass(frozen=True, slots=True)
class _Rule:
    """A reading of the character that `pattern` begins at or calls `at`; `alone` where it must be a word by itself."""

    pattern: re.Pattern[str]
    reading: str
    alone: bool


def _rules(*rules: tuple[str, str]) -> tuple[_Rule, ...]:
    """Pairs of a reading and a pattern; a reading with a star is for a word of one character only."""
    return tuple(_Rule(re.compile(pattern), reading.strip("*"), reading.endswith("*")) for reading, pattern in rules)


_NUMERAL: Final = "一二两三四五六七八九十百千万几多半"
_PRONOUN: Final = "我你他她它您咱"
_GROUP: Final = "这那哪每某各另"
# Last characters of words that tell how something is done.
_MANNERS: Final = "急兴快静然心细力速极底刻动意真情巧密切谨慎诚恳悄轻默匆渐微松稳准乐续断步度"
# The first rule that fits decides; later ones are for what is left.
RULES: Final[dict[str, tuple[_Rule, ...]]] = {
    "长": _rules(
        ("chang2", "长(?=胡子|胡须|头发|裤|裙|袖|腿|发[女飘披及])"),
        ("zhang3*", "长(?=[得大高胖出满成着])"),
        ("chang2", "(?<=[很太真更最挺够么越极超])长(?!得|大|高|胖|出|满|成|着|官|辈|子|者)"),
        ("chang2*", "(?<=[好不多又也还路腿发身手脚尾线河米里尺寸])长"),
        ("chang2*", f"长(?=达|约|[{_NUMERAL}]|$)"),
    ),
    "幢": _rules(("zhuang4", "幢")),
    "假": _rules(("jia4", f"(?<=[{_NUMERAL}][天周月年])(?:的)?(?P<at>假)(?![的如装货])")),
    "场": _rules(("chang3", "(?<=[上每][一两三几])场(?![雨雪病梦仗])")),
    "还": _rules(
        ("huan2", "(?<=最低)还|还(?=金额|本金|本息|利息|欠款)|(?<=[应待已未])还(?=金|本|贷|款|清|$)"),
        ("huan2*", f"还(?=[{_PRONOUN}](?:[钱书一们的]|$))|^还(?=[{_PRONOUN}])"),
        ("huan2*", f"还(?=[{_PRONOUN}]$|人$|回|掉|完|得起|不起|清(?![楚醒晰早静洁])|$)"),
        ("huan2*", "还(?=了[^吗呢吧]{0,8}(?:书|钱|债|款|车|贷|账|你|我|他|她|给))"),
        ("huan2*", f"(?<=[钱书债款车账])还(?=[{_PRONOUN}])"),
    ),
    "得": _rules(
        (
            "de2",
            "得(?=到|了?(?:第|冠|奖|亚|季|满?分|病|癌|金|银|铜|一等|二等|感冒|胃|肺|肝|糖尿|抑郁)|出结|知|罪|救|逞|宠|势)",
        ),
        ("dei3*", f"(?<=[{_PRONOUN}们家谁])得(?!了$|$|分|的)"),
        ("dei3*", "(?<=[都就还也又总必可真])得(?![很太真好不多更最])(?=.)"),
        ("dei3", "(?<=非)得(?![到知益分])"),
        ("dei3", "得(?=马上|赶紧|赶快|立刻|立即|先|好好|早点|早早|尽快|抓紧|注意|小心|亲自|自己|去|把|靠|花[钱时])"),
        ("de5*", "(?<=[懒舍记])得$"),
        ("de5*", f"(?<=[^{_PRONOUN}])得(?=[很太真多更最越])"),
    ),
    "只": _rules(
        ("zhi1", f"(?<=[{_NUMERAL}{_GROUP}])只(?![是有能要会好怕顾管不需])"),
        ("zhi1", "(?<=[有是养买像])只(?=[大小老黑白花]?[猫狗鸟鸡鸭鹅羊虫鼠兔虎熊猴蚊蝶龟手船箱])"),
    ),
    "行": _rules(
        ("hang2", f"第[{_NUMERAL}零]{{1,7}}(?P<at>行)"),
        ("hang2", f"(?<=[{_NUMERAL}])行(?=字|代码|诗|泪|眼泪|树)|(?<=哪)行(?=字|$)"),
        ("hang2", "(?<=[同本这那])行(?=业|的人|$)|(?<=[这那])行(?=的(?!话|吧))|(?<=[这那哪]一)行"),
        ("hang2", "(?<=[你我他她咱]们)行(?=周|星期|营业|贷款|存款|共|将|现|推出|网点|客户)"),
    ),
    # A figure before the point, or the last of several, keeps its tone.
    "一": _rules(("yi1", "(?<=[十百零点])一(?=点)|(?<!有)一(?=点[零一二三四五六七八九](?![十心]))")),
    "教": _rules(
        ("jiao1", f"教会?(?=[了过{_PRONOUN}给]|孩子|学生|大家|别人|人们|书)"),
        ("jiao1*", "教(?![室师授育学练堂材案科导程官养会皇徒义员父])"),
    ),
    "中": _rules(
        ("zhong4", "中(?=[奖标彩签计弹箭枪毒暑风邪]|招(?!生|聘|商|收|募)|了(?:[一二三头大特]等?)?奖)"),
        ("zhong4", "(?<=[猜射击抽押相命说砸投])中(?![国文午间学小年秋东西华心])"),
        ("zhong4", "(?<=[看选打考])中(?=[了的一这那过]|靶|目标|头|$)"),
        ("zhong4*", "(?<=[我你他她它们])中(?=了)|中(?=过)"),
    ),
    "数": _rules(
        (
            "shu3",
            f"(?<=从[{_NUMERAL}])数(?=到)|(?<=把钱)数(?=清|一|了|好|完)|数(?=到[{_NUMERAL}]|[了着]|得?清|过来|不过来|钱|星星|绵羊)",
        ),
        ("shu3", "(?<=倒着)数|(?<=一)数(?=才|就|发现|有)|(?<=[就要算])数(?=[他她你我])"),
    ),
    "脏": _rules(("zang1*", "(?<![心肝肾肺脾内五])脏(?![器腑])")),
    "削": _rules(("xiao1*", "削(?![减弱价职除权足])")),
    "为": _rules(
        ("wei4", "为(?=了|何|什么|啥|此)"),
        ("wei2", "(?<=[选成作视变称定列评分改名誉译约均升降转化沦设判任聘封立记读写积度量高宽价格数率重龄温额间期])为"),
        ("wei2", "(?<=被[^的]{3})为|(?<=被[^的]{2})为"),
        ("wei2", f"(?<!因)为(?=[零负约]?[{_NUMERAL}](?![个位名些次句只家代])|百分之|$)|(?<=[否即皆实])为"),
    ),
    "种": _rules(
        ("zhong3*", f"(?<=[{_NUMERAL}{_GROUP}此])种"),
        ("zhong4*", "种(?=[了着过上下满]|花|草|瓜|豆|水稻|玉米|果|粮|小麦|土豆|庄稼|什么树)"),
    ),
    "调": _rules(
        ("tiao2", "调(?=[大小高低亮暗好准匀慢快升降]|一下)"),
        ("tiao2*", "(?<=音量|声音|温度|亮度|闹钟|空调|频道|时间|火候)调"),
        ("tiao2*", "(?<=把.)调(?=到|成)"),
    ),
    "当": _rules(
        ("dang4", "(?<=把[你我他她它])当(?![着时场面中地])|(?<=把[你我他她它]们)当(?![着时场面中地])"),
        ("dang4*", f"(?<=[就只权全还])当(?=[是没做不自{_PRONOUN}])|(?<=拿[{_PRONOUN}])当|(?<=拿[{_PRONOUN}]们)当"),
        ("dang4", "(?<=别把)当|(?<=把..)当(?=回事|朋友|真|宝|孩子|人|作|成|垃圾|敌人)"),
    ),
    "干": _rules(
        (
            "gan1",
            "(?<=衣服|头发|皮肤|嘴唇|毛巾|地面|河水|眼泪|油漆|裤子|鞋子|被子)(?:都|已经|快|还没|很|太|好|不|没)?(?P<at>干)(?=$|了|得|透|的)",
        ),
        ("gan1", "(?<=[很太好])(?<!不好)干(?=$|了)"),
    ),
    "背": _rules(
        ("bei1", "背(?=[着起上]?(?:书包|包|孩子|行李|小孩|娃|债|黑锅|篓|枪|老人|奶奶|爷爷))"),
        ("bei1", f"背(?=[{_PRONOUN}](?:去|回|上|下|过|到))"),
    ),
    "转": _rules(
        ("zhuan4", "(?<=绕太阳|绕地球)转|(?<=围着[你我他她它])转|(?<=绕着.)转|(?<=不停地)转|(?<=[飞空在])转$"),
        ("zhuan4", "转(?=[悠盘轮]|起来|个圈|了一圈|一圈|两圈|几圈|三圈)"),
    ),
    "切": _rules(
        ("qie1", "(?<![一亲密迫恳关热贴急心深殷真确])切(?=[成开了碎片丝块菜肉蛋西葱黄好断除水洋土牛羊]|一下)")
    ),
    "量": _rules(
        (
            "liang2",
            "量(?=了[几两三好])|(?<![数质力重大容流电能热剂音尽少适批分产销])量(?=一?[量下]|体温|血压|尺寸|身高|三围|衣服|腰围|了[一下])",
        ),
    ),
    "盛": _rules(("cheng2", f"盛(?=[了满上]?[{_NUMERAL}]?[碗盘杯勺点]|[饭汤水菜粥]|着水|满了|好了|出来)")),
    "奔": _rules(
        ("ben4", "奔(?=着|向[^往]?目标|主题|五十|六十)"),
    ),
    "地": _rules(
        ("de5*", r"(.)\1(?P<at>地)(?![上下里面方点])"),
        ("de5*", f"(?<=[{_MANNERS}])地(?![上下里面方点区板球铁])(?=.)"),
        ("de5", f"(?<=[{_MANNERS}])地(?=[说笑走跑看问答听想做写读喊叫讲唱跳哭])"),
    ),
    "的": _rules(("di1", "(?<![是被我你他她谁])(?<=打)的(?=回|去|来|到|过|走|上班|吧)")),
    "吐": _rules(
        ("tu4", "(?<=[醉想要呕晕车])吐(?![痰露槽丝口字气舌])"),
        ("tu4", "吐(?=了$|了一[地床身]|了好|奶|得厉害)"),
    ),
    "看": _rules(("kan1", "看(?=孩子|小孩|娃|大门|摊|铺子|住[你我他她它])")),
    "结": _rules(("jie1", "结(?=[了出满]?.{0,3}(?:果子|果实|瓜|籽|豆|西红柿|苹果|桃子|葡萄))")),
    "冲": _rules(("chong4", "(?<=[很太真挺更么])冲(?=$|的|得)")),
    "扎": _rules(("za1", "(?<=头发|辫子|马尾)扎|扎(?=[着了起]?.{0,3}(?:辫|马尾|头发|蝴蝶结|领带))")),
    "剥": _rules(("bao1", "剥(?=[皮壳鸡蛋虾花橘蒜豆瓜开了香洋板栗]|着|个)")),
    "蒙": _rules(("meng1", f"(?<=[别想敢在被又瞎])蒙(?=[{_PRONOUN}人对的了])|蒙(?=对了)")),
    "着": _rules(
        ("zhuo2", "(?<=穿)着(?=[很讲朴随时整考打非十都得体](?!雨|红|白|黑|蓝|花))"),
        ("zhao2", "(?<=.不)着(?![痕墨])"),
        ("zhao2", "(?<=[睡找够猜点冻烫累吓碰逮])着(?=了|$)"),
    ),
    "倒": _rules(
        ("dao4", "(?<=[顺序放贴字])倒(?=了|着|过来|$)|倒(?=了?[一两半]?[杯碗点]|了?垃圾|掉|车|水|茶|酒|立|着|数)"),
        ("dao3", "倒(?=了|下|塌|在|闭|地)"),
    ),
    "散": _rules(("san4", "散(?=了|会|场|步|去|开|发)")),
    "卷": _rules(("juan3", "(?<=[太很更真内这么])卷(?=了|$|得|死|起来)")),
}


def corrections(text: str, words: Sequence[str]) -> dict[int, str]:
    """The readings that the context decides, by their places in a stretch of Chinese characters.

    `words` are the tokens of the text. Phrases and surnames go before rules, and rules before parts of speech.
    """
    found: dict[int, str] = {}
    for place, reading in (*_phrases(text), *_surnames(text)):
        found.setdefault(place, reading)
    for place, reading in _words(words):
        found.setdefault(place, reading)
    alone = _lone_places(pieces(words))
    for char in set(text) & RULES.keys():
        for rule in RULES[char]:
            for match in rule.pattern.finditer(text):
                place = match.start("at") if "at" in rule.pattern.groupindex else match.start()
                if not rule.alone or place in alone:
                    found.setdefault(place, rule.reading)
    for place, reading in _by_part_of_speech(words):
        found.setdefault(place, reading)
    return found


def _by_part_of_speech(words: Sequence[str]) -> Iterator[tuple[int, str]]:
    """Lone particles and verbs, by the kinds of the words on both sides."""
    tags = parts_of_speech()
    parts = [part for word in words for part in (pieces([word]) if not _PARTICLES.keys().isdisjoint(word) else [word])]
    place = 0
    for index, part in enumerate(parts):
        if part in _PARTICLES:
            before = parts[index - 1] if index else ""
            behind = parts[index + 1] if index + 1 < len(parts) else ""
            kinds = _kind((before, before[-2:], before[-1:]), tags), _kind((behind, behind[:2], behind[:1]), tags)
            reading = _PARTICLES[part](*kinds)
            if reading:
                yield place, reading
        place += len(part)


def _kind(forms: tuple[str, str, str], tags: Mapping[str, str]) -> str:
    """The first letter of the tag of a word, or of that end of it which has one; `-` for no word."""
    return next((tags[form][0] for form in forms if form in tags), "x") if forms[0] else "-"


def _de_of_complement(before: str, behind: str) -> str | None:
    """děi, must, behind a thing, person or time and before what must be done; else the particle behind a verb."""
    if before in "nrtsf" and behind in "vdpr":
        return "dei3"
    return "de5" if before in "vazib" and behind != "-" else None


def _de_of_manner(before: str, behind: str) -> str | None:
    """The particle between how something is done and its doing; else the ground."""
    if before in "nv":
        return "de5" if behind == "v" else None
    return "de5" if before in "dazibl" and behind in "vdapi" else None


def _number_or_count(before: str, behind: str) -> str | None:
    """shǔ, to count, before whom or what is counted."""
    return "shu3" if behind == "r" or (before in "rdp" and behind != "m") else None


_PARTICLES: Final[Mapping[str, Callable[[str, str], str | None]]] = {
    "得": _de_of_complement,
    "地": _de_of_manner,
    "数": _number_or_count,
}


def _phrases(text: str) -> Iterator[tuple[int, str]]:
    """The readings of the phrases in a text; none begins inside another."""
    phrases = _phrases_by_first()
    behind = 0
    for place, char in enumerate(text):
        if place < behind or char not in phrases:
            continue
        phrase = next((phrase for phrase in phrases[char] if text.startswith(phrase, place)), None)
        if phrase:
            behind = place + len(phrase)
            yield from enumerate(PHRASES[phrase].split(), start=place)


def _words(words: Sequence[str]) -> Iterator[tuple[int, str]]:
    place = 0
    for word in words:
        for offset, reading in enumerate(WORDS.get(word, "").split()):
            yield place + offset, reading
        place += len(word)


def _surnames(text: str) -> Iterator[tuple[int, str]]:
    for pattern in (_NAMED, _TITLED):
        for match in pattern.finditer(text):
            for offset, reading in enumerate(SURNAMES[match["name"]].split()):
                yield match.start("name") + offset, reading


def _lone_places(words: Sequence[str]) -> frozenset[int]:
    """Places of words of one character."""
    places: list[int] = []
    start = 0
    for word in words:
        if len(word) == 1:
            places.append(start)
        start += len(word)
    return frozenset(places)


@cache
def _phrases_by_first() -> Mapping[str, Sequence[str]]:
    """The phrases by their first characters, the longest first."""
    found: dict[str, list[str]] = {}
    for phrase in sorted(PHRASES, key=len, reverse=True):
        found.setdefault(phrase[0], []).append(phrase)
    return found
