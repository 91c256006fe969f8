"""Chinese text becomes phonemes with tones; other scripts inside it are read as English."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers.examples import examples
from helpers.reading_corpus import load
from helpers.tables import each_row
from polyvox.text.markup import markup
from polyvox.text.normalize.zh import normalize
from polyvox.text.phonemes.alphabet import ALPHABET
from polyvox.text.phonemes.chinese import ChinesePhonemizer, pinyin
from polyvox.text.phonemes.chinese_words import word_cutter
from polyvox.text.phonemes.english.phonemizer import EnglishPhonemizer
from polyvox.text.phonemes.pinyin import syllable
from polyvox.text.spoken import Pause, SpokenWord
from polyvox.text.tracked import TrackedText
from polyvox.types import NormalizationOptions

GOLDEN = json.loads((Path(__file__).parents[1] / "golden/kokoro_frontend.json").read_text(encoding="utf-8"))
CHINESE = ChinesePhonemizer(EnglishPhonemizer("us"))
CLAUSE = re.compile("[\u3400-\u9fff]+")


def said(text: str) -> str:
    parts = CHINESE(TrackedText.of(text), ())
    return "".join(part.phonemes + " " * part.space for part in parts if isinstance(part, SpokenWord))


# Light syllables, to which the reference gives their full tone: 喜欢, 知识.
LIGHT = (("ɕi↓xwa→n", "ɕi↓xwan"), ("ꭧɨ→ʂɨ↗", "ꭧɨ→ʂɨ"))


@each_row("case", GOLDEN["chinese"])
def test_sentences_sound_as_the_voices_were_trained_save_for_light_syllables(case: dict[str, str]) -> None:
    phonemes = case["phonemes"]
    for full, light in LIGHT:
        phonemes = phonemes.replace(full, light)
    assert said(case["text"]) == phonemes


@each_row(
    ("written", "readings"),
    [
        ("买东西", "mai3 dong1 xi5"), ("东西部", "dong1 xi1 bu4"), ("好地方", "hao3 di4 fang5"),
        ("地方政府", "di4 fang1 zheng4 fu3"), ("地方性法规", "di4 fang1 xing4 fa3 gui1"),
        ("老朋友", "lao3 peng2 you5"), ("朋友圈", "peng2 you5 quan1"), ("告诉我", "gao4 su5 wo3"),
        ("不好意思", "bu4 hao3 yi4 si5"), ("看看", "kan4 kan5"), ("人人", "ren2 ren2"), ("左边锋", "zuo3 bian1 feng1"),
        ("小气候", "xiao3 qi4 hou4"), ("大方向", "da4 fang1 xiang4"), ("老婆婆", "lao3 po2 po5"),
        ("一点儿", "yi4 dian3 er5"), ("胡同口儿碰见", "hu2 tong4 kou3 er5 peng4 jian4"), ("女儿", "nv3 er2"),
        ("新生儿", "xin1 sheng1 er2"), ("那儿童", "na4 er2 tong2"),
    ],
)  # fmt: skip
def test_light_syllables_have_no_tone(written: str, readings: str) -> None:
    assert " ".join(pinyin(written, word_cutter().lcut(written))) == readings


@each_row(
    ("pinyin", "phonemes"),
    [
        ("ma1", "ma→"), ("ma2", "ma↗"), ("ma3", "ma↓"), ("ma4", "ma↘"), ("ma5", "ma"), ("zhong1", "ꭧʊ→ŋ"),
        ("shi4", "ʂɨ↘"), ("si4", "sɨ↘"), ("xi3", "ɕi↓"), ("lv4", "ly↘"), ("nü3", "ny↓"), ("ju1", "ʨy→"),
        ("xue2", "ɕɥe↗"), ("yuan2", "ɥɛ↗n"), ("yi1", "i→"), ("wu3", "u↓"), ("wen4", "wə↘n"), ("you3", "jou↓"),
        ("er2", "ɚ↗"), ("bo1", "pwo→"), ("qiong2", "ʨʰjʊ↗ŋ"), ("hui4", "xwei↘"), ("o1", "ɔ→"), ("m2", "m↗"),
    ],
)  # fmt: skip
def test_syllables(pinyin: str, phonemes: str) -> None:
    assert syllable(pinyin) == phonemes


@each_row("text", ["", "x", "hello", "zh1", "1", "㐂"])
def test_what_is_not_pinyin_has_no_sound(text: str) -> None:
    assert syllable(text) is None


def test_english_words_and_numbers_inside_chinese() -> None:
    assert said("我用 GPU。") == "wo↓jʊ↘ŋ ʤˌipˌijˈu."
    assert said("共5个") == "kʊ↘ŋ u↓ kɤ↘"
    assert said("2024年").startswith("ɚ↘ʨʰjɛ→n")


def test_names_in_pinyin_are_read_by_their_syllables_and_english_words_are_not() -> None:
    assert said("微信号liming 下划线 二零") == f"wei→ ɕi↘nxau↘ {said('李明')} ɕja↘xwa↘ɕjɛ↘n ɚ↘li↗ŋ"
    for name, characters in (("zhangwei", "张伟"), ("wang 点 fang", "王 点 方"), ("xinyi", "欣易"), ("chen", "陈")):
        assert said(f"昵称{name}") == said(f"昵称 {characters}")
    for word in ("human", "panda", "change", "taxi", "song", "main", "Shenzhen"):
        assert said(f"昵称{word}") == f"{said('昵称')} {said(word)}"


def test_de_behind_remembering_and_being_worth_is_light() -> None:
    for text in ("记得带上", "记得按时吃药", "值得去看", "舍得花钱", "觉得冷"):
        assert said(text).count("tɤ") == 1, text
    assert "tɤ↗tau↘" in said("产值得到提升")
    assert said("数得大家眼睛都花了").startswith("ʂu↓tɤ ")
    assert "jau↘ xwa↗n" in said("每月要还两千六百五十元")
    assert "wei↗ mei↓" in said("门诊为每周二")


def test_the_figure_of_a_name_keeps_its_tone() -> None:
    for written, heard in (("F1车手", "ˈɛf i→"), ("在T1航站楼", "tˈi i→"), ("iPhone一直", "i↘ꭧɨ↗")):
        assert heard in said(normalize(TrackedText.of(written), NormalizationOptions()).text)


def test_particles_at_the_end_of_a_clause_have_no_tone() -> None:
    for clause, last in (("记得带伞哦", "o5"), ("走咯", "lo5"), ("好的呐", "na5"), ("来啦", "la5"), ("是呀", "ya5")):
        assert pinyin(clause, word_cutter().lcut(clause))[-1] == last
    assert pinyin("啊", ["啊"]) == ["a1"]


def test_words_point_at_their_places() -> None:
    text = "他说：“我用iPhone”。"
    parts = [part for part in CHINESE(TrackedText.of(text), ()) if isinstance(part, SpokenWord)]
    assert [text[part.span.start : part.span.end] for part in parts] == [
        "他", "说", "：", "“", "我用", "iPhone", "”", "。",
    ]  # fmt: skip


def test_inserts_are_said_as_given() -> None:
    marked = markup.parse("你好[pause:1s]世界")
    assert [type(part) for part in CHINESE(marked.text, marked.inserts)] == [SpokenWord, Pause, SpokenWord]


HETERONYMS = load("zh_heteronyms.tsv")


@each_row("kind", list(dict.fromkeys(line.kind for line in HETERONYMS)))
def test_a_character_of_several_readings_is_read_by_what_stands_around_it(kind: str) -> None:
    """Every sentence marks the characters in question with brackets; some may be read in two ways."""
    wrong = []
    for line in (line for line in HETERONYMS if line.kind == kind):
        before, _, rest = line.written.partition("[")
        asked, _, behind = rest.partition("]")
        plain = (before + asked + behind).replace("[", "").replace("]", "")
        clause = next(part for part in CLAUSE.finditer(plain) if part.start() <= len(before) < part.end())
        readings = pinyin(clause.group(), word_cutter().lcut(clause.group()))
        heard = " ".join(readings[len(before) - clause.start() :][: len(asked)])
        if heard not in line.said[0].split(" ")[0].split("|") and heard not in line.said[0].split("|"):
            wrong.append((line.written, heard))
    assert wrong == []


WORDS = (Path(__file__).parent / "chinese_words.tsv").read_text(encoding="utf-8").splitlines()


def test_words_have_the_reading_of_their_meaning_alone_and_in_a_sentence() -> None:
    """Every line names a character, its reading, and words in which it is read so."""
    wrong = []
    for line in WORDS:
        (char, reading), words = (part.split(" ") for part in line.split("\t"))
        for word in words:
            for before, behind in (("", ""), ("有关", "的消息")):
                text = before + word + behind
                heard = pinyin(text, word_cutter().lcut(text))[len(before) :][: len(word)]
                if {other for at, other in zip(word, heard, strict=True) if at == char} != {reading}:
                    wrong.append((text, reading, heard))
    assert wrong == []


def test_a_surname_before_a_given_name_is_read_as_a_surname() -> None:
    surnames = {
        "记者任仲平": "ren2", "单晓光": "shan4", "通讯员解丽华": "xie4", "检察官查志强表示": "zha1", "任某某": "ren2",
        "受害人曾某": "zeng1", "任何人": "ren4", "曾经明确表示": "ceng2", "单身": "dan1",
        "曾获奖": "ceng2", "任某个": "ren4", "和单晓东一起来": "shan4", "阿曾来了": "zeng1", "小任把门关上": "ren2",
        "接了个小单": "dan1", "去小解": "jie3", "小任务": "ren4", "老曾经来": "ceng2",
    }  # fmt: skip
    heard = {text: pinyin(text, word_cutter().lcut(text)) for text in surnames}
    wrong = {text: heard[text] for text, reading in surnames.items() if reading not in heard[text]}
    assert wrong == {}


def test_what_is_done_once_more_is_no_weight() -> None:
    again = ("重裁一下", "照片重传一遍", "墙面要重刮", "字幕重压一遍", "界面重做", "图标重切", "重交一份")
    heavy = ("这车重约两吨", "箱子重搬不动", "口味重吃不惯", "体重下降", "病重住院", "油重盐多", "下手太重了")
    read = {text: pinyin(text, word_cutter().lcut(text))[text.index("重")] for text in (*again, *heavy)}
    assert [text for text in again if read[text] != "chong2"] == []
    assert [text for text in heavy if read[text] != "zhong4"] == []


@each_row(
    ("written", "readings"),
    [
        ("一辆车", "yi2 liang4 che1"), ("一粒药", "yi2 li4 yao4"), ("一次", "yi2 ci4"), ("一万元", "yi2 wan4 yuan2"),
        ("一千", "yi4 qian1"), ("一天", "yi4 tian1"), ("一百一十", "yi4 bai3 yi1 shi2"), ("这一次", "zhe4 yi2 ci4"),
        ("第一次", "di4 yi1 ci4"), ("十一月", "shi2 yi1 yue4"), ("一月", "yi1 yue4"), ("一号线", "yi1 hao4 xian4"),
        ("二零二一年", "er4 ling2 er4 yi1 nian2"), ("统一", "tong3 yi1"),
        ("三分之一的人", "san1 fen1 zhi1 yi1 de5 ren2"), ("妈妈", "ma1 ma5"),
        ("大一点", "da4 yi4 dian3"), ("周一见", "zhou1 yi1 jian4"), ("不在", "bu2 zai4"), ("不对", "bu2 dui4"),
        ("不好", "bu4 hao3"), ("不来", "bu4 lai2"), ("不", "bu4"), ("一", "yi1"),
        ("一点四九六亿", "yi1 dian3 si4 jiu3 liu4 yi4"), ("四比一大胜", "si4 bi3 yi1 da4 sheng4"),
        ("一对一", "yi1 dui4 yi1"), ("二十一个", "er4 shi2 yi1 ge4"), ("一月一日", "yi1 yue4 yi1 ri4"),
        ("图一杠二", "tu2 yi1 gang4 er4"), ("万一下雨", "wan4 yi1 xia4 yu3"), ("一万一千", "yi2 wan4 yi4 qian1"),
        ("一季度营收", "yi1 ji4 du4 ying2 shou1"), ("一年级", "yi1 nian2 ji2"), ("高一级", "gao1 yi4 ji2"),
        ("一到三岁", "yi1 dao4 san1 sui4"), ("一等座", "yi1 deng3 zuo4"), ("一等于一", "yi1 deng3 yu2 yi1"),
        ("一点一点来", "yi4 dian3 yi4 dian3 lai2"), ("九点一刻", "jiu3 dian3 yi2 ke4"),
    ],
)  # fmt: skip
def test_one_and_not_change_their_tone_before_others(written: str, readings: str) -> None:
    assert " ".join(pinyin(written, word_cutter().lcut(written))) == readings


HAN = st.characters(min_codepoint=0x4E00, max_codepoint=0x9FFF)


@given(st.text(st.one_of(HAN, st.sampled_from("，。！？a1 \n“”")), max_size=30))
@examples(100)
def test_any_text_becomes_words_of_the_alphabet_in_order(text: str) -> None:
    place = 0
    for part in CHINESE(TrackedText.of(text), ()):
        assert isinstance(part, SpokenWord)
        assert set(part.phonemes) <= ALPHABET
        assert place <= part.span.start < part.span.end <= len(text)
        place = part.span.start


@pytest.mark.slow
def test_the_tokenizer_prints_nothing_and_leaves_no_cache(tmp_path: Path) -> None:
    script = (
        "from polyvox.text.phonemes.chinese import han_words; from polyvox.text.tracked import TrackedText;"
        "assert han_words(TrackedText.of('你好'))"
    )
    environment = {"TMPDIR": str(tmp_path), "PATH": "/usr/bin:/bin"}
    done = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, check=True)
    assert done.stdout == done.stderr == b""
    assert not list(tmp_path.rglob("*jieba*"))
