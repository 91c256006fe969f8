"""Names of people in pinyin without tones, as addresses and accounts have them."""

import re
from functools import lru_cache
from typing import Final

# A character that is common in names, and has one reading, for each syllable.
_SYLLABLES: Final = re.findall(
    "([a-z]+)([\u4e00-\u9fff])",
    "a阿 ai爱 an安 ang昂 ao敖 ba巴 bai白 ban班 bang帮 bao宝 bei贝 ben本 beng崩 bi碧 bian变 biao彪 bie憋 bin斌 "
    "bing兵 bo波 bu布 cai蔡 can残 cang舱 cao曹 cen岑 ceng层 cha茶 chai柴 chan婵 chang常 chao超 che扯 chen陈 "
    "cheng程 chi池 chong崇 chou抽 chu楚 chuai揣 chuan川 chuang床 chui锤 chun春 chuo戳 ci慈 cong聪 cou凑 "
    "cu粗 cuan窜 cui崔 cun村 cuo错 da达 dai戴 dan丹 dang党 dao到 de德 deng邓 di迪 dian典 diao雕 die蝶 ding丁 "
    "diu丢 dong董 dou窦 du杜 duan段 dui对 dun墩 duo多 en恩 er二 fa法 fan范 fang方 fei飞 fen芬 feng冯 fou否 "
    "fu傅 ga嘎 gai该 gan甘 gang刚 gao高 ge戈 gei给 gen跟 geng耕 gong龚 gou够 gu顾 gua挂 guai怪 guan官 "
    "guang光 gui贵 gun滚 guo郭 ha哈 hai海 han韩 hang航 hao郝 he何 hei黑 hen很 heng恒 hong红 hou侯 hu胡 hua花 "
    "huai怀 huan欢 huang黄 hui慧 hun婚 huo获 ji季 jia佳 jian建 jiang蒋 jiao娇 jie杰 jin金 jing静 jiong囧 "
    "jiu就 ju菊 juan娟 jue珏 jun军 ka卡 kai凯 kan砍 kang康 kao靠 ke柯 ken肯 keng铿 kong孔 kou口 ku库 kuai快 "
    "kuan宽 kuang矿 kui魁 kun坤 kuo阔 la辣 lai赖 lan兰 lang朗 lao老 le乐 lei雷 leng愣 li李 lian莲 liang梁 "
    "liao廖 lie烈 lin林 ling玲 liu刘 long龙 lou娄 lu陆 luan乱 lun伦 luo罗 lv吕 lve略 ma马 mai买 man曼 mang忙 "
    "mao毛 mei梅 men门 meng孟 mi米 mian棉 miao苗 mie灭 min敏 ming明 miu谬 mo莫 mou谋 mu木 na娜 nai奶 nan南 "
    "nao闹 nei馁 nen嫩 neng能 ni妮 nian念 niang娘 niao袅 nie捏 nin您 ning凝 niu牛 nong浓 nu怒 nuan暖 nuo诺 "
    "nv女 nve虐 ou藕 pa帕 pai牌 pan潘 pang庞 pao抛 pei佩 pen盆 peng彭 pi皮 pian偏 piao飘 pin品 ping平 po破 "
    "pu蒲 qi琪 qia恰 qian钱 qiang强 qiao乔 qin秦 qing清 qiong穷 qiu邱 qu瞿 quan权 que鹊 qun群 ran冉 rang让 "
    "rao饶 re热 ren仁 reng仍 ri日 rong荣 rou柔 ru如 ruan软 rui瑞 run润 ruo若 sa萨 sai赛 san三 sang桑 sao嫂 "
    "se瑟 sen森 seng僧 sha莎 shai晒 shan珊 shang尚 shao邵 she佘 shen沈 sheng胜 shi石 shou守 shu书 shua耍 "
    "shuai帅 shuan闩 shuang双 shui水 shun顺 shuo硕 si思 song宋 sou艘 su苏 suan算 sui虽 sun孙 suo所 ta塔 "
    "tai泰 tan谭 tang唐 tao涛 te特 teng疼 ti提 tian田 tiao条 tie铁 ting婷 tong彤 tou偷 tu涂 tuan团 tui退 "
    "tun臀 tuo托 wa娃 wai外 wan万 wang王 wei伟 wen文 weng瓮 wo沃 wu吴 xi西 xia夏 xian贤 xiang香 xiao晓 xie谢 "
    "xin欣 xing星 xiong熊 xiu秀 xu徐 xuan轩 xue雪 xun勋 ya雅 yan燕 yang杨 yao姚 ye叶 yi易 yin尹 ying英 "
    "yong勇 you友 yu于 yuan袁 yue月 yun云 za砸 zai在 zan暂 zang臧 zao早 ze泽 zei贼 zen怎 zeng增 zha闸 zhan詹 "
    "zhang张 zhao赵 zhe哲 zhen珍 zheng郑 zhi志 zhong钟 zhou周 zhu朱 zhua抓 zhuan专 zhuang庄 zhui锥 zhun准 "
    "zhuo卓 zi紫 zong宗 zou邹 zu祖 zuan攥 zui最 zun尊 zuo左 ",
)
_CHARACTERS: Final = dict(_SYLLABLES)
_SURNAMES: Final = frozenset(
    "wang li zhang liu chen yang zhao huang zhou wu xu sun hu zhu gao lin he guo ma luo liang song zheng xie han tang "
    "feng yu dong xiao cheng cao yuan deng fu shen zeng peng lv su lu jiang cai jia ding wei xue ye yan pan du dai xia "
    "zhong tian ren fan fang shi yao tan liao zou xiong jin hao kong bai cui kang mao qiu qin gu hou shao meng long "
    "wan duan lei qian yin yi chang wen zhan qi ji shu qu xiang zhuang pang tao jing lai gong geng".split()
)
_SURE_SURNAMES: Final = frozenset(
    "wang zhang chen yang zhao huang zhou zheng xiao zeng cheng jiang xiong zhong zhuang qian qiu shao cui".split()
)
"""Surnames that are no words of other languages."""
_WORDS: Final = frozenset(
    "manage manager change marina madame machine sunshine tanning fanning language engage human lumen linen panda "
    "wanna linda susan tanya taxi maxi".split()
)
"""Words of other languages that have the letters of such names."""
_BRANDS: Final = dict(
    pair.split(":")
    for pair in (
        "baidu:百度 taobao:淘宝 weibo:微博 douyin:抖音 zhihu:知乎 tieba:贴吧 kuaishou:快手 xiaomi:小米 "
        "huawei:华为 youku:优酷 jingdong:京东 pinduoduo:拼多多 meituan:美团 xiecheng:携程 "
        "weixin:微信 zhifubao:支付宝 gaode:高德 wangyi:网易 xinlang:新浪"
    ).split()
)
_PART: Final = re.compile("[a-z]+")
_LONGEST_SYLLABLE: Final = 6
_MOST_SYLLABLES: Final = 4
_SHORTEST_RUN: Final = 6
_SHORTEST_WORD: Final = 5
_LONGEST: Final = 24


