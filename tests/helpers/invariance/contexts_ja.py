"""Places in Japanese text at which an item may stand."""

from typing import Final

from helpers.invariance.harness import Context

_DATES: Final = frozenset({"fraction"})
"""Before a comma, 1/3 is the third of January."""

CONTEXTS: Final = tuple(
    Context(template)
    for template in (
        "{}",
        "内容：{}。",
        "内容:{}。",
        "内容: {}.",
        "内容：{}！そして帰った。",
        "内容：{}？そして帰った。",
        "内容：{}…",
        "内容（{}）です。",
        "内容({})です。",
        "内容「{}」です。",
        "内容【{}】です。",
        "内容“{}”です。",
        "内容**{}**です。",
        "内容`{}`です。",
        "- {}\n- りんご",
        "1. {}\n2. りんご",
        "# {}\n\nそして帰った。",
        "はい；{}；です。",
        "はい――{}――です。",
        "はい {} です。",
        "はい\u00a0{}\u00a0です。",
        "はい、{}\n\nそして帰った。",
    )
) + tuple(
    Context(template, _DATES)
    for template in (
        "はい,{},です。",
        "はい, {}, です。",
        "はい、{}、です。",
        "| {} | りんご |\n|---|---|\n| みかん | 梨 |",
    )
)
