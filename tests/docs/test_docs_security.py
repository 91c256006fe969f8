"""The page on security names the limits as they are."""

import re

from helpers.documents import ROOT
from polyvox.config import Settings

PAGE = (ROOT / "docs" / "security.md").read_text(encoding="utf-8")
ROW = re.compile(r"^\| `(\w+)` \| (\S+) \|", re.MULTILINE)


def listed() -> dict[str, str]:
    section = PAGE.partition("\n## Limits\n")[2].partition("\n## ")[0]
    return dict(ROW.findall(section))


def test_each_limit_has_the_default_that_the_page_gives() -> None:
    settings = Settings()
    assert len(listed()) > 15
    assert {name: float(default) for name, default in listed().items()} == {
        name: float(getattr(settings, name)) for name in listed()
    }


def test_no_limit_of_the_settings_is_left_out() -> None:
    assert {name for name in Settings.model_fields if name.startswith("max_")} <= listed().keys()


def test_every_setting_that_the_page_names_exists() -> None:
    words = set(re.findall(r"`([a-z]+(?:_[a-z]+)+)`", PAGE)) - {"weights_only"}
    assert words <= Settings.model_fields.keys()
