"""The sentences of a check, ten of each language: plain words of everyday life, no figures, no names."""

from polyvox.errors import InvalidRequestError
from polyvox.evaluate.texts import ENGLISH

COUNT = 10

_SENTENCES: dict[str, tuple[str, ...]] = {
    "en": ENGLISH[:COUNT],
    "de": (
        "Der Wasserkocher pfiff, bevor jemand die Tassen gefunden hatte.",
        "Sie packte drei Bücher, eine Decke und eine kleine Holzkiste ein.",
        "Im Winter friert der See so fest zu, dass man darüber gehen kann.",
        "Sein Bruder kaufte die alte Bäckerei und strich die Tür grün.",
        "Lass das Fenster offen, in der Küche ist es viel zu warm.",
        "Wir sahen zu, wie das Boot langsam wendete und zum Ufer fuhr.",
        "Bis zum Mittag lag ein dünner Nebel über den Feldern.",
        "Warum hörte der Chor kurz vor der letzten Strophe auf zu singen?",
        "Die Richterin las beide Briefe zweimal und schüttelte den Kopf.",
        "Frisches Brot, kräftiger Käse und kaltes Wasser genügten ihnen.",
    ),
    "fr": (
        "La bouilloire se mit à siffler avant que l'on trouve les tasses.",
        "Elle emporta trois livres, une couverture et une petite boîte en bois.",
        "Chaque hiver, le lac gèle assez pour que l'on puisse le traverser.",
        "Son frère a acheté la vieille boulangerie et repeint la porte en vert.",
        "Laisse la fenêtre ouverte, il fait beaucoup trop chaud dans la cuisine.",
        "Nous avons vu le bateau tourner lentement et revenir vers la rive.",
        "Un léger brouillard resta sur les champs jusqu'à midi.",
        "Pourquoi le chœur s'est-il arrêté juste avant le dernier couplet ?",
        "La juge lut deux fois les deux lettres, puis secoua la tête.",
        "Du pain frais, du fromage et de l'eau froide leur suffisaient.",
    ),
    "es": (
        "La tetera empezó a silbar antes de que alguien encontrara las tazas.",
        "Ella guardó tres libros, una manta y una pequeña caja de madera.",
        "Cada invierno el lago se hiela tanto que se puede cruzar a pie.",
        "Su hermano compró la vieja panadería y pintó la puerta de verde.",
        "Deja la ventana abierta, hace demasiado calor en la cocina.",
        "Vimos cómo el barco giraba despacio y volvía a la orilla.",
        "Una niebla ligera cubrió los campos hasta el mediodía.",
        "¿Por qué dejó de cantar el coro justo antes de la última estrofa?",
        "La jueza leyó las dos cartas dos veces y negó con la cabeza.",
        "Pan fresco, queso fuerte y agua fría era todo lo que necesitaban.",
    ),
    "it": (
        "Il bollitore cominciò a fischiare prima che qualcuno trovasse le tazze.",
        "Lei mise in borsa tre libri, una coperta e una piccola scatola di legno.",
        "Ogni inverno il lago gela tanto che lo si può attraversare a piedi.",
        "Suo fratello comprò il vecchio forno e dipinse la porta di verde.",
        "Lascia la finestra aperta, in cucina fa troppo caldo.",
        "Guardammo la barca girare piano e tornare verso la riva.",
        "Una nebbia leggera rimase sui campi fino a mezzogiorno.",
        "Perché il coro ha smesso di cantare poco prima dell'ultima strofa?",
        "La giudice lesse due volte le lettere e poi scosse la testa.",
        "Pane fresco, formaggio e acqua fredda erano tutto ciò che serviva.",
    ),
    "pt": (
        "A chaleira começou a apitar antes que alguém encontrasse as xícaras.",
        "Ela guardou três livros, um cobertor e uma pequena caixa de madeira.",
        "Todo inverno o lago congela tanto que se pode atravessar a pé.",
        "O irmão dele comprou a velha padaria e pintou a porta de verde.",
        "Deixe a janela aberta, a cozinha está quente demais.",
        "Vimos o barco virar devagar e voltar para a margem.",
        "Uma névoa leve cobriu os campos até o meio-dia.",
        "Por que o coro parou de cantar pouco antes da última estrofe?",
        "A juíza leu as cartas duas vezes e depois balançou a cabeça.",
        "Pão fresco, queijo forte e água fria era tudo de que precisavam.",
    ),
    "nl": (
        "De ketel begon te fluiten voordat iemand de kopjes had gevonden.",
        "Ze pakte drie boeken, een deken en een klein houten kistje in.",
        "Elke winter vriest het meer zo hard dat je erover kunt lopen.",
        "Zijn broer kocht de oude bakkerij en verfde de deur groen.",
        "Laat het raam open, het is veel te warm in de keuken.",
        "We zagen de boot langzaam draaien en terugvaren naar de oever.",
        "Tot de middag hing er een dunne mist boven de velden.",
        "Waarom hield het koor vlak voor het laatste couplet op met zingen?",
        "De rechter las beide brieven twee keer en schudde haar hoofd.",
        "Vers brood, stevige kaas en koud water waren voor hen genoeg.",
    ),
    "ru": (
        "Чайник засвистел раньше, чем кто-нибудь нашёл чашки.",
        "Она взяла три книги, одеяло и маленькую деревянную коробку.",
        "Каждую зиму озеро замерзает так, что по нему можно ходить.",
        "Его брат купил старую пекарню и покрасил дверь в зелёный цвет.",
        "Оставь окно открытым, на кухне слишком жарко.",
        "Мы смотрели, как лодка медленно повернула к берегу.",
        "До полудня над полями стоял лёгкий туман.",
        "Почему хор замолчал перед самым последним куплетом?",
        "Судья дважды прочитала оба письма и покачала головой.",
        "Свежий хлеб, сыр и холодная вода, больше им ничего не было нужно.",
    ),
    "zh": (
        "大家还没找到杯子，水壶就响了。",
        "她带了三本书、一条毯子和一个小木盒。",
        "每年冬天，湖面都冻得可以走人。",
        "他哥哥买下了那家老面包店，把门漆成了绿色。",
        "把窗户开着吧，厨房里太热了。",
        "我们看着小船慢慢掉头，朝岸边驶去。",
        "中午以前，田野上一直有薄薄的雾。",
        "为什么合唱团在最后一段之前停了下来？",
        "法官把两封信都读了两遍，然后摇了摇头。",
        "新鲜的面包、奶酪和凉水，他们只需要这些。",
    ),
    "ja": (
        "だれもカップを見つけないうちに、やかんが鳴り始めました。",
        "彼女は本を三冊と毛布と小さな木の箱を持って行きました。",
        "冬になると、湖は歩いて渡れるほど固く凍ります。",
        "彼の兄は古いパン屋を買って、ドアを緑色に塗りました。",
        "台所が暑すぎるので、窓を開けておいてください。",
        "船がゆっくり向きを変えて、岸に戻るのを見ていました。",
        "昼まで畑の上に薄い霧がかかっていました。",
        "どうして合唱団は最後の歌の前で止まったのですか。",
        "裁判官は二つの手紙を二回読んで、首を横に振りました。",
        "焼きたてのパンとチーズと冷たい水があれば十分でした。",
    ),
    "ko": (
        "아무도 컵을 찾기 전에 주전자가 울리기 시작했습니다.",
        "그녀는 책 세 권과 담요와 작은 나무 상자를 챙겼습니다.",
        "겨울마다 호수는 걸어서 건널 만큼 단단하게 얼어붙습니다.",
        "그의 형은 오래된 빵집을 사서 문을 초록색으로 칠했습니다.",
        "부엌이 너무 더우니 창문을 열어 두세요.",
        "우리는 배가 천천히 돌아서 물가로 오는 것을 보았습니다.",
        "점심때까지 들판 위에 옅은 안개가 끼어 있었습니다.",
        "왜 합창단은 마지막 절 바로 앞에서 노래를 멈추었습니까?",
        "판사는 두 편지를 두 번 읽고 고개를 저었습니다.",
        "갓 구운 빵과 치즈와 찬물이면 충분했습니다.",
    ),
}

UNSPACED = frozenset({"ja", "zh"})
"""Languages that are written without blanks: errors are counted in characters."""


def sentences_of(language: str) -> tuple[str, ...]:
    """The ten sentences of a language, by its tag."""
    found = _SENTENCES.get(language.partition("-")[0])
    if found is None:
        known = ", ".join(sorted(_SENTENCES))
        raise InvalidRequestError(
            f"There are no sentences in {language!r}; give some with --texts, or choose --language of {known}.",
            field="language",
        )
    return found


def preferred_language(spoken: frozenset[str]) -> str:
    """The language to check a model in: English where it speaks it, else the first with sentences of its own."""
    bases = {tag.partition("-")[0] for tag in spoken}
    return next((language for language in _SENTENCES if language in bases), min(bases, default="en"))
