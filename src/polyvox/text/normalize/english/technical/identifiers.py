"""Names out of programs: dotted, in snake_case and in camelCase, and the paths of files."""

import re
from typing import Final

from polyvox.text.normalize.commands import OPTION, OPTION_LETTERS, follows_command
from polyvox.text.normalize.english.letters import initials_as_capitals
from polyvox.text.normalize.english.numbers import code, spelled
from polyvox.text.normalize.english.technical import errors
from polyvox.text.tracked import TrackedText

EXTENSIONS: Final = (
    "avi|bat|bin|cfg|cpp|css|csv|db|docx?|exe|flac|gif|go|gz|html?|ini|ipynb|java|jpe?g|js|json|jsx|kt|log|lua|m4a|md|"
    "mov|mp[34]|net|ogg|onnx|pdf|php|png|pptx?|py|rar|rb|rs|sh|sql|svg|swift|tar|toml|tsv|tsx?|txt|wav|webp|xlsx?|xml|"
    "ya?ml|zip"
)
_ANY: Final = re.compile(r"[/_\\]| -|0[xXbo]|[a-z](?:\.[A-Za-z_]|[A-Z])|(?<!\S)\.[a-z]|chmod")
_OF_FILE: Final = re.compile(rf"\.(?:{EXTENSIONS})(?!\w)", re.IGNORECASE)
_FILE: Final = re.compile(rf"[A-Za-z0-9]_[\w-]*\.(?:{EXTENSIONS})\Z", re.IGNORECASE)
_LITERAL: Final = re.compile(
    r"(?<![\w.])0(?P<base>[xX](?=[0-9A-Fa-f]+\b)|b(?=[01]+\b)|o(?=[0-7]+\b))(?P<digits>[0-9A-Fa-f]{1,64})(?!\w)"
)
_PART: Final = r"[\w@+](?:[\w@+-]|\.(?=\w))*"
_PATH: Final = re.compile(
    rf"(?<![\w/%)\]°²³⁰-⁹+×¢€£$.])(?:~|\.{{1,2}}|\.[a-z][\w-]{{1,24}})?(?:/\.?{_PART})++/?"
    rf"|(?<![\w/.@:-])[\w-]++(?:/[\w.+-]++)*?/[\w-]++\.(?:{EXTENSIONS})(?!\w)(?::\d{{1,5}}){{0,2}}"
)
# Folders and kinds of branches that only a path begins with.
_BRANCH: Final = re.compile(
    r"(?<![\w/.@:-])(?:feature|feat|fix|bugfix|hotfix|release|chore|origin|upstream|refs|heads|src|tests?|docs|lib|bin|etc|usr|"
    r"var|scripts|node_modules|dist|assets|static|packages)(?:/[\w.+-]*\w)++/?(?![\w/])"
)
_CONTENT_TYPE: Final = re.compile(
    r"(?<![\w/.@:-])(?:application|multipart|text(?=/(?:plain|html|css|csv|xml|javascript|markdown|event))|"
    r"image(?=/(?:png|jpe?g|gif|svg|webp))|audio(?=/(?:wav|mpeg|ogg|mp3|flac))|video(?=/(?:mp4|webm)))/[a-z][\w.+-]*\w(?![\w/])"
)
_WINDOWS: Final = re.compile(
    r"(?<![\w\\])(?P<root>[A-Za-z]:(?=\\)|%\w{1,32}%(?=\\\w)|(?=\\\\\w)|[A-Za-z]\w{1,32}(?=\\\w[\w.-]{0,64}\\\w))"
    r"(?P<path>(?:\\{1,2}[\w%~$.@-]{0,63}[\w%$])*+)(?:\\(?![\w.]))?"
)
_FOLDED: Final = re.compile(rf"(?<![\w\\])[A-Za-z][\w-]{{1,32}}\\[\w-]{{1,64}}\.(?:{EXTENSIONS})(?!\w)")
_HIDDEN: Final = re.compile(r"(?:(?<![^\s(\[\"“'‘`])|(?<=^))\.(?=[a-z][a-z_-]{1,24}(?![\w/]))")
_MODE: Final = re.compile(r"(?<=\bchmod )(?P<option>-R )?(?P<mode>[0-7]{3,4})(?!\w)")
_PORT: Final = re.compile(r"(?<= -p )\d{4,5}(?![\w:.])")
_CRON: Final = re.compile(r"(?<![\w*/-])(?=[\d/,-]{0,16} ?\*|\d+ \d+ )(?:[\d*/,-]{1,16} ){4}[\d*/,-]{1,16}(?![\w*/-])")
_CRON_SIGNS: Final = {"*": " star ", "/": " slash ", "-": " to ", ",": " and "}
_CRON_SIGN: Final = re.compile(r"[*/,-]")
_CALLED: Final = re.compile(r"\b(?:flags?|options?|switch|with|set|use|add|pass|or|and) \Z", re.IGNORECASE)
_DOTTED: Final = re.compile(
    r"(?<![\w.@/-])[A-Za-z_]\w+(?:\.[A-Za-z_]\w*)+(?=\()|(?<![\w.@/-])[a-z_]\w+(?:\.[A-Za-z_]\w*){2,}+(?![\w.@]*@)"
)
# The answer of a server in the name of what handles it: "get_or_404".
_STATUS: Final = re.compile(r"40[0-9]|42[29]|50[0-4]")
_SNAKE: Final = re.compile(r"(?<![\w.@#/])_{0,2}[A-Za-z0-9]++(?:_{1,2}[A-Za-z0-9]++)++_{0,2}(?!\w)")
_CAMEL: Final = re.compile(r"(?<![\w.@#/-])[a-z]{2,}(?:[A-Z][a-z0-9]*)*[A-Z][a-z0-9]+(?!\w)")
_GLOB: Final = re.compile(r"(?P<option>(?<![\w-])-[a-zA-Z]{1,4} )\*(?![\w*])")
_SHARED: Final = re.compile(r"\.so(?P<versions>(?:\.\d{1,3})*)(?!\w)")
_PROMPT: Final = re.compile(r"^[$%] (?=[a-z])", re.MULTILINE)
_HUMP: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_PIECE: Final = re.compile(r"[A-Za-z]+|\d+|[^\W\d_]+|\\+|[~./:_-]")
_MARKS: Final = {"~": "tilde", ".": "dot", "/": "slash", ":": "colon", "\\": "backslash", "\\\\": "backslash backslash"}
# Names and units that only look like camelCase.
_PROPER: Final = frozenset("arXiv inHg mmHg visionOS macOS watchOS tvOS deadmau".split())


