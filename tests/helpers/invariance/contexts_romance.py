"""Places in Spanish, French, Italian and Portuguese text at which an item may stand."""

from dataclasses import dataclass
from typing import Final

from helpers.invariance.harness import Context

_ENDS: Final = frozenset({"abbreviation"})
"""What shortens the word before a name or a figure never ends a sentence."""
_SLASHED: Final = frozenset({"path", "url", "email"})


@dataclass(frozen=True, slots=True)
class Frame:
    """The words of a language around an item; none of them may be counted by a figure."""

    wrote: str
    there: str
    then: str  # a sentence without its mark
    is_so: str
    agreed: str
    fruit: tuple[str, str]

    def contexts(self) -> tuple[Context, ...]:
        """All places, with the words of the language."""
        words = {
            "W": self.wrote,
            "T": self.there,
            "N": self.then,
            "I": self.is_so,
            "A": self.agreed,
            "F": self.fruit[0],
            "G": self.fruit[1],
        }
        return (
            *(Context(_filled(template, words)) for template in _ANYWHERE),
            *(Context(_filled(template, words), _ENDS) for template in _AT_THE_END),
            Context(_filled("<W> <F> / {} / <G> <T>.", words), _SLASHED),
        )


def _filled(template: str, words: dict[str, str]) -> str:
    for key, word in words.items():
        template = template.replace(f"<{key}>", word)
    return template


_ANYWHERE: Final = (
    "<W> {} <T>",
    "{} <I>.",
    "<W> ({}) <T>.",
    "<W> [{}] <T>.",
    '<W> "{}" <T>.',
    "<W> “{}” <T>.",
    "<W> «{}» <T>.",
    "<W> « {} » <T>.",
    "<W> ‘{}’ <T>.",
    "<W> **{}** <T>.",
    "<W> *{}* <T>.",
    "<W> __{}__ <T>.",
    "<W> `{}` <T>.",
    "<W> ~~{}~~ <T>.",
    "<W> <b>{}</b> <T>.",
    "<W> [{}](https://example.com/a) <T>.",
    "- {}\n- <F>",
    "* <F>\n* {}\n* <G>",
    "1. {}\n2. <F>",
    "# {}\n\n<N>.",
    "| {} | <F> |\n|---|---|\n| <G> | <F> |",
    "<W> {}, <T>.",
    "<A>, {} <I>.",
    "<W> {}; <T>.",
    "<W> {} ; <T>.",
    "<W> {}: <T>.",
    "<W> {} : <T>.",
    "<W>: {} <T>.",
    "<W> <F> — {} — <T>.",
    "<W> <F>—{}—<T>.",
    "<W> <F> – {} – <T>.",
    "<W> <F> - {} - <T>.",
    "> {} <I>.",
    "<W>\u00a0{}\u00a0<T>.",
)
_AT_THE_END: Final = (
    "<W> {}.",
    "<W> {}. <N>.",
    "<W> {}! <N>.",
    "<W> {} ! <N>.",
    "<W> {}? <N>.",
    "<W> {}?! <N>.",
    "<W> {}…",
    "<W> <F> ({}). <N>.",
    "<W> “{}”. <N>.",
    "<W> «{}.» <N>.",
    "<W> **{}**. <N>.",
    "<W> `{}`. <N>.",
    "<W> {}\n\n<N>.",
)

SPANISH: Final = Frame(
    "Escribieron", "allí", "Luego se fueron", "es lo que escribieron", "Como quedamos", ("peras", "uvas")
)
FRENCH: Final = Frame(
    "Ils notent", "là", "Puis ils partent", "est ce qu'ils notent", "Comme convenu", ("poires", "figues")
)
ITALIAN: Final = Frame("Scrissero", "lì", "Poi andarono via", "è la risposta", "Come detto", ("pere", "fichi"))
PORTUGUESE: Final = Frame("Escreveram", "ali", "Depois saíram", "é a resposta", "Como combinado", ("peras", "uvas"))
