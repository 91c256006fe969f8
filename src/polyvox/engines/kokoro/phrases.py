"""Words between which a sentence may be cut where it has no mark, by language."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


@dataclass(frozen=True, slots=True)
class PhraseWords:
    """The small words of a language.

    A phrase begins with an opener, such as a conjunction or a preposition, and ends with a closer, such as a Hindi
    postposition. Leading words belong to the word after them, trailing ones to the word before. In a language that is
    `written_joined`, a change of script tells words apart.
    """

    openers: frozenset[str] = frozenset()
    closers: frozenset[str] = frozenset()
    leading: frozenset[str] = frozenset()
    trailing: frozenset[str] = frozenset()
    written_joined: bool = False

    def are_tied(self, word: str, following: str) -> bool:
        """Return whether two words must not be parted."""
        word, following = word.lower(), following.lower()
        if word in self.leading or following in self.trailing:
            return True
        return self.written_joined and word not in self.closers and not _script_changes(word, following)

    def are_phrases(self, word: str, following: str) -> bool:
        """Return whether one phrase ends with a word and another begins with the next."""
        return following.lower() in self.openers or word.lower() in self.closers


def _script_changes(word: str, following: str) -> bool:
    """Return whether a word ends in hiragana, as inflected ones do, and the next one begins in another script."""
    return _is_hiragana(word[-1:]) and not _is_hiragana(following[:1])


def _is_hiragana(char: str) -> bool:
    return "ぁ" <= char <= "ゟ"


_EN_PREPOSITIONS: Final = _words(
    "with without within into onto from over under between through during about against among across toward towards "
    "upon for of to in on at by near behind beside beneath below above around along inside outside beyond despite "
    "except per via as than"
)
_EN: Final = PhraseWords(
    openers=_EN_PREPOSITIONS
    | _words(
        "and or but nor so yet because although though while when where which who whom whose that if unless until "
        "since before after whether"
    ),
    leading=_EN_PREPOSITIONS
    | _words(
        "a an the this that these those my your his her its our their some any no every each all both either neither "
        "and or but nor because although though while when where which who whom whose if unless until since before "
        "after whether not very too so more most i he she it we they you is are was were be been being am do does did "
        "has have had will would shall should can could may might must don't doesn't didn't isn't aren't wasn't "
        "weren't won't wouldn't can't couldn't shouldn't haven't hasn't hadn't mr mrs ms dr"
    ),
)
_ES_PREPOSITIONS: Final = _words(
    "a ante bajo con contra de del al desde durante en entre hacia hasta para por según sin sobre tras mediante"
)
_ES: Final = PhraseWords(
    openers=_ES_PREPOSITIONS
    | _words("y e o u ni pero sino porque aunque mientras cuando donde que quien quienes cual cuyo cuya si como pues"),
    leading=_ES_PREPOSITIONS
    | _words(
        "el la los las lo un una unos unas este esta estos estas ese esa esos esas aquel aquella mi mis tu tus su sus "
        "nuestro nuestra nuestros nuestras algún alguna ningún ninguna cada todo toda todos todas y e o u ni pero "
        "porque aunque mientras cuando donde que quien si como no muy más menos tan me te se nos os le les ha han he "
        "hemos había es son era está están fue gran"
    ),
)
_FR_PREPOSITIONS: Final = _words(
    "à au aux de du des en dans par pour sans sous sur vers chez contre entre avec avant après depuis pendant jusque "
    "jusqu'à derrière devant malgré parmi selon"
)
_FR: Final = PhraseWords(
    openers=_FR_PREPOSITIONS
    | _words("et ou mais ni car donc parce puisque lorsque quand comme si que qui dont où tandis afin"),
    leading=_FR_PREPOSITIONS
    | _words(
        "le la les l' un une ce cet cette ces mon ma mes ton ta tes son sa ses notre nos votre vos leur leurs chaque "
        "tout toute tous toutes quelque quelques aucun aucune et ou mais ni car donc parce que qui dont où si comme "
        "quand ne n' pas très plus moins trop je tu il elle on nous vous ils elles me te se m' t' s' j' c' d' qu' y a "
        "ai as ont est sont était avait être avoir"
    ),
)
_IT_PREPOSITIONS: Final = _words(
    "a ad di da in con su per tra fra al allo alla ai agli alle all' del dello della dei degli delle dell' dal dallo "
    "dalla dai dagli dalle dall' nel nello nella nei negli nelle nell' sul sullo sulla sui sugli sulle sull' senza "
    "verso contro durante dopo prima sopra sotto dentro dietro presso"
)
_IT: Final = PhraseWords(
    openers=_IT_PREPOSITIONS
    | _words("e ed o oppure ma però né perché poiché sebbene mentre quando dove che chi cui se come quindi"),
    leading=_IT_PREPOSITIONS
    | _words(
        "il lo la i gli le l' un uno una un' questo questa questi queste quel quello quella quei quegli quelle mio mia "
        "miei mie tuo tua tuoi tue suo sua suoi sue nostro nostra nostri nostre vostro vostra loro ogni qualche tutto "
        "tutta tutti tutte e ed o ma né perché che chi cui se come quando dove non molto più meno così mi ti si ci vi "
        "ne ha ho hanno abbiamo è sono era erano aveva"
    ),
)
_PT_PREPOSITIONS: Final = _words(
    "a ao aos à às de do da dos das em no na nos nas num numa por pelo pela pelos pelas para pra com sem sob sobre "
    "entre até desde contra durante após perante"
)
_PT: Final = PhraseWords(
    openers=_PT_PREPOSITIONS
    | _words("e ou mas nem porque pois embora enquanto quando onde que quem cujo cuja se como porém"),
    leading=_PT_PREPOSITIONS
    | _words(
        "o os as um uma uns umas este esta estes estas esse essa esses essas aquele aquela meu minha meus minhas teu "
        "tua seu sua seus suas nosso nossa nossos nossas cada todo toda todos todas algum alguma nenhum nenhuma e ou "
        "mas nem porque embora enquanto quando onde que quem se como não muito mais menos tão me te lhe lhes é são "
        "era está estão foi tem têm tinha há"
    ),
)
_HI_POSTPOSITIONS: Final = _words("ने को में से पर तक साथ लिए बाद पहले पास द्वारा बारे ऊपर नीचे अंदर बाहर")
_HI: Final = PhraseWords(
    openers=_words("और या लेकिन मगर परंतु किंतु क्योंकि ताकि कि जो जब जहाँ अगर यदि तो इसलिए जिसने जिसे जिसके"),
    closers=_HI_POSTPOSITIONS,
    leading=_words(
        "और या लेकिन मगर क्योंकि कि जो जब अगर का की के एक यह वह ये वे इस उस इन उन मेरे मेरी मेरा बहुत न नहीं हर अपने अपनी अपना"
    ),
    trailing=_HI_POSTPOSITIONS | _words("का की के ही भी है हैं था थी थे हूँ हो गया गई गए रहा रही रहे"),
)
_ZH_PREPOSITIONS: Final = _words(
    "在 从 自 对 对于 关于 把 将 被 给 向 往 朝 跟 和 与 同 为 为了 由 按 按照 根据 通过 比 离 沿着 随着 除了 至 到 以"
)
_ZH: Final = PhraseWords(
    openers=_ZH_PREPOSITIONS
    | _words("但 但是 不过 然而 因为 所以 因此 如果 虽然 尽管 而 而且 并 并且 或 或者 以及 那么 然后 于是 就 才 当"),
    leading=_ZH_PREPOSITIONS
    | _words(
        "的 地 得 一 一个 一些 这 那 这个 那个 这些 那些 每 每个 各 某 几 两 我的 你的 他的 她的 "
        "很 非常 太 更 最 不 没 没有 也 都 还 又 再 就 才 是 要 会 能 可以 应该 想 "
        "但 但是 因为 所以 如果 虽然 而 或 或者 并 当"
    ),
    trailing=_words(
        "的 地 得 了 着 过 们 吗 呢 吧 啊 呀 里 里面 上 上面 下 下面 中 内 外 前 后 以前 以后 之前 之后 时 时候 个 些"
    ),
)
_JA_PARTICLES: Final = _words(
    "は が を に で と も へ から まで より ので のに けど けれど けれども し ながら ば たら なら て "
    "では には とは でも だけ しか など ばかり こそ さえ"
)
_JA: Final = PhraseWords(
    openers=_words("しかし そして また または だから それで でも なぜなら もし"),
    closers=_JA_PARTICLES - _words("て ば"),
    leading=_words("の な この その あの どの ある とても"),
    trailing=_JA_PARTICLES
    | _words(
        "の な ね よ か わ さ です でした だ だった である ます ました ません ない なかった "
        "たい た て いる いた います い なけれ なり こと もの ため よう "
        "そう れる られる せる させる さん ちゃん くん 様 的 者 中"
    ),
    written_joined=True,
)
_BY_LANGUAGE: Final[Mapping[str, PhraseWords]] = MappingProxyType(
    {"en": _EN, "es": _ES, "fr": _FR, "it": _IT, "pt": _PT, "hi": _HI, "zh": _ZH, "ja": _JA}
)


def phrase_words(language: str) -> PhraseWords:
    """The small words of a language, whatever its region; of an unknown one, none."""
    return _BY_LANGUAGE.get(language.partition("-")[0].lower(), PhraseWords())
