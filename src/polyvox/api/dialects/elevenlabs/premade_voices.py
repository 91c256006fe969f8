"""ElevenLabs' well-known voices, and the Kokoro voice that is nearest by gender and accent."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PremadeVoice:
    """A voice by the id and name that clients have in their configuration, and what it stands for here."""

    id: str
    name: str
    target: str


PREMADE = tuple(
    PremadeVoice(*row)
    for row in (
        ("21m00Tcm4TlvDq8ikWAM", "Rachel", "af_heart"),
        ("hpp4J3VqNfWAUOO0d1Us", "Bella", "af_bella"),
        ("EXAVITQu4vr4xnSDxMaL", "Sarah", "af_sarah"),
        ("9BWtsMINqrJLrRacOk9x", "Aria", "af_aoede"),
        ("FGY2WhTYpPnrIDTdsKH5", "Laura", "af_nova"),
        ("cgSgspJ2msm6clMCkdW9", "Jessica", "af_jessica"),
        ("XrExE9yKIg1WjnnlVkGX", "Matilda", "af_kore"),
        ("SAz9YHcvj6GT2YYXdXww", "River", "af_river"),
        ("AZnzlk1XvdvUeBnXmlld", "Domi", "af_alloy"),
        ("MF3mGyEYCl7XYWbV9V6O", "Elli", "af_sky"),
        ("LcfcDJNUP1GQjkzn1xUU", "Emily", "af_nicole"),
        ("piTKgcLEGmPE4e6mEKli", "Nicole", "af_nicole"),
        ("oWAxZDx7w5VEj9dCyTzz", "Grace", "af_kore"),
        ("pMsXgVXv3BLzUgSXRplE", "Serena", "af_aoede"),
        ("jBpfuIE2acCO8z3wKNLl", "Gigi", "af_sky"),
        ("jsCqWAovK2LkecY7zXl4", "Freya", "af_jessica"),
        ("z9fAnlkpzviPz146aGWa", "Glinda", "af_alloy"),
        ("XB0fDUnXU5powFXDhCwa", "Charlotte", "bf_isabella"),
        ("Xb7hH8MSUJpSbSDYk0k2", "Alice", "bf_alice"),
        ("pFZP5JQG7iQjIQuC4Bku", "Lily", "bf_lily"),
        ("ThT5KcBeYPX3keUQqHPh", "Dorothy", "bf_emma"),
        ("zrHiDhphv9ZnVXBqCLjz", "Mimi", "bf_lily"),
        ("pNInz6obpgDQGcFmaJgB", "Adam", "am_adam"),
        ("ErXwobaYiN019PkySvjV", "Antoni", "am_michael"),
        ("VR6AewLTigWG4xSOukaG", "Arnold", "am_onyx"),
        ("TxGEqnHWrfWFTfGW9XjX", "Josh", "am_fenrir"),
        ("yoZ06aMxZJJ28mfd3POQ", "Sam", "am_puck"),
        ("CwhRBWXzGAHq8TQ4Fs17", "Roger", "am_onyx"),
        ("TX3LPaxmHKxFdv7VOQHJ", "Liam", "am_liam"),
        ("bIHbv24MWmeRgasZH58o", "Will", "am_puck"),
        ("cjVigY5qzO86Huf0OWal", "Eric", "am_eric"),
        ("iP95p4xoKVk53GoZ742B", "Chris", "am_michael"),
        ("nPczCjzI2devNBz1zQrb", "Brian", "am_onyx"),
        ("pqHfZKP75CvOlQylNhV4", "Bill", "am_santa"),
        ("SOYHLrjzK2X1ezoPC6cr", "Harry", "am_fenrir"),
        ("N2lVS1w4EtoT3dr4eOWO", "Callum", "am_echo"),
        ("29vD33N1CtxCmqQRPOHJ", "Drew", "am_echo"),
        ("2EiwWnXFnvU5JabPnv8n", "Clyde", "am_onyx"),
        ("5Q0t7uMcjvnagumLfvZi", "Paul", "am_michael"),
        ("GBv7mTt0atIp3Br8iCZE", "Thomas", "am_echo"),
        ("ODq5zmih8GrVes37Dizd", "Patrick", "am_fenrir"),
        ("flq6f7yk4E4fJM5XTYuZ", "Michael", "am_michael"),
        ("g5CIjZEefAph4nQFvHAz", "Ethan", "am_eric"),
        ("t0jbNlBVZ17f02VDIeMI", "Jessie", "am_puck"),
        ("wViXBPUzp2ZZixB1xQuM", "Ryan", "am_liam"),
        ("JBFqnCBsd6RMkjVDRZzb", "George", "bm_george"),
        ("onwK4e9ZLuTAKqWW03F9", "Daniel", "bm_daniel"),
        ("IKne3meq5aSn9XLyUdCD", "Charlie", "bm_lewis"),
        ("ZQe5CZNOzWyzPSCn5a3c", "James", "bm_lewis"),
        ("CYw3kZ02Hs0563khs1Fj", "Dave", "bm_fable"),
        ("D38z5RcWu1voky8WS1ja", "Fin", "bm_fable"),
        ("Zlb1dXrM653N07WRdFW3", "Joseph", "bm_daniel"),
        ("bVMeCyTHy58xNoL34h3p", "Jeremy", "bm_fable"),
        ("zcAOhNBS3c14rBihAFp1", "Giovanni", "im_nicola"),
    )
)


def premade(name: str) -> PremadeVoice | None:
    """The voice of an id, or of a name in any case."""
    return next((one for one in PREMADE if name == one.id or name.casefold() == one.name.casefold()), None)
