"""The built-in texts of an evaluation: plain words, spelled the same in all varieties of English."""

ENGLISH = (
    "The kettle began to whistle before anyone had found the cups.",
    "She packed three books, a blanket and a small wooden box.",
    "Every winter the lake freezes hard enough to walk across.",
    "His brother bought the old bakery and painted the door green.",
    "Leave the window open, the kitchen is far too warm.",
    "We watched the boat turn slowly and head back to shore.",
    "A thin yellow fog hung over the fields until noon.",
    "Why did the choir stop singing just before the last verse?",
    "The judge read both letters twice and then shook her head.",
    "Fresh bread, sharp cheese and cold water were all they needed.",
    "Nobody on the bridge noticed the boy with the broken umbrella.",
    "If the weather holds, the workers will finish the roof by Thursday.",
)
