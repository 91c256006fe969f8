"""Codes, numbers of documents, versions and names of files, which are read part by part."""

import re
from dataclasses import dataclass
from typing import Final

from polyvox.text.normalize.romance.language import Gender, RomanceLanguage
from polyvox.text.normalize.romance.numbers import any_label, spelled, whole_number
from polyvox.text.normalize.romance.technical.file_endings import spelled_ending
from polyvox.text.tracked import TrackedText

_END: Final = r"(?![\w/]|[.,]\d)"
_DOTTED: Final = re.compile(
    r"(?<![\w.,])(?P<version>[vV])?(?P<parts>\d{1,4}(?:\.\d{1,4}){2,7}+)(?P<port>:\d{2,5})?"
    r"(?:-(?P<stage>alpha|beta|rc|pre|dev|preview|snapshot|SNAPSHOT)[.-]?(?P<build>\d{1,4})?)?(?!\w|[.,]\d)"
)
_VERSION: Final = re.compile(r"(?<![\w.,])[vV](?P<whole>\d{1,4})(?:\.(?P<part>\d{1,4}))?(?!\w|[.,]\d)")
_THOUSANDS: Final = re.compile(r"\d{1,3}(?:\.\d{3})+")
_MIXED: Final = re.compile(r"(?<![\w.,])(?=[A-Z]++\d++[A-Z]|\d++[A-Z]++\d)[A-Z\d]{4,24}(?!\w)")
_TWO_STOPS: Final = re.compile(r"\.\d{1,4}\.\d")
_LETTER_AND_DIGIT: Final = re.compile(r"[A-Z]\d|\d[A-Z]")
_TYPE: Final = re.compile(r"-(?<=[A-Z]\d{3}-)(?=\d{3}(?!\d))")
_GLUED: Final = re.compile(
    r"(?P<letters>[A-Z](?<![\w-].)[A-Z]{0,3})-?(?P<figures>\d{6,15})(?P<last>-?[A-Z])?(?![\w,.-]\d|\w)"
)
_HEXADECIMAL: Final = re.compile(r"(?<!\w)0x[\dA-Fa-f]{2,16}(?!\w)")
_LONG: Final = re.compile(rf"\d(?<![\w.,/$€£+-].)\d{{6,14}}{_END}(?! ?[€$£%])")
# An article of a shop, an order: "402-118-77".
_TRIPLE: Final = re.compile(r"\d(?<![\w.,/$€£+-].)\d{0,5}(?:-\d{1,6}){2,5}(?![\w/-]|[.,]\d)")
_HYPHENED: Final = re.compile(r"(?<![\w-])(?P<letters>[A-Z][A-Za-z]{0,5})-(?P<figure>\d{1,4})(?![\w-]|[.,]\d)")
_FILE: Final = re.compile(
    r"(?<![\w@./\\-])(?:(?:[\w.-]++/)*+[A-Za-z0-9_][\w-]*(?:\.[\w-]+)*\."
    r"(?:json|py|js|tsx?|jsx|html?|s?css|txt|pdf|docx?|xlsx?|pptx?|csv|tsv|jpe?g|png|gif|svg|mp[34]|wav|zip|tar|gz|exe|"
    r"md|ya?ml|xml|sh|java|cpp|hpp|cs|rs|rb|kts?|php|sql|log|ini|cfg|conf|toml|lock|env|bak|iso|apk|dll|jar|gradle|"
    r"vue|swift|dart|lua|bat|ps1|ipynb|webp|mov|avi|mkv|flac|ogg|rar|7z|msi|dmg|deb|rpm|odt|ods|rtf|epub|psd|tex|"
    r"tf|tfvars|proto|svelte|graphql|pem|crt|whl|pyc|properties|parquet|onnx|safetensors|sqlite|db|(?<=\w\w\.)(?:[ch]|go))"
    r"|\.(?:gitignore|env|bashrc|zshrc|dockerignore|npmrc|htaccess|vimrc|profile|ssh))(?![\w@-]|\.\w)(?::\d{1,5}+(?::\d{1,4}+)?)?"
)
_BRANCH: Final = re.compile(
    r"(?<![\w@./\\-])(?:feat|feature|fix|hotfix|bugfix|release|chore|docs|refactor|origin|upstream)/"
    r"(?:[\w-]++|[./](?=\w))++(?!\w)"
)
_BRACKETS: Final = re.compile(r"\((?<=\w\()")
_CALL: Final = re.compile(r"(?<![\w@./\\-])[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+(?=\()")
# The type of what a type holds: "List<String>".
_GENERIC: Final = re.compile(r"<(?<=[A-Za-z]<)([A-Za-z][\w ,.?|\[\]]*(?:<[\w ,]+>)?)>")
_CRON: Final = re.compile(r"(?<![\w*/])(?:(?:\*|\d[\d,-]*)(?:/\d+)? ){4}(?:\*|\d[\d,-]*)(?:/\d+)?(?![\w*/])")
_NAMED_END: Final = re.compile(r"\.[A-Za-z7]")
_PIECE: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-zà-ÿ]+|\d+|.")
# Nouns of which a key one is spoken: "estados clave".
_KEY_NOUN: Final = re.compile(r"[a-zà-ÿ]{4,}s \Z")
_KEY_REACH: Final = 8
_LAST_WORD: Final = re.compile(r"([^\W\d_]+)\W*$")
_DIGITS: Final = re.compile(r"\d+")
_CAPITALS_APART: Final = re.compile(" [A-Z]{4}")
_GROUP: Final = re.compile(r"[^\W_]+")
_CODE_NUMBERS: Final = frozenset("número numéro numero números numéros numeri".split())
_FEW: Final = 3
_MANY: Final = 5
_LONGEST_COUNT: Final = 10


