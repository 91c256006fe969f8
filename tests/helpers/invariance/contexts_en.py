"""Places in English text at which an item may stand."""

from typing import Final

from helpers.invariance.harness import Context

_ENDS: Final = frozenset({"abbreviation"})
"""What shortens the word before a name or a figure never ends a sentence."""
_SLASHED: Final = frozenset({"path", "url", "email"})

CONTEXTS: Final = (
    *(
        Context(template)
        for template in (
            "They wrote {} there",
            "They wrote {} and left.",
            "{} is what they wrote.",
            "They wrote ({}) there.",
            "They wrote [{}] there.",
            'They wrote "{}" there.',
            "They wrote “{}” there.",
            "They wrote ‘{}’ there.",
            "They wrote '{}' there.",
            "They wrote **{}** there.",
            "They wrote *{}* there.",
            "They wrote __{}__ there.",
            "They wrote `{}` there.",
            "They wrote <del>{}</del> there.",
            "They wrote <b>{}</b> there.",
            "They wrote [{}](https://example.com/a) there.",
            "- {}\n- plums",
            "* plums\n* {}\n* limes",
            "1. {}\n2. plums",
            "# {}\n\nThen they left.",
            "## See {}\n\nThen they left.",
            "| {} | plums |\n|---|---|\n| limes | pears |",
            "They wrote {}, then left.",
            "As agreed, {} is right.",
            "They wrote {}; then they left.",
            "They wrote {}: that is right.",
            "It says: {} and more.",
            "They wrote this — {} — there.",
            "They wrote this—{}—there.",
            "They wrote this – {} – there.",
            "They wrote this - {} - there.",
            "> {} is what they wrote.",
            "They wrote\u00a0{}\u00a0there.",
        )
    ),
    *(
        Context(template, _ENDS)
        for template in (
            "They wrote {}.",
            "They wrote {}. Then they left.",
            "They wrote {}! Then they left.",
            "They wrote {}? Then they left.",
            "They wrote {}?! Then they left.",
            "They wrote {}…",
            "They left (see {}). Then they came back.",
            "They wrote “{}.” Then they left.",
            "They wrote **{}**. Then they left.",
            "They wrote `{}`. Then they left.",
            "They wrote {}\n\nThen they left.",
        )
    ),
    Context("They wrote plums / {} / limes there.", _SLASHED),
)
