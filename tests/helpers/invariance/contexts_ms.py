"""Places in Malay text at which an item may stand."""

from typing import Final

from helpers.invariance.harness import Context

CONTEXTS: Final = tuple(
    Context(template)
    for template in (
        "Mereka tulis {} di sini",
        "Mereka tulis {} dan pergi.",
        "Mereka tulis {}.",
        "Mereka tulis {}. Kemudian mereka pergi.",
        "Mereka tulis {}! Kemudian mereka pergi.",
        "Mereka tulis {}? Kemudian mereka pergi.",
        "Mereka tulis {}…",
        "Mereka tulis ({}) di sini.",
        "Mereka tulis [{}] di sini.",
        'Mereka tulis "{}" di sini.',
        "Mereka tulis “{}” di sini.",
        "Mereka tulis **{}** di sini.",
        "Mereka tulis *{}* di sini.",
        "Mereka tulis `{}` di sini.",
        "- {}\n- buah epal",
        "1. {}\n2. buah epal",
        "Mereka tulis {}, kemudian pergi.",
        "Mereka setuju, {} itu betul.",
        "Mereka setuju,{},itu betul.",
        "Mereka tulis {}; kemudian pergi.",
        "Mereka tulis: {} dan lagi.",
        "Mereka tulis ini — {} — di sini.",
        "Mereka tulis ini - {} - di sini.",
        "Mereka tulis\u00a0{}\u00a0di sini.",
        "Mereka tulis {}\n\nKemudian mereka pergi.",
    )
)