@dataclass(frozen=True, slots=True)
class Codes:
    """The patterns of one language."""

    language: RomanceLanguage
    labelled: re.Pattern[str]

    @classmethod
    def of(cls, language: RomanceLanguage) -> "Codes":
        labels = language.labels
        nouns = any_label(labels.codes | labels.files)
        return cls(
            language,
            re.compile(
                rf"(?P<label>{nouns})(?!\w)"
                r"(?P<between>(?:,? [^\W\d_]{1,14}\.?){0,4}? ?[:#=,]? ?[(\"“«']?)"
                rf"(?<!\w)(?P<code>[A-Z]{{0,4}}[ -]?\d(?:[ ./-]?[A-Z\d]){{2,30}}){_END}(?! ?[€$£%])"
            ),
        )

    def read(self, text: TrackedText) -> TrackedText:
        text = text.sub(self.labelled, self._labelled)
        if _TWO_STOPS.search(text.text):
            text = text.sub(_DOTTED, self._dotted)
        if "v" in text.text or "V" in text.text:
            text = text.sub(_VERSION, self._version)
        if "0x" in text.text:
            text = text.sub(_HEXADECIMAL, lambda match: self._group(match.group().upper()))
        if _LETTER_AND_DIGIT.search(text.text):
            text = text.sub(_MIXED, lambda match: self._spelled(match.group()))
        if "-" in text.text:
            text = text.sub(_TYPE, ", ").sub(_TRIPLE, self._triple)
        text = text.sub(_GLUED, lambda match: self._group("".join(filter(str.isalnum, match.group())))).sub(
            _LONG, self._long
        )
        return text.sub(_HYPHENED, self._hyphened) if "-" in text.text else text

    def read_files(self, text: TrackedText) -> TrackedText:
        """Names of files with the folders before them, part by part."""
        if "/" in text.text:
            text = text.sub(_BRANCH, self._branch)
        if _BRACKETS.search(text.text):
            text = text.sub(_CALL, lambda match: self._pieces(match.group()))
        if _NAMED_END.search(text.text):
            text = text.sub(_FILE, self._file)
        if "* *" in text.text:
            text = text.sub(_CRON, self._cron)
        return text.sub(_GENERIC, r" \1") if "<" in text.text else text

    def _labelled(self, match: re.Match[str]) -> str | None:
        """None where the figures are a year or a count: behind a preposition, or too few for a label such as these."""
        if _KEY_NOUN.search(match.string, max(0, match.start() - _KEY_REACH), match.start()):
            return None
        last = _LAST_WORD.search(match["between"])
        if last and last[1].lower() in self.language.function_words - {"es", "è", "est", "é", "son"}:
            return None
        if last and last[1].lower() in self.language.labels.numbers - _CODE_NUMBERS:
            return None
        if _CAPITALS_APART.search(match["code"]):
            return None
        groups = _DIGITS.findall(match["code"])
        is_code = match["label"].lower() in self.language.labels.codes
        if sum(map(len, groups)) < _FEW or (
            not is_code
            and max(map(len, groups)) < _MANY
            and not (last and last[1].lower() in _CODE_NUMBERS and sum(map(len, groups)) >= _LONGEST_COUNT)
        ):
            return None
        return match.group().removesuffix(match["code"]) + self._spelled(match["code"])

    def _spelled(self, code: str) -> str:
        """Every letter and digit, with a beat between the groups."""
        return ", ".join(self._group(group) for group in _GROUP.findall(code))

    def _triple(self, match: re.Match[str]) -> str:
        return ", ".join(whole_number(group, self.language) for group in match.group().split("-"))

    def _group(self, group: str) -> str:
        return " ".join(spelled(char, self.language) if char.isdecimal() else char for char in group)

    def _dotted(self, match: re.Match[str]) -> str | None:
        parts = match["parts"].split(".")
        address = len(parts) == 4 and all(int(part) < 256 for part in parts) and parts[-1] != "000"
        if _THOUSANDS.fullmatch(match["parts"]) and not address:
            return None
        letter = f"{match['version'].upper()} " if match["version"] else ""
        words = letter + f" {self.language.stop} ".join(whole_number(part, self.language) for part in parts)
        if match["port"]:
            words += f" {self.language.web[':']} {whole_number(match['port'][1:], self.language)}"
        if match["stage"]:
            stage = "R C" if match["stage"] == "rc" else match["stage"].lower()
            words += f" {stage} {whole_number(match['build'], self.language) if match['build'] else ''}".rstrip()
        return words

    def _version(self, match: re.Match[str]) -> str:
        words = f"V {whole_number(match['whole'], self.language)}"
        return (
            words if not match["part"] else f"{words} {self.language.stop} {whole_number(match['part'], self.language)}"
        )

    def _long(self, match: re.Match[str]) -> str | None:
        """None for round figures, which are amounts."""
        return None if match.group().endswith("000") else spelled(match.group(), self.language)

    def _hyphened(self, match: re.Match[str]) -> str:
        figure = match["figure"]
        words = (
            spelled(figure, self.language) if figure[0] == "0" else self.language.cardinal(int(figure), Gender.ALONE)
        )
        return f"{match['letters']} {words}"

    def _file(self, match: re.Match[str]) -> str:
        name, _, ending = match.group().rpartition(".")
        last = spelled_ending(ending) or self._pieces(ending)
        return " ".join(filter(None, (self._pieces(name), self.language.web["."], last)))

    def _cron(self, match: re.Match[str]) -> str:
        """The five fields of a plan, with a beat between them."""
        words = match.group().replace("*", self.language.keys["*"]).replace("/", f" {self.language.web['/']} ")
        words = _DIGITS.sub(lambda figure: whole_number(figure.group(), self.language), words)
        return words.replace(" ", ", ").replace(f", {self.language.web['/']}, ", f" {self.language.web['/']} ")

    def _branch(self, match: re.Match[str]) -> str:
        return self._pieces(match.group())

    def _pieces(self, written: str) -> str:
        words: list[str] = []
        for piece in _PIECE.findall(written):
            if piece.isdecimal():
                words.append(whole_number(piece, self.language))
            elif piece.isalpha():
                words.append(piece)
            else:
                words.append(self.language.web.get(piece, ""))
        return " ".join(filter(None, words))
