"""Sentences for fitting and validation, in Kokoro's phonemes; the evaluation uses none of them."""

TRAINING = (
    "ˌI hæv nˈɛvəɹ tˈAstᵻd sˈup æz ɡˈʊd æz jˈɔɹz.",
    "ʃˌi lˈæft, pˈɪkt ˌʌp hɜɹ kˈOt ænd wˈɔkt ˈWt.",
    "ˌɪt tˈʊk ɐ mˈʌnθ tə lˈɜɹn ðæt sˈɔŋ bI hˈɑɹt.",
    "hˌi ɹˈOt ðə nˈʌmbəɹ ˌɔn ðə bˈæk ʌv hɪz hˈænd.",
    "θɹˈi ɡɹˈA pˈɪʤənz sˈæt ˌɔn ðə ɹˈuf ʌv ðə ʧˈɜɹʧ.",
    "ðə ʧˈɪldɹᵊn ɹˈæn dˌWn tə ðə bˈiʧ wɪð ðɛɹ kˈIts.",
    "mˈOst ʌv ðə ʃˈɑps wɜɹ klˈOzd bI hˈæf pˈæst fˈIv.",
    "wˌʊd ju ɹˈæðəɹ lˈɪv bI ðə sˈi ɔɹ ɪn ðə mˈWntᵊnz?",
    "ði ˈɛnʤən kˈɔft twˈIs ænd fˈInᵊli bəɡˈæn tə ɹˈʌn.",
    "ˌWəɹ nˈAbəɹ fˈidz ðə bˈɜɹdz bəfˈɔɹ ʃi mˈAks hɜɹ tˈi.",
    "plˈiz ˈæsk ðˌɛm tə mˈuv ðə piˈænO əwˈA fɹʌm ðə wˈɔl.",
    "bəhˈInd ðə bˈɑɹn ðɛɹ wʌz ɐ fˈild ʌv tˈɔl jˈɛlO kˈɔɹn.",
)
"""Three seconds each, a usual length; a fit to shorter sentences does not generalise to longer ones."""

LONG = (
    "ɡˈʊd ˈivnɪŋ, ænd wˈɛlkəm hˈOm.",
    "ðə dˈɑktəɹ ˈæskt hˌɪm tə ɹˈɛst fɔɹ ɐ wˈik.",
    "wˌɛn ðə mjˈuzɪk stˈɑpt, ˈɛvɹiwən tˈɜɹnd təwˈɔɹdz ði ˈOpᵊn dˈɔɹ.",
    "ði ˈOld mˈæp ʃˈOd ɐ pˈæθ θɹu ðə fˈɔɹəst, bˌʌt nˈObˌɑdi ɪn ðə vˈɪlɪʤ hæd wˈɔkt ɪt fɔɹ jˈɪɹz.",
    "ˈæftəɹ ðə lˈɔŋ mˈiTɪŋ, mˈOst ʌv ðə ɡˈɛsts stˈAd fɔɹ sˈʌpəɹ ænd tˈɔkt əbˈWt ðə wˈɛðəɹ ænd ðə hˈɑɹvəst.",
)
"""Sentences of all lengths, for which only the pitch is predicted, which is cheap."""

VALIDATION = {
    "rain fell all night and the river rose by a foot": "ɹˈAn fˈɛl ˈɔl nˈIt, ænd ðə ɹˈɪvəɹ ɹˈOz bI ɐ fˈʊt.",
    "the gardener trimmed every hedge along the narrow path": "ðə ɡˈɑɹdᵊnəɹ tɹˈɪmd ˈɛvəɹi hˈɛʤ əlˈɔŋ ðə nˈɛɹO pˈæθ.",
    "could you lend me a pencil and a clean sheet of paper": "kˌʊd ju lˈɛnd mˌi ɐ pˈɛnsᵊl ænd ɐ klˈin ʃˈit ʌv pˈApəɹ?",
    "they sailed past the island just after sunrise": "ðˌA sˈAld pˈæst ði ˈIlənd ʤˈʌst ˈæftəɹ sˈʌnɹˌIz.",
    "my cousin keeps two horses and a very old goat": "mˌI kˈʌzᵊn kˈips tˈu hˈɔɹsᵻz ænd ɐ vˈɛɹi ˈOld ɡˈOt.",
}
"""Held-out sentences and their phonemes."""
