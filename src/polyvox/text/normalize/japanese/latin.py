"""Latin letters as Japanese say them: initials letter by letter, and names that everybody knows."""

import re
from typing import Final

from polyvox.text.normalize.japanese import designations
from polyvox.text.normalize.japanese.designations import ENGLISH_DIGITS, named
from polyvox.text.tracked import TrackedText


def _table(pairs: str) -> dict[str, str]:
    """Names and their sounds, written "NASA:ナサ NATO:ナトー"."""
    return dict(pair.split(":") for pair in pairs.split())


# Capitals that are said as a word.
_SAID: Final = _table(
    "JAL:ジャル JAF:ジャフ JARO:ジャロ JASDAQ:ジャスダック NEDO:ネド ICAO:イカオ IATA:イアタ UNCTAD:アンクタッド "
    "FEMA:フィーマ DARPA:ダーパ RCEP:アールセップ JOGMEC:ジョグメック "
    "NASA:ナサ NATO:ナトー JAXA:ジャクサ OPEC:オペック UNESCO:ユネスコ UNICEF:ユニセフ FIFA:フィファ "
    "UEFA:ウエファ ASEAN:アセアン APEC:エイペック TOEIC:トーイック TOEFL:トーフル SIM:シム RAM:ラム ROM:ロム "
    "LAN:ラン WAN:ワン AIDS:エイズ SARS:サーズ MERS:マーズ COVID:コビッド OFF:オフ ON:オン OPEN:オープン "
    "SALE:セール NEW:ニュー NEWS:ニュース TOP:トップ BEST:ベスト POP:ポップ ROCK:ロック LINE:ライン ZOOM:ズーム "
    "SUICA:スイカ PASMO:パスモ ICOCA:イコカ NISA:ニーサ JICA:ジャイカ JETRO:ジェトロ JAS:ジャス JIS:ジス "
    "NASDAQ:ナスダック TOPIX:トピックス RAG:ラグ UNIX:ユニックス NAFTA:ナフタ AUKUS:オーカス QUAD:クアッド "
    "CERN:セルン NOAA:ノア COP:コップ HACCP:ハサップ STEM:ステム LOHAS:ロハス PISA:ピサ MARCH:マーチ GIGA:ギガ "
    "RAID:レイド SATA:サタ NAS:ナス CAPTCHA:キャプチャ REST:レスト CRUD:クラッド TWICE:トゥワイス EXILE:エグザイル "
    "GLAY:グレイ IMAX:アイマックス WAON:ワオン TOICA:トイカ ZOZO:ゾゾ PARCO:パルコ LUMINE:ルミネ LAWSON:ローソン "
    "NTSB:エヌティーエスビー ISBN:アイエスビーエヌ LIXIL:リクシル TOTO:トートー MEXT:メクスト JAMSTEC:ジャムステック "
    "JASRAC:ジャスラック GARO:ガロ TEPCO:テプコ SONY:ソニー HONDA:ホンダ TOYOTA:トヨタ NISSAN:ニッサン "
    "CANON:キヤノン SHARP:シャープ SOFTBANK:ソフトバンク DOCOMO:ドコモ GAFA:ガーファ CAD:キャド GIF:ジフ "
    "JPEG:ジェイペグ MPEG:エムペグ BIOS:バイオス JAWS:ジョーズ STOP:ストップ START:スタート LIVE:ライブ "
    "SHOP:ショップ MENU:メニュー HELP:ヘルプ HOME:ホーム WEB:ウェブ PIN:ピン BRICS:ブリックス "
    "BREXIT:ブレグジット KITTE:キッテ HIKAKIN:ヒカキン YOASOBI:ヨアソビ GODIVA:ゴディバ IKEA:イケア ZARA:ザラ "
    "UNIQLO:ユニクロ MUJI:ムジ DASH:ダッシュ PASS:パス FREE:フリー DAY:デー YES:イエス END:エンド OR:オア "
    "UP:アップ DOWN:ダウン MAX:マックス PRO:プロ BIG:ビッグ SET:セット BOX:ボックス CAFE:カフェ BAR:バー PARK:パーク "
    "CITY:シティ HALL:ホール KIDS:キッズ SIZE:サイズ CLUB:クラブ HOTEL:ホテル RED:レッド BLUE:ブルー BLACK:ブラック "
    "WHITE:ホワイト "
    "AND:アンド NOT:ノット JAPAN:ジャパン FAX:ファックス JSON:ジェーソン NY:ニューヨーク TOKYO:トーキョー"
)
# With other letters than capitals, or with figures in them.
_NAMES: Final = _table(
    "Node.js:ノードジェーエス Vue.js:ビュージェーエス Next.js:ネクストジェーエス React.js:リアクトジェーエス "
    "Nuxt.js:ナクストジェーエス "
    "Three.js:スリージェーエス iPhone:アイフォーン iPad:アイパッド iPod:アイポッド iMac:アイマック "
    "iCloud:アイクラウド iOS:アイオーエス "
    "macOS:マックオーエス Mac:マック MacBook:マックブック AirPods:エアポッズ Apple:アップル Google:グーグル "
    "Amazon:アマゾン Microsoft:マイクロソフト Facebook:フェイスブック Meta:メタ Twitter:ツイッター "
    "Instagram:インスタグラム YouTube:ユーチューブ TikTok:ティックトック Netflix:ネットフリックス "
    "Spotify:スポティファイ Zoom:ズーム Slack:スラック Teams:チームズ Discord:ディスコード Windows:ウィンドウズ "
    "Android:アンドロイド Linux:リナックス Ubuntu:ウブントゥ Excel:エクセル Word:ワード "
    "PowerPoint:パワーポイント Outlook:アウトルック Chrome:クローム Safari:サファリ Edge:エッジ "
    "Firefox:ファイアフォックス Gmail:ジーメール Wi-Fi:ワイファイ WiFi:ワイファイ Bluetooth:ブルートゥース "
    "Python:パイソン Java:ジャバ JavaScript:ジャバスクリプト TypeScript:タイプスクリプト Ruby:ルビー "
    "Docker:ドッカー GitHub:ギットハブ Git:ギット React:リアクト ChatGPT:チャットジーピーティー "
    "OpenAI:オープンエーアイ Tesla:テスラ Sony:ソニー Toyota:トヨタ Honda:ホンダ Nissan:ニッサン "
    "Panasonic:パナソニック Nintendo:ニンテンドー Switch:スイッチ PlayStation:プレイステーション "
    "Xbox:エックスボックス Suica:スイカ PayPay:ペイペイ Uber:ウーバー Twitch:ツイッチ Wikipedia:ウィキペディア "
    "Yahoo:ヤフー Web:ウェブ web:ウェブ App:アップ Store:ストア Pro:プロ Max:マックス Plus:プラス Mini:ミニ "
    "mini:ミニ Air:エアー Ultra:ウルトラ Watch:ウォッチ Type-C:タイプシー Core:コア Ctrl:コントロール "
    "Alt:オルト Shift:シフト Enter:エンター Tab:タブ Esc:エスケープ Delete:デリート pH:ピーエイチ vs:バーサス "
    "VS:バーサス CO2:シーオーツー H2O:エイチツーオー COVID-19:コビッドナインティーン MP3:エムピースリー "
    "MP4:エムピーフォー F1:エフワン J1:ジェーワン M1:エムワン M2:エムツー M3:エムスリー M4:エムフォー "
    "J2:ジェーツー J3:ジェースリー G7:ジーセブン G20:ジートゥエンティー PS4:ピーエスフォー PS5:ピーエスファイブ "
    "M-1:エムワン R-1:アールワン K-POP:ケーポップ J-POP:ジェーポップ HbA1c:エイチビーエーワンシー Jr:ジュニア "
    "SpO2:エスピーオーツー PaO2:ピーエーオーツー O2:オーツー NOx:ノックス PM2.5:ピーエムニーテンゴ "
    "γ-GTP:ガンマジーティーピー eGFR:イージーエフアール mRNA:エムアールエヌエー iPS:アイピーエス "
    "IoT:アイオーティー NVMe:エヌブイエムイー Hb:エイチビー Ht:エイチティー Alb:アルブミン "
    "Cre:クレアチニン Rh:アールエイチ DeNA:ディーエヌエー K8s:クバネティス "
    "k8s:クバネティス i18n:アイエイティーンエヌ SaaS:サース "
    "Q1:キューワン Q2:キューツー Q3:キュースリー Q4:キューフォー U-NEXT:ユーネクスト ETC:イーティーシー "
    "EC2:イーシーツー S3:エススリー IPv4:アイピーブイフォー IPv6:アイピーブイシックス M.2:エムドットツー "
    "GPT-3:ジーピーティースリー GPT-4:ジーピーティーフォー "
    "GPT-4o:ジーピーティーフォーオー GPT-5:ジーピーティーファイブ "
    "S&P500:エスアンドピーファイブハンドレッド PCIe:ピーシーアイイー "
    "eSIM:イーシム Blu-ray:ブルーレイ NewJeans:ニュージーンズ "
    "LaTeX:ラテフ OAuth:オーオース LinkedIn:リンクトイン AKB48:エーケービーフォーティーエイト "
    "NMB48:エヌエムビーフォーティーエイト "
    "HKT48:エイチケーティーフォーティーエイト SKE48:エスケーイーフォーティーエイト "
    "VLOOKUP:ブイルックアップ XLOOKUP:エックスルックアップ HLOOKUP:エイチルックアップ SUMIF:サムイフ "
    "COUNTIF:カウントイフ IFERROR:イフエラー "
    "TVer:ティーバー DAZN:ダゾーン ABEMA:アベマ WOWOW:ワウワウ Hulu:フールー Lemino:レミノ Paravi:パラビ "
    "etc:エトセトラ sin:サイン cos:コサイン tan:タンジェント log:ログ USB-C:ユーエスビーシー OK:オーケー"
)
# Capitals that are English words.
_WORDS: Final = frozenset(
    "SELECT FROM WHERE INSERT UPDATE DELETE JOIN ORDER GROUP TABLE VALUES LIMIT TRUE FALSE NULL ERROR WARN INFO DEBUG "
    "GET POST PUT PATCH README TODO HEAD MAIN PLUS GOLD TOUR SUPER WORLD LOVE GAME SHOW STAR HAPPY MUSIC SOLD OUT "
    "CLASS CASE WHEN ELSE WITH COUNT LIKE CREATE DROP ALTER INDEX PRINT RETURN WHILE BREAK".split()
)
# A word that the letters would become a part of.
_KATAKANA: Final = re.compile("[ァ-ヶー]")
_LETTER: Final = re.compile("[A-Za-z]")
_NAME: Final = re.compile(
    "(?<![A-Za-z0-9@_])(?:"
    + "|".join(re.escape(name) for name in sorted(_NAMES, key=len, reverse=True))
    + ")(?![A-Za-z@_]|(?<=\\d)[\\dつ]|(?<=[A-Z]\\d)(?:[個枚着杯玉箱袋]|本(?![戦拠格選番部社]))|\\.[A-Za-z])"
)
_LABEL: Final = re.compile(
    r"(?<![A-Za-z0-9])(?:[Vv]ol\.?|(?P<version>[Vv]er\.?|[vV](?=\.?\d++\.\d)\.?|Version|version)"
    r"|(?P<figure>[Ff]ig\.)) ?(?=\d)"
)
# Pages, from one to another: p.86〜p.121, pp. 45-52.
_PAGES: Final = re.compile(
    r"(?<![A-Za-z0-9&])(?![Pp]\d{1,4}台)(?!p(?:50|9[059]|999)(?!\d)の?(?:レ|応答|遅延|値| ?[A-Za-z]))[Pp]{1,2}\.? "
    r"?(?P<first>\d{1,4})(?:[-–~～〜](?:[Pp]\.? ?)?(?P<last>\d{1,4}))?(?![\dA-Za-z]"
    r"|[.,]\d)"
)
_INITIALS: Final = re.compile(
    r"(?<![A-Za-z@_/\\])(?<![A-Za-z][-'’])(?:[A-Z]{1,6}(?:-[A-Z]{1,6})?|[a-z])(?![A-Za-z@_]|['’][A-Za-z]|\.[A-Za-z]|-[a-z])"
)
_BEFORE: Final = re.compile(r"[A-Za-z0-9 ,'’-]*\Z")
_BEHIND: Final = re.compile(r"[A-Za-z0-9 ,'’-]*")
_SMALL_WORD: Final = re.compile("(?<![A-Za-z])[a-z]{2,}")
_ROOMS: Final = re.compile(r"(?<![\dA-Za-z.,])1(?=(?:LDK|DK|K|R)(?![A-Za-z]))")
_COUNTED_IN_ENGLISH: Final = re.compile(
    r"(?<![\dA-Za-z.,第])[1-5](?=ラン(?![クチプドナニ])|アウト|ストライク|トップ(?!ページ)|ショット|タッチ"
    "|クリック|ステップ|コイン|ピース)"
)
_ROUND: Final = re.compile(r"(?<![A-Za-z\d])(\d{1,2})R(?=\d{1,2}分)")
_MAGNITUDE: Final = re.compile(r"(?<![A-Za-z\d])M(?=\d\.\d(?!\d)|\d(?:クラス|級|以上|の地震|程度|前後))")
_FLOOR: Final = re.compile(r"(?<![\dA-Za-z.,°])(?P<below>B?)(?P<floor>\d{1,2})F(?![A-Za-z0-9])")
# The film, whose figure is said in English.
_TITLE: Final = re.compile(r"ゴジラ[-−]1\.0(?!\d)")
# Laughter of chats at the end of what is said; a lone letter behind a particle or a noun and a comma is a quantity.
_LAUGHTER: Final = re.compile(
    r"(?:(?<=[\u3041-\u3091\u3093-\u30ff\u4e00-\u9fff!?。、)])[wW]{2,30}+"
    r"|(?<=[\u3041-\u3091\u3093-\u30ff草!?。)])(?<![はがのとにさ])[wW]|(?<=[\u4e00-\u9fff])w(?=\s|$)"
    r"|(?<=[\u3041-\u30ff!?。、])笑)(?=[\s。.、,!?)」』]|$)",
    re.MULTILINE,
)
_LAUGH: Final = re.compile("[wW笑]")
_NEAR: Final = 40


