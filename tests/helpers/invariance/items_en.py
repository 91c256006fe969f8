"""English things that are written with figures, signs or letters, by class, with the words for them."""

from typing import Final

from helpers.invariance.harness import Item

ITEMS: Final = {
    "cardinal": [
        Item("7", "seven"),
        Item("42", "forty two"),
        Item("365", "three hundred sixty five"),
        Item("1,234", "one thousand two hundred thirty four"),
        Item("3.14", "three point one four"),
        Item("0.05", "zero point zero five"),
        Item("2,500,000", "two million five hundred thousand"),
        Item("1.5 million", "one point five million", ("1.5 Million",)),
    ],
    "ordinal": [
        Item("1st", "first", ("1ST",)),
        Item("22nd", "twenty second"),
        Item("103rd", "one hundred third"),
        Item("4th floor", "fourth floor"),
    ],
    "percent": [
        Item("5%", "five percent", ("5 %",)),
        Item("12.5%", "twelve point five percent", ("12.5 %",)),
    ],
}
