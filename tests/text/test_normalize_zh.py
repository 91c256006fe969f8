"""How Chinese is read aloud: written form on the left, spoken form on the right."""

import time
import unicodedata

import cn2an
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.examples import examples
from helpers.linear_time import grows_linearly
from helpers.tables import each_row
from polyvox.text.normalize.chinese.numbers import cardinal
from polyvox.text.normalize.zh import normalize
from polyvox.text.tracked import TrackedText
from polyvox.types import NormalizationOptions


def spoken(text: str, **options: bool) -> str:
    return normalize(TrackedText.of(text), NormalizationOptions(**options)).text


NUMBERS = {
    "0": "零",
    "10": "十",
    "12": "十二",
    "105": "一百零五",
    "110": "一百一十",
    "1005": "一千零五",
    "10010": "一万零一十",
    "120000": "十二万",
    "123456789": "一亿两千三百四十五万六千七百八十九",
    "1,234": "一千二百三十四",
    "100000000": "一亿",
    "2000": "两千",
    "20000": "两万",
    "200": "二百",
    "22": "二十二",
    "007": "零零七",
    "12345678901234567": "一二三四五六七八九零一二三四五六七",
    "3.14": "三点一四",
    "0.5": "零点五",
    "温度-5": "温度负五",
    "-3.5": "负三点五",
    "１２３": "一百二十三",
    "第3名": "第三名",
    "第2天": "第二天",
    "2个": "两个",
    "12个": "十二个",
    "2人": "两人",
    "2月": "二月",
    "2号楼": "二号楼",
    "2.5个": "二点五个",
    "3万": "三万",
}

PAIRS_AND_FACTORS = {
    "2室1厅": "两室一厅",
    "3房2厅2卫": "三房两厅两卫",
    "2夜": "两夜",
    "2波进攻": "两波进攻",
    "2门课": "两门课",
    "2起事故": "两起事故",
    "2处罚单": "二处罚单",
    "2手房": "二手房",
    "4×100米接力": "四乘一百米接力",
    "金币x500": "金币乘五百",
    "4x4": "四乘以四",
    "0x10": "零x十",
    "2-8℃": "二到八摄氏度",
    "全国人口140,828万人": "全国人口十四亿零八百二十八万人",
    "139万人": "一百三十九万人",
    "同比+8.7%": "同比增长百分之八点七",
    "a²>b²": "a的平方大于b的平方",
    "1/a<1/b": "a分之一小于b分之一",
    "PLT 210×10⁹/L": "PLT 二百一十乘以十的九次方每升",
    "K8s": "K八s",
    "M.2": "M点二",
    "11.1晚8点": "十一月一日晚八点",
    "全国I卷": "全国一卷",
    "排成2列": "排成两列",
    "2死5伤": "两死五伤",
    "5MPN/100mL": "五MPN每一百毫升",
    "x=2代入": "x等于二代入",
    "第1、2剂": "第一, 二剂",
    "|-5|": "负五的绝对值",
    "i % 2": "i取余二",
    "4,750/1,921/1,624mm": "四千七百五十, 一千九百二十一, 一千六百二十四毫米",
    "2.3万/平": "二点三万每平",
    "第二局19-21": "第二局十九比二十一",
    "Office 2019": "Office 二零一九",
    "2025届": "二零二五届",
    "37秒348": "三十七秒三四八",
    "105.07:100": "一百零五点零七比一百",
    "0.3A": "零点三安",
    "WWII": "WW二",
    "Louis XIV": "Louis 十四",
    "Windows XP": "Windows XP",
}

NUMBERED_PLACES = {
    "0.0.0.0:2222": "零点零点零点零 冒号 二二二二",
    "2223端口": "二二二三端口",
    "22端口": "二十二端口",
    "愚园路1088弄103号": "愚园路一零八八弄一百零三号",
    "南京西路1266号": "南京西路一二六六号",
    "CVE-2024-3094": "CVE 二零二四杠三零九四",
    "zhang@pku.edu.cn": "zhang 艾特 PKU 点 edu 点 cn",
    "96110": "九六幺幺零",
    "*#06#": "星号井号零六井号",
    "i5-8400": "i五 八四零零",
    "i7-13700H": "i七 一三七零零H",
    "第2024058期": "第二零二四零五八期",
    "走ETC": "走E T C",
    "(.xlsx)": "(点 xlsx)",
    "教务处302": "教务处三零二",
    "120急救中心": "幺二零急救中心",
    "C:\\Java\\bin": "C 冒号 反斜杠 Java 反斜杠 bin",
    "a@gmail.com": "a 艾特 gmail 点 com",
}

