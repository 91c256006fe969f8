"""Surnames of several readings before given names, where the words around tell of a person."""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from polyvox.text.phonemes.chinese_words import word_cutter
from polyvox.text.phonemes.polyphone_phrases import SURNAMES

_SURNAME: Final = "[单仇任曾解查朴区盖缪翟覃葛纪宁华应乐燕那]"
_SURNAMES: Final = frozenset(_SURNAME[1:-1])
# Characters that many given names are made of.
_GIVEN: Final = (
    "[鲁豫亮伟芳娜敏静丽强磊军洋勇艳杰涛明超秀霞平刚桂英华玉萍红娥玲芬燕彬建国文辉志晓小春梅兰凤洁琳雪荣爱妹香月莺媛瑞凡佳嘉琼勤珍贞莉"
    "娣叶璧璐娅琦晶妍茜秋珊莎锦黛青倩婷姣婉娴瑾颖露瑶怡婵雁蓓纨仪荷丹蓉眉君琴蕊薇菁梦岚苑婕馨瑗琰韵融园艺咏卿聪澜纯毓悦昭冰爽琬茗羽希"
    "欣飘育滢馥筠柔竹霭凝霄枫芸菲寒伊亚宜可姬舒影荔枝思毅俊峰龙家豪浩宇轩子涵梓泽博睿晨阳天佑鹏飞翔鑫森林海山东方正义忠诚信仁德贤良才"
    "学勋功立业兴旺福寿康宁安邦振宗耀祖光宏达富贵金银宝珠玮琪琛瑜珂彤晴雯倚虹霖雨云朋友仲叔季伯先生武斌威猛坚钢铁锋刃凌楠桐柏松槐杨柳"
    "榕栋梁启开元广坤震恒益巽鼎恺凯旋航帆舟波江河湖源清泉沛润泓渊潇洪济世民永长久远昌盛绍继承万里大千百川雷霆健壮如恩臣哲然沐言墨念瑄萱昊煜辰宸皓熙晗语诗雅妙菡淇彦廷钧奕诺欢敬谦茂晓冬夏庆祥红卫淑惠慧倩蕾曼炜炎焕骏骁鸣鸿鹤麟岩峻嵘巍岳崇滨凌维群树守]"
)
# What people are and do, in front of their names.
_ROLE: Final = (
    "(?:记者|通讯员|编辑|摄影|作者|导演|编剧|演员|主演|主持人|歌手|书记|主席|[校院局市县省部处科厅队组班团会船机行社司][长]|主任|总裁|董事长|经理"
    "|教授|博士|院士|律师|法官|选手|球员|教练|老师|医生|护士|同学|同事|同桌|室友|邻居|民警|检察官|村民|市民|居民|网友|患者|被告人?|原告|嫌疑人|罪犯|当事人|法定代表人|代表"
    "|委员|负责人|发言人|联系人|专家|研究员|学者|诗人|作家|画家|将军|名将|宇航员|航天员|工程师|申请人|股东|名叫|姓名|我叫|他叫|她叫|小将|新秀|实控人|控制人)"
)
# What follows the name of somebody.
_BEHIND: Final = (
    "(?:$|说|表示|介绍|告诉|认为|指出|称|报道|摄|等|因|被|于|以|与|和|及|在|从|到|为|是|获|夺|任|出席|主持|强调|透露|回忆|坦言|先生|女士|老师"
    "|教授|同学|医生|主任|同志|出具|参加|担任|当选|带领|团队|负责|提出|发表|签署|荣获|撰写|领衔|饰演|执导|执教|夫妇|一行|涉嫌|向|对|将)"
)
_NAMED: Final = re.compile(
    f"(?={_SURNAME})(?:(?:(?<={_ROLE[3:-1].replace('|', ')|(?<=').replace('被告人?', '被告)|(?<=被告人')}))"
    f"(?P<told>{_SURNAME})(?={_GIVEN}{{1,2}}{_BEHIND})"
    f"|^(?P<listed>[单仇任曾解查翟覃缪葛纪])(?={_GIVEN}{{2}}(?:$|{_BEHIND}))"
    # Somebody whose name is not told: 仇某, 任某某.
    f"|(?:^|(?<=[人告和与及对将向被由让受长员工官师者理总的因]))(?P<veiled>[单仇任曾解查朴区盖缪翟覃葛纪宁华应乐燕那])(?=某(?![个种些一天日件时处地年月])))"
)
# Of these a whole token is a name where two characters of given names follow and nobody lists it as a word.
_OPENING: Final = frozenset("单仇任曾解查朴翟覃缪葛")
_NAME: Final = re.compile(f".{_GIVEN}{{2}}")
_NAME_LENGTH: Final = 3


def names_among(text: str, words: Sequence[str]) -> Iterator[tuple[int, str]]:
    """The readings of surnames that begin an unlisted token which looks like a whole name."""
    if _OPENING.isdisjoint(text):
        return
    place = 0
    for word in words:
        if (
            len(word) == _NAME_LENGTH
            and word[0] in _OPENING
            and _NAME.fullmatch(word)
            and not word_cutter().FREQ.get(word)
        ):
            yield place, SURNAMES[word[0]]
        place += len(word)


def surnames_before_names(text: str) -> Iterator[tuple[int, str]]:
    """The readings of surnames by their places in a stretch of Chinese characters."""
    if _SURNAMES.isdisjoint(text):
        return
    for match in _NAMED.finditer(text):
        group = match.lastgroup or "told"
        yield match.start(group), SURNAMES[match[group]]
