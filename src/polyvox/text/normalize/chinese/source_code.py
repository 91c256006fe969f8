"""Branches and folders of a repository, hidden files, members of objects, options behind short words, and `i--`."""

import re
from typing import Final

from polyvox.text.normalize.commands import follows_command
from polyvox.text.tracked import TrackedText

# A branch or a folder by its first part, or three parts in small letters and more; "iOS/Android" is a choice.
PATH: Final = re.compile(
    r"(?<![A-Za-z0-9_./@~-])(?:"
    r"(?:origin|upstream|feature|feat|fix|bugfix|hotfix|release|chore|refactor|src|lib|bin|utils|components|node_modules|\.[a-z]{2,16})"
    r"(?:/[A-Za-z0-9_.-]*[A-Za-z0-9_])+"
    r"|[a-z][a-z0-9_-]+(?:/[a-z][a-z0-9_.-]*[a-z0-9_]){2,})"
)
# A line below between a Chinese word and another part of a file's name.
LINE_BELOW: Final = re.compile("(?<=[\u4e00-\u9fff])_(?=[A-Za-z0-9\u4e00-\u9fff])|(?<=[A-Za-z0-9])_(?=[\u4e00-\u9fff])")
_HIDDEN: Final = re.compile(r"(?<![^\s`“\"'(（=])\.(?=[a-z][a-z_-]{2,24}(?![A-Za-z]))")
_ANY_FILE: Final = re.compile(r"\*\.(?=[a-z]{2,5}(?![A-Za-z]))")
_MEMBER: Final = re.compile(r"(?<![A-Za-z0-9_.])(?P<object>[a-z])\.(?=[a-z]{3,16}(?![A-Za-z.]))")
_OPTION: Final = re.compile(r"(?<= [a-z] )-(?=[A-Za-z])|(?<=[零一二三四五六七八九] )-(?=[A-Za-z]{1,4} )")
_STEPPED: Final = re.compile(r"(?<=[A-Za-z0-9_\])])--(?![-A-Za-z0-9>])|(?<![-A-Za-z0-9_])--(?=[a-z](?![A-Za-z-]))")
_CALLED: Final = re.compile(r"命令 ?[a-z]+ \Z|[零一二三四五六七八九] \Z")


def read_source_code(text: TrackedText) -> TrackedText:
    """The dots of hidden files and members, and the dashes of options."""
    if "." in text.text:
        text = text.sub(_ANY_FILE, "星号点 ").sub(_HIDDEN, "点 ").sub(_MEMBER, lambda match: f"{match['object']} 点 ")
    if "--" in text.text:
        text = text.sub(_STEPPED, "减减")
    if " -" in text.text:
        text = text.sub(_OPTION, lambda match: "杠 " if follows_command(match, _CALLED) else None)
    return text