TYPED_DIGITS = {
    "答案填2018": "答案填二零一八",
    "答案是3600": "答案是三千六百",
    "暗号是1024": "暗号是一零二四",
    "邀请码填8866": "邀请码填八八六六",
    "密码改成“2580”": "密码改成“二五八零”",
    "回复1024领取": "回复一零二四领取",
    "回复1000条评论": "回复一千条评论",
    "输入100元": "输入一百元",
    "填写3个": "填写三个",
    "按1024键": "按一零二四键",
    "按1200元算": "按一千二百元算",
    "输2580解锁": "输二五八零解锁",
    "运输2580吨": "运输两千五百八十吨",
    "发送8001到10086": "发送八零零一到幺零零八六",
    "-p 8080:80": "杠 p 八零八零 冒号 八零",
    "3306:3306": "三三零六 冒号 三三零六",
    "把80:8080映射出来": "把八零 冒号 八零八零映射出来",
    "redis:6379": "redis 冒号 六三七九",
    "ssh -p 2222": "ssh 杠 p 二二二二",
    "PORT改成3001": "PORT改成三零零一",
    "Kafka是9092": "Kafka是九零九二",
    "127.0.0.1:8080/health": "一二七点零点零点一 冒号 八零八零 斜杠 health",
    "HEAD~3": "HEAD 波浪号 三",
    "镜像redis:7.2": "镜像redis 冒号 七点二",
    "404占2.1%": "四零四占百分之二点一",
    "a:b=3:4": "a比b等于三比四",
    "2.7×10³": "二点七乘以十的三次方",
    "发送0000到10001查话费": "发送零零零零到幺零零零幺查话费",
    "nginx放行80和443": "nginx放行八十和四四三",
    "达443吨": "达四百四十三吨",
    "Grafana在3000。": "Grafana在三零零零.",
    "密钥552031": "密钥五五二零三一",
    "前台电话8008": "前台电话八零零八",
    "打110或12338": "打幺幺零或幺二三三八",
    "高速救援12122": "高速救援幺二幺二二",
    "火警119起": "火警一百一十九起",
    "再按#号键": "再按井号键",
    "100万℃": "一百万摄氏度",
    "开普勒-186f": "开普勒一八六f",
    "容器10:30启动": "容器十点三十分启动",
    "docker run -p 80:80": "docker run 杠 p 八零 冒号 八零",
    "升至12345点": "升至一万两千三百四十五点",
    "代码是3000行": "代码是三千行",
    "第10010号": "第一万零一十号",
    "右转150米": "右转一百五十米",
    "PR #1287": "PR井号一二八七",
    "http.server 8000": "http 点 server 八零零零",
    "五层5-21号": "五层五杠二十一号",
    "共轭为3-4i": "共轭为三减四i",
    "10×物镜": "十倍物镜",
    "11.13前发货": "十一月十三日前发货",
    "手机后4位3358": "手机后四位三三五八",
    "按1203再按#": "按一二零三再按井号",
    "打物业8866": "打物业八八六六",
    "浦东嘉里城2302": "浦东嘉里城二三零二",
    "3单元901和1001都漏水": "三单元九零一和一零零一都漏水",
    "火灾119、医疗120": "火灾幺幺九, 医疗幺二零",
    "医疗120万元": "医疗一百二十万元",
    "119负责破拆": "幺幺九负责破拆",
    "暑期班7.8-7.26": "暑期班七月八日到七月二十六日",
    "8:30上课, PM休息": "八点三十分上课, 下午休息",
    "来福士T4N": "来福士T四N",
    "约5N的力": "约五牛的力",
    "监听:8443": "监听 冒号 八四四三",
    "16:9": "十六比九",
    "1:1000": "一比一千",
    "1000:1": "一千比一",
    "A塔3602": "A塔三六零二",
    "国贸三期2108": "国贸三期二一零八",
    "金茂大厦1205": "金茂大厦一二零五",
    "三期1250亩": "三期一千二百五十亩",
    "广场2000": "广场两千",
    "中心1205人": "中心一千二百零五人",
    "火警119、交通事故122": "火警幺幺九, 交通事故幺二二",
    "交通事故122起": "交通事故一百二十二起",
    "联通客服10010": "联通客服幺零零幺零",
    "打10000号": "打幺零零零零号",
    "110、120、119": "幺幺零, 幺二零, 幺幺九",
    "114查号台": "幺幺四查号台",
    "P210-P235": "P二一零到P二三五",
    "第P12-P18页": "第P十二到P十八页",
    "A1:B10": "A一 到B十",
    "3F-5F": "三楼到五楼",
    "S/M/L/XL": "S, M, L, XL",
    "A/B测试": "A B测试",
}