def read(text: TrackedText) -> TrackedText:
    """Paths, dotted names, and names of several words run together."""
    if "* " in text.text:
        text = text.sub(_CRON, _cron)
    text = errors.read(text)
    if text.text.startswith(("$ ", "% ")):
        text = text.sub(_PROMPT, "")
    if _ANY.search(text.text) is None:
        return text
    if "*" in text.text:
        text = text.sub(_GLOB, r"\g<option>star")
    if ".so" in text.text:
        text = text.sub(_SHARED, lambda match: f" dot so{match['versions'].replace('.', ' dot ')}")
    return _names(_paths(text.sub(_LITERAL, _literal)))


def _paths(text: TrackedText) -> TrackedText:
    """Paths, options of commands, hidden files."""
    if "\\" in text.text:
        text = text.sub(_WINDOWS, _windows).sub(_FOLDED, _windows)
    if "chmod" in text.text or " -p " in text.text:
        text = text.sub(_MODE, _mode).sub(_PORT, lambda match: code(match.group()))
    if "." in text.text:
        text = text.sub(_HIDDEN, "dot ")
    if " -" in text.text:
        text = text.sub(OPTION, _option)
    if "/" in text.text:
        text = text.sub(_PATH, _path).sub(_BRANCH, _path).sub(_CONTENT_TYPE, _path)
    return text


def _names(text: TrackedText) -> TrackedText:
    text = text.sub(_DOTTED, _dotted)
    return text.sub(_SNAKE, _snake).sub(_CAMEL, _camel)


def _cron(match: re.Match[str]) -> str | None:
    """The five fields of a schedule, each sign by its name."""
    if match.group().count("*") < 2:
        return None
    return _CRON_SIGN.sub(lambda sign: _CRON_SIGNS[sign.group()], match.group()).strip()


def _literal(match: re.Match[str]) -> str:
    """A number of a program to the base of sixteen, eight or two: "zero X seven F"."""
    digits = (spelled(digit) if digit.isdigit() else digit.upper() for digit in match["digits"])
    return " ".join(("zero", match["base"].upper(), *digits))


def _path(match: re.Match[str]) -> str:
    return _pieces(match.group().removesuffix("/"))


def _windows(match: re.Match[str]) -> str:
    """A path with backslashes; "temp" is a folder, and in capitals no abbreviation before a full stop."""
    drive, _, path = match.group().rpartition(":")
    folders = _pieces(path.removesuffix("\\")).lower().removesuffix("temp")
    folders += "TEMP" if path.lower().removesuffix("\\").endswith("temp") else ""
    return f"{drive.upper()} {f'colon {folders}' if folders else 'drive'}" if drive else folders


def _mode(match: re.Match[str]) -> str:
    """The permissions of a file: "chmod six four four"."""
    return f"{'dash R ' if match['option'] else ''}{spelled(match['mode'])}"


def _pieces(path: str) -> str:
    words = []
    named = _FILE.search(path) is not None
    for piece in _PIECE.findall(path):
        if piece.isdigit():
            words.append(code(piece))
        elif piece[0].isalpha():
            words.append(_words(piece))
        elif piece in _MARKS:
            words.append(_MARKS[piece])
        elif piece == "_" and named:
            words.append("underscore")
    return " ".join(words)


def _option(match: re.Match[str]) -> str | None:
    """An option of a command, "-b" or "--force", with its dashes; behind one, several letters are as many options."""
    if not follows_command(match, _CALLED):
        return None
    name, value = match["name"], " equals " if match["value"] else ""
    if match["dashes"] == "--":
        return f"dash dash {' '.join(map(_words, name.split('-')))}{value}"
    letters = ".".join(name.upper()) if name.isalpha() and len(name) <= OPTION_LETTERS else _words(name)
    return f"dash {letters}{value}"


def _dotted(match: re.Match[str]) -> str:
    return " dot ".join(_words(part) for part in match.group().split(".") if part)


def _snake(match: re.Match[str]) -> str:
    """A name of a program; in that of a file, which somebody is to type, the line between its words is said."""
    if _OF_FILE.match(match.string, match.end()) is None:
        return _words(match.group())
    return " underscore ".join(_words(part) for part in match.group().split("_") if part)


def _camel(match: re.Match[str]) -> str | None:
    return None if match.group() in _PROPER else _words(match.group())


def _words(name: str) -> str:
    """The words of a name; figures stay for the readers of figures."""
    parts = _HUMP.sub(" ", name.replace("_", " ")).split()
    return " ".join(code(part) if _STATUS.fullmatch(part) else initials_as_capitals(part) for part in parts)
