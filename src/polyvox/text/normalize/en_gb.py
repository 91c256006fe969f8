"""The English normaliser for Britain and the Commonwealth: the day before the month, and "and" inside numbers."""

from functools import partial

from polyvox.text.normalize import en

normalize = partial(en.normalize, variant=en.Variant.BRITISH)