SPECIFICATIONS_AND_CHOICES = {
    "225/55 R17 97W": "二二五, 五五 R十七, 九七W",
    "胎压2.3bar": "胎压二点三巴",
    "亮度500nit": "亮度五百尼特",
    "比例16:10": "比例十六比十",
    "4K@60fps": "四K, 六十fps",
    "H.265编码": "H二六五编码",
    "IP68级": "IP六八级",
    "S-2XL都有": "S到二XL都有",
    "L码125-140斤": "L码一百二十五到一百四十斤",
    "AirPods 2代": "AirPods 二代",
    "2代人": "两代人",
    "生抽：老抽=2:1": "生抽比老抽等于二比一",
    "30/60/90": "三十, 六十, 九十",
    "北京/上海": "北京, 上海",
    "APP/小程序": "APP, 小程序",
    "单位/个人": "单位, 个人",
    "速度/时间": "速度, 时间",
    "英镑/日元": "英镑, 日元",
    "50MB/秒": "五十MB每秒",
    "150元/床/晚": "一百五十元每床每晚",
    "40元/季": "四十元每季",
    "1.张三 2.李四": "一. 张三, 二. 李四",
    "①2个；②9月底": "一, 两个; 二, 九月底",
    "图①②": "图一, 二",
    "人民路120-3号": "人民路一百二十杠三号",
    "A座3F前台": "A座三楼前台",
    "座位12F": "座位十二F",
    "签到→09:00开幕": "签到, 九点开幕",
    "设置→通用→关于": "设置, 通用, 关于",
    "北京→上海": "北京到上海",
    "快手666，": "快手六六六,",
    "666元": "六百六十六元",
    "origin/main": "origin 斜杠 main",
    "iOS/Android": "iOS Android",
    "npm i -g vite": "npm i 杠 g vite",
    "source .venv/bin/activate": "source 点 venv 斜杠 bin 斜杠 activate",
    "a.length": "a 点 length",
    "10/20日": "十月二十日",
    "3/8、3/15上课": "三月八日, 三月十五日上课",
    "1/2、1/3": "二分之一, 三分之一",
    "周三18点": "周三, 十八点",
    "周三1点": "周三一点",
}

DATES_AND_TIMES = {
    "周六AM 10:00": "周六上午十点",
    "PM 3:30": "下午三点三十分",
    "AM 9:00-PM 6:00": "上午九点到下午六点",
    "9:00AM-6:00PM": "上午九点到下午六点",
    "pm 3点": "下午三点",
    "2026年": "二零二六年",
    "2026年11月15日": "二零二六年十一月十五日",
    "2026-11-15": "二零二六年十一月十五日",
    "2026/1/5": "二零二六年一月五日",
    "2026.11.15": "二零二六年十一月十五日",
    "1990-1995年": "一九九零到一九九五年",
    "1990年~1995年": "一九九零年到一九九五年",
    "98年5月": "九八年五月",
    "90年代": "九十年代",
    "90后": "九零后",
    "5000年": "五千年",
    "10年": "十年",
    "3月-5月": "三月到五月",
    "14:30": "十四点三十分",
    "14:05": "十四点零五分",
    "14:00": "十四点",
    "2:00": "两点",
    "8:30:15": "八点三十分十五秒",
    "3:05 PM": "下午三点零五分",
    "9:00-17:30": "九点到十七点三十分",
    "8点30分": "八点三十分",
    "25:99": "二十五比九十九",
}

MONEY_AND_MEASURES = {
    "¥100": "一百元",
    "￥12.50": "十二点五元",
    "¥3.5亿": "三点五亿元",
    "$100": "一百美元",
    "€20": "二十欧元",
    "100元": "一百元",
    "2元": "两元",
    "USD 30": "三十美元",
    "30 RMB": "三十元",
    "$10-20": "十到二十美元",
    "50%": "百分之五十",
    "3.5%": "百分之三点五",
    "-2%": "负百分之二",
    "10%-20%": "百分之十到百分之二十",
    "10-20%": "百分之十到二十",
    "5‰": "千分之五",
    "25℃": "二十五摄氏度",
    "25°C": "二十五摄氏度",
    "-5℃": "零下五摄氏度",
    "-5℃～3℃": "零下五摄氏度到三摄氏度",
    "90°": "九十度",
    "5km": "五公里",
    "2 kg": "两千克",
    "100 km/h": "一百公里每小时",
    "50m²": "五十平方米",
    "120㎡": "一百二十平方米",
    "3㎞": "三公里",
    "3 m3": "三立方米",
    "9.8m/s²": "九点八米每平方秒",
    "5-10kg": "五到十千克",
    "3万km": "三万公里",
    "500ml": "五百毫升",
    "60Hz": "六十赫兹",
    "30min": "三十分钟",
}

