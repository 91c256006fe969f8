"""The built-in texts of the benchmarks."""

from pathlib import Path

from polyvox.errors import InvalidRequestError

MAX_FILE_BYTES = 4_194_304

ENGLISH = (
    "Good morning, your table is ready.",
    "The next train to the harbour leaves at 9:42 from platform 3.",
    "I'd rather walk; it's only a mile and a half, and the rain has stopped.",
    "Dr. Nguyen moved the meeting to Tuesday, March 4th, because Prof. Hale is away until then.",
    "The invoice comes to $1,249.50, of which 20% is tax; please pay within 30 days to billing@example.com.",
    "Version 2.10.3 fixes three bugs, adds support for HTTP/2, and needs about 350 MB of memory on a 64-bit system.",
    "She opened the letter, read it twice, folded it again along the old crease, and put it back without a word.",
    "At 5,895 m, Kilimanjaro is Africa's highest mountain. Most climbers take six days, yet a few have run up in under "
    "seven hours! Would you?",
)

CHINESE = (
    "早上好，您的座位已经准备好了。",
    "下一班开往上海的列车将于9:42从3号站台出发。",
    "今天气温大约是25.6℃，湿度为60%，适合出门散步。",
    "会议改到2025年3月4日下午两点半，地点在图书馆三楼的301室。",
    "这张发票一共是1249.5元，请在30天以内付清，谢谢您的合作。",
    "她把信打开，读了两遍，又沿着原来的折痕叠好，一句话也没有说。",
    "新版本修复了3个问题，支持HTTP/2协议，大约需要350MB内存。",
    "乞力马扎罗山海拔5895米，是非洲的最高峰。多数登山者需要六天，也有人不到七个小时就跑上去了！",
)

PARAGRAPH = (
    "The lighthouse keeper climbed the narrow stairs every evening, counting steps as he went. "
    "From the gallery he could see the fishing boats turn for home, one by one, their lamps swinging in the dusk. "
    "He trimmed the wick, wound the clock that turned the lens, and sat with his book. "
    "Outside, the wind rose, and the long night began."
)
"""Sixty words of plain prose: the paragraph whose first audio the engine benchmark times."""


def texts_from(file: Path | None) -> tuple[str, ...]:
    """The lines of a file that are not blank, or the built-in English texts."""
    if file is None:
        return ENGLISH
    with file.open("rb") as source:
        data = source.read(MAX_FILE_BYTES + 1)
    if len(data) > MAX_FILE_BYTES:
        raise InvalidRequestError(f"{file} is over {MAX_FILE_BYTES} bytes; give fewer texts.", field="texts")
    try:
        lines = data.decode("utf-8-sig").splitlines()
    except UnicodeDecodeError as error:
        raise InvalidRequestError(f"{file} is not UTF-8 text; save it as UTF-8.", field="texts") from error
    texts = tuple(line.strip() for line in lines if line.strip())
    if not texts:
        raise InvalidRequestError(f"{file} holds no text; put one text on each line.", field="texts")
    return texts