def read_names(text: TrackedText) -> TrackedText:
    """Well-known names, and figures that Japanese say in English."""
    text = text.sub(_TITLE, "ゴジラマイナスワン")
    text = text.sub(_COUNTED_IN_ENGLISH, lambda match: ENGLISH_DIGITS[match.group()])
    if _LETTER.search(text.text) is None:
        return text
    text = text.sub(_ROUND, r"\1ラウンド").sub(_MAGNITUDE, "マグニチュード").sub(_ROOMS, "ワン")
    text = text.sub(_FLOOR, lambda match: f"{'地下' if match['below'] else ''}{match['floor']}階")
    text = text.sub(
        _LABEL, lambda match: "バージョン" if match["version"] else "図" if match["figure"] else "ボリューム"
    )
    text = text.sub(_PAGES, _pages)
    return designations.read(text.sub(_NAME, lambda match: _NAMES[match.group()]))


def _pages(match: re.Match[str]) -> str:
    return f"{match['first']}ページ" + (f"から{match['last']}ページ" if match["last"] else "")


def read_laughter(text: TrackedText) -> TrackedText:
    return text.sub(_LAUGHTER, "、わら") if _LAUGH.search(text.text) else text


def read_initials(text: TrackedText) -> TrackedText:
    """Capitals and single letters by their names, apart from capitals that are said as a word."""
    return text.sub(_INITIALS, _initials) if _LETTER.search(text.text) else text


def _initials(match: re.Match[str]) -> str | None:
    """None among English words, whose reader knows them better."""
    letters = match.group()
    if letters in _WORDS or _is_among_english(match):
        return None
    said = _SAID.get(letters) or named(letters.replace("-", ""))
    return f" {said}" if _KATAKANA.match(match.string, match.start() - 1) and match.start() else said


def _is_among_english(match: re.Match[str]) -> bool:
    """Return whether two words or more in small letters stand in the same run of Latin letters."""
    before = _BEFORE.search(match.string, max(0, match.start() - _NEAR), match.start())
    behind = _BEHIND.match(match.string, match.end(), match.end() + _NEAR)
    run = (before.group() if before else "") + match.group() + (behind.group() if behind else "")
    return len(_SMALL_WORD.findall(run)) > 1