PHONES_AND_CODES = {
    "13812345678": "幺三八, 幺二三四, 五六七八",
    "138-1234-5678": "幺三八, 幺二三四, 五六七八",
    "+86 13812345678": "加八六, 幺三八, 幺二三四, 五六七八",
    "010-12345678": "零幺零, 幺二三四五六七八",
    "400-800-1234": "四零零, 八零零, 幺二三四",
    "请拨打110。": "请拨打幺幺零.",
    "验证码：123456": "验证码: 一二三四五六",
    "订单号20261115": "订单号二零二六一一一五",
    "卡号6222 0212 3456 7890": "卡号六二二二, 零二一二, 三四五六, 七八九零",
    "拨打120或119": "拨打幺二零或幺幺九",
    "302房间": "三零二房间",
    "192.168.1.1": "一九二点一六八点一点一",
    "v2.1.3": "v二点一点三",
    "5G": "五G",
    "A380": "A三八零",
    "MP3": "MP三",
    "GPT-4": "GPT 四",
    "COVID-19": "COVID 十九",
    "https://example.com/a1": "example 点 com 斜杠 a 一",
    "a@b.cn": "a 艾特 b 点 cn",
}

RELATIONS = {
    "1/2": "二分之一",
    "3又1/2": "三又二分之一",
    "3:2": "三比二",
    "3：2：1": "三比二比一",
    "2、3个": "两三个",
    "2、5、8": "二, 五, 八",
    "比分3-2。": "比分三比二.",
    "10-15个": "十到十五个",
    "10~15": "十到十五",
    "1-2个": "一到两个",
    "5+3=8": "五加三等于八",
    "8-3=5": "八减三等于五",
    "3×4": "三乘以四",
    "8÷2": "八除以二",
    "≥5": "大于等于五",
    "±5": "正负五",
    "A&B": "A和B",
}

MEDICINE_AND_SCIENCE = {
    "口服0.5g tid，250mg bid。": "口服零点五克 T I D, 二百五十毫克 B I D.",
    "每次5ml，q8h。": "每次五毫升, 每八小时一次.",
    "他出价bid 3次。": "他出价bid 三次.",
    "100ml:2g": "一百毫升比两克",
    "BP 160/100mmHg": "BP 一百六十, 一百毫米汞柱",
    "胰岛素早10U": "胰岛素早十单位",
    "2U机架": "二U机架",
    "蛋白（±），Hp（+），白细胞（++），糖（-）": "蛋白(弱阳性), Hp(阳性), 白细胞(两个加号), 糖(阴性)",
    "结合率>99%，体温>38℃。": "结合率大于百分之九十九, 体温大于三十八摄氏度.",
    "打开设置>通用>关于本机": "打开设置, 通用, 关于本机",
    "求x₁+x₂": "求x 一加x 二",
    "aₙ₊₁=2aₙ": "a n加一等于二a n",
    "=-4/5": "等于负五分之四",
    "(π/2,π)": "(二分之派, 派)",
    "I=U/R，I=2A": "I等于U除以R, I等于二安",
    "半衰期t1/2": "半衰期t 二分之一",
    "Fe+CuSO₄": "F E加C U S O 四",
    "y=ax+b": "y等于A X加b",
    "数学118/150": "数学一百一十八分, 满分一百五十分",
}

REPORTS = {
    "茅台（600519.SH）": "茅台(六零零五一九点 S H)",
    "茅台（600519）": "茅台(六零零五一九)",
    "收益率+12.3%，YoY+5%": "收益率正百分之十二点三, Y O Y增长百分之五",
    "（2023）京0105民初12345号": "(二零二三)京零一零五民初一二三四五号",
    "洪武十三年（1380）": "洪武十三年(一三八零)",
    "R&D和Q&A": "R and D和Q and A",
}