@lru_cache(1024)
def as_characters(name: str) -> str | None:
    """The name of an account with characters for its syllables; None unless it is a surname and a given name."""
    parts = _PART.findall(name.lower()) if len(name) <= _LONGEST else []
    syllables = _syllables(parts)
    if len(syllables) < 2 or (len(parts) == 1 and len(parts[0]) < _SHORTEST_RUN):
        return None
    if syllables[0] not in _SURNAMES and (len(parts) == 1 or parts[-1] not in _SURNAMES):
        return None
    return _PART.sub(lambda part: _said(part.group()), name.lower())


@lru_cache(1024)
def word_as_characters(word: str) -> str | None:
    """A word in small letters with characters for its syllables; None unless it can hardly be anything but pinyin."""
    if word in _BRANDS:
        return _BRANDS[word]
    syllables = _syllables([word]) if len(word) <= _LONGEST else []
    if len(syllables) < 2:
        return _said(word) if word in _SURE_SURNAMES else None
    named = len(word) >= _SHORTEST_WORD and syllables[0] in _SURNAMES
    return _said(word) if named or any(syllable.startswith(("zh", "x", "q")) for syllable in syllables) else None


def _syllables(parts: list[str]) -> list[str]:
    """The syllables of runs of letters; none unless all of them are pinyin, few, and no words of another language."""
    cut = [_cut(part, _MOST_SYLLABLES) for part in parts]
    syllables = [syllable for part in cut if part for syllable in part]
    return syllables if all(cut) and len(syllables) <= _MOST_SYLLABLES and _WORDS.isdisjoint(parts) else []


def _said(run: str) -> str:
    return "".join(map(_CHARACTERS.__getitem__, _cut(run, _MOST_SYLLABLES) or ()))


def _cut(part: str, most: int) -> list[str] | None:
    """The syllables of a run of letters, the first as long as may be."""
    if not part or not most:
        return None if part else []
    for size in range(min(_LONGEST_SYLLABLE, len(part)), 0, -1):
        if part[:size] in _CHARACTERS:
            rest = _cut(part[size:], most - 1)
            if rest is not None:
                return [part[:size], *rest]
    return None