MARKS = {
    "你好，世界。": "你好, 世界.",
    "真的吗？真的！": "真的吗? 真的!",
    "苹果、梨；桃：": "苹果, 梨; 桃:",
    "“你好。”他说。": "“你好.” 他说.",
    "‘你好’": "“你好”",
    "「你好」": "“你好”",
    "《红楼梦》": "“红楼梦”",
    "（注）": "(注)",
    "走了……": "走了…",
    "真的——假的": "真的—假的",
    "列奥纳多·达·芬奇": "列奥纳多达芬奇",
    "你好~": "你好",
    "你好😀": "你好",
    "100，200个": "一百, 二百个",
    "我爱Python。": "我爱Python.",
    "Hello 世界": "Hello 世界",
}

TABLES = (
    NUMBERS,
    PAIRS_AND_FACTORS,
    NUMBERED_PLACES,
    TYPED_DIGITS,
    SPECIFICATIONS_AND_CHOICES,
    DATES_AND_TIMES,
    MONEY_AND_MEASURES,
    PHONES_AND_CODES,
    RELATIONS,
    MEDICINE_AND_SCIENCE,
    REPORTS,
    MARKS,
)
CASES = [case for table in TABLES for case in table.items()]


@each_row(("written", "heard"), CASES)
def test_reads(written: str, heard: str) -> None:
    assert spoken(written) == heard


def test_there_are_many_readings() -> None:
    assert len(CASES) >= 60


@given(st.integers(0, 10**16 - 1))
@settings(deadline=None)
def test_numbers_agree_with_another_reader(value: int) -> None:
    assert cardinal(str(value)).replace("两", "二") == cn2an.an2cn(str(value), "low")


PIECES = [
    *"0123456789",
    *"年月日号点分秒个元第百千万亿，。、：；！？“”（）《》…—·~～%‰℃¥￥$€+-*/=<>.,:;",
    "km",
    "A",
    "v",
    " ",
    "\n",
    "你好",
]


@given(st.one_of(st.text(), st.lists(st.sampled_from(PIECES)).map("".join)))
@examples(200)
def test_any_text_becomes_speakable(raw: str) -> None:
    result = normalize(TrackedText.of(raw), NormalizationOptions())
    assert not any(char.isdigit() for char in result.text)
    assert not any(unicodedata.category(char) in ("Cc", "Cf", "Cs") for char in result.text.replace("\n", ""))
    assert all(0 <= start < end <= len(raw) for start, end in zip(result.starts, result.ends, strict=True))
    assert list(result.starts) == sorted(result.starts)
    assert list(result.ends) == sorted(result.ends)


@given(st.text("春夏秋冬山水天地人心你我他好中文", min_size=1))
@settings(deadline=None)
def test_plain_words_stay(raw: str) -> None:
    assert spoken(raw) == raw


def test_a_word_points_at_what_was_written() -> None:
    raw = "涨了3.5%。"
    result = normalize(TrackedText.of(raw), NormalizationOptions())
    at = result.text.index("百")
    span = result.span(at, at + 1)
    assert raw[span.start : span.end] == "3.5%"


@each_row(
    ("option", "written", "heard"),
    [
        ("unit_normalization", "5km", "五km"),
        ("url_normalization", "example.com", "example.com"),
        ("email_normalization", "me@home", "me艾特home"),
        ("phone_normalization", "13812345678", "一百三十八亿一千二百三十四万五千六百七十八"),
        ("replace_remaining_symbols", "A&B", "A&B"),
        ("normalize", "2026年3.5%，😀好", "2026年3.5%，好"),
    ],
)
def test_each_option_switches_its_part(option: str, written: str, heard: str) -> None:
    assert spoken(written, **{option: False}).replace(" ", "") == heard


@pytest.mark.long
@each_row(
    "piece",
    [
        "1",
        "1,",
        "1,111,",
        "1.",
        "1-",
        "1:",
        "1/",
        "…. ",
        "，",
        "。”",
        "a@",
        "www.",
        "¥1",
        "1年",
        "号1-",
        "期10.1-",
        "1k-",
        "图1-",
        "1N·m/(",
        "1枚/",
        "1%/",
        "输入1",
        "1:a",
        "A1-",
        "110, ",
        "A/",
    ],
)
def test_time_grows_with_the_length_alone(piece: str) -> None:
    def seconds(size: int) -> float:
        # Whole pieces: a figure that is cut from its sign at the end is read by rules which the others never reach.
        text = TrackedText.of(piece * (size // len(piece)))
        start = time.thread_time()
        normalize(text, NormalizationOptions())
        return time.thread_time() - start

    assert grows_linearly(seconds, 4_000, 8_000)
