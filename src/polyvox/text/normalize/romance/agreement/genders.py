"""Genders of nouns by their endings, with the nouns that do not keep to them."""

from typing import Final

_SPANISH_MASCULINE: Final = frozenset(
    (
        "dálmata dálmatas día días problema problemas programa programas sistema sistemas tema temas mapa mapas "
        "planeta planetas idioma idiomas poema poemas clima climas drama dramas fantasma fantasmas esquema esquemas "
        "dilema dilemas síntoma síntomas diagrama diagramas telegrama panorama trauma traumas aroma aromas cometa "
        "cometas tranvía tranvías cromosoma cromosomas hematoma teorema teoremas crucigrama organigrama holograma "
        "pijama pijamas sofá sofás papá papás avión aviones camión camiones guion guiones gorrión gorriones policía "
        "policías guardia guardias atleta atletas mediodía poeta poetas pirata piratas colega colegas gorila gorilas "
        "puma pumas yoga iva"
    ).split()
)
_SPANISH_FEMININE: Final = frozenset(
    (
        "vez veces mujer mujeres calle calles noche noches tarde tardes flor flores parte partes clase clases red "
        "redes llave llaves señal señales mano manos ley leyes voz voces luz luces cruz cruces pared paredes madre "
        "madres nave naves sede sedes base bases fase fases frase frases torre torres nube nubes fuente fuentes sangre "
        "gente carne leche sal piel pieles cárcel cárceles imagen imágenes sales nariz raíz raíces actriz actrices "
        "perdiz foto fotos moto motos radio radios crisis tesis dosis hipótesis síntesis serie series especie especies "
        "superficie superficies muerte muertes suerte mente mentes pirámide pirámides catástrofe catástrofes sala app "
        "apps web webs tos col coles miel hiel labor labores orden órdenes sartén sartenes tableta vocal vocales "
        "central centrales sucursal sucursales credencial terminal terminales"
    ).split()
)
_FRENCH_MASCULINE: Final = frozenset(
    (
        "été étés comité comités côté côtés traité traités député députés pâté pâtés arrêté arrêtés invité invités "
        "avion avions camion camions million millions milliard milliards lion lions champion champions espion espions "
        "pion pions scorpion scorpions bastion bastions embryon incendie incendies génie génies parapluie parapluies "
        "foie foies musée musées lycée lycées trophée trophées apogée squelette squelettes silence silences stade "
        "stades grade grades malade malades camarade camarades prélude interlude coude coudes modèle gorille gorilles "
        "mille intervalle intervalles portefeuille portefeuilles vaudeville magazine magazines moine moines patrimoine "
        "domaine domaines capitaine capitaines cimetière derrière arrière dimanche dimanches reproche reproches "
        "caniche gosse gosses murmure mercure pisse carrosse pamplemousse mètre membre centre titre litre chiffre "
        "nombre arbre maître ministre semestre trimestre"
    ).split()
)
_FRENCH_FEMININE: Final = frozenset(
    (
        "heure minute seconde fois personne page semaine chose femme fille porte place ville image ligne chambre "
        "carte lettre table chaise fenêtre étoile école équipe banque usine route nuit main fin part clé clef vis dent "
        "fleur couleur erreur valeur odeur peur douleur chaleur largeur longueur hauteur épaisseur sœur soeur mer eau "
        "peau loi foi croix voix noix fourmi souris brebis perdrix radio photo moto vidéo auto info météo démo promo "
        "paire plante plage orange dose gélule pilule ampoule capsule boîte boite forme norme arme larme âme lame rame "
        "gamme flamme somme pomme gomme victime ferme date note faute côte pâte tête fête tempête enquête conquête "
        "piste liste tarte offre œuvre montre ombre épaule gare guerre terre pierre étape grippe lampe pompe coupe "
        "troupe soupe jupe loupe cause clause phrase base phase fraise bourse course source ressource force race trace "
        "face surface glace pièce espèce nièce vague langue bague drogue ligue digue bombe tombe jambe barre guitare "
        "demande bande viande amende commande légende aide ride pyramide méthode période époque marque plaque attaque "
        "pratique musique politique critique statistique boutique clinique fabrique brique barque aile toile huile île "
        "file pile règle cible fable cuillère mère rivière cage rage tige neige éponge horloge alarme plume brume rime "
        "prime cime tranche zone scène peine veine laine graine chaîne reine antenne cabine molécule cellule virgule "
        "parole idole console casserole gondole cabane liane panne canne lune dune fortune tribune rançon leçon façon "
        "chanson boisson maison saison raison livraison comparaison prison trahison cloison garnison toux faim soif "
        "mort sortie cerise seringue piqûre puce chance plateforme appli application entreprise alerte perte vente "
        "attente pente tente rente dispute chute flûte carotte licence mensualité case caisse bouche douche couche "
        "rallonge armoire commode étagère baignoire mémoire histoire victoire gloire poire foire balançoire mangeoire "
        "passoire patinoire trajectoire nageoire bouilloire remorque caravane moustiquaire robe veste écharpe corde "
        "borne mangue banane prune figue olive endive huître escalope merguez crêpe gaufre enceinte équerre poutre "
        "tuile vitre nappe applique guirlande boucle perle plinthe plainte preuve grève manif épreuve thèse enveloppe "
        "parenthèse planète comète orbite sonde enzyme greffe prothèse carafe cave cour véranda pédale valve mi-temps "
        "synthèse hypothèse analyse crème citerne lanterne caserne étoffe agrafe girafe griffe gifle truffe cuve rive "
        "lessive archive locomotive initiative tentative offensive perspective directive brève trêve icône sirène "
        "semoule foule boule poule rafale escale sandale cathédrale spirale membrane douane menthe visite réussite "
        "marmite faillite limite toque coque cote pelote taxe annexe ruse excuse écluse étable grange frange vidange "
        "phalange vendange "
        "dame échalote demoiselle abeille oreille bouteille feuille mouche touche "
        "poche roche cloche quiche fiche affiche tasse tablette"
    ).split()
)
_ITALIAN_MASCULINE: Final = frozenset(
    (
        "problema sistema programma tema clima panorama schema pianeta poeta papa diploma dramma trauma aroma cinema "
        "pigiama delta gorilla koala boa teorema poema enigma stemma emblema dilemma sisma prisma capogiro profeta "
        "atleta pirata collega"
    ).split()
)
_ITALIAN_FEMININE: Final = frozenset(
    (
        "noce salute gioventù riunione opinione unione comunione religione prigione regione ragione stagione canzone "
        "finale filiale succursale cattedrale spirale cambiale semifinale capitale tessile emulsione eccezione "
        "arteria azione fronte gru estate tribù virtù città quiete neve mole bile sezione parete cenere carie "
        "superficie effigie moglie notte chiave parte classe legge luce voce croce pace nave febbre carne fine gente "
        "mente morte sede rete siepe valle pelle madre mano radio foto moto auto serie specie email mail app password "
        "crisi analisi tesi dose frase base fase torre fonte corte sorte arte nube fame sete tosse polvere lente "
        "corrente sorgente patente tangente stampante unghia ape volpe tigre vite stirpe prole indole immagine "
        "origine pagina vertigine ruggine lavatrice attrice calcolatrice radice cornice forbice pernice vernice "
        "appendice bici brioche chat star playlist newsletter hit band mousse roulotte suite toilette equipe routine "
        "sim tac pec capsule lavastoviglie automobile merce botte consonante vocale variante costante ipotesi diagnosi "
        "prognosi oasi holding startup fiction webcam tv polo biro eco dinamo privacy baguette reception live card "
        "leadership "
        "partnership community news call brochure griffe tranche"
    ).split()
)
_PORTUGUESE_MASCULINE: Final = frozenset(
    (
        "dia dias problema problemas sistema sistemas programa programas tema temas mapa mapas planeta planetas idioma "
        "idiomas poema poemas clima climas drama dramas fantasma fantasmas esquema esquemas dilema dilemas sintoma "
        "sintomas diagrama diagramas grama gramas quilograma quilogramas miligrama miligramas telegrama cinema cinemas "
        "cometa cometas atleta atletas coração corações guarda guardas sofá poeta poetas colega colegas trauma traumas "
        "aroma aromas pijama pijamas panorama teorema cromossoma pirata piratas iva calção calções blusão blusões "
        "caixão caixões puxão puxões bastão bastões tostão tostões pistão pistões cristão cristãos"
    ).split()
)
_PORTUGUESE_FEMININE: Final = frozenset(
    (
        "vez vezes mulher mulheres noite noites tarde tardes parte partes colher colheres parede paredes flor flores "
        "cor cores lei leis luz luzes voz vozes cruz cruzes rede redes sede sedes base bases fase fases frase frases "
        "classe classes torre torres nuvem nuvens fonte fontes ponte pontes mãe mães mão mãos irmã irmãs maçã maçãs "
        "manhã manhãs carne carnes chave chaves dor dores febre febres morte mortes sorte gente pele peles sala árvore "
        "árvores nave naves neve saúde série séries espécie espécies crise crises tese teses análise análises dose "
        "doses foto fotos moto motos lã ordem ordens matriz raiz raízes atriz atrizes tosse torneira greve greves "
        "vítima catástrofe lente lentes corrente correntes mente mentes semente sementes unidade superfície página "
        "equipe equipes suíte suítes face faces chance chances razão razões comunhão rebelião rebeliões ave aves noz "
        "nozes gripe gripes estrofe estrofes hélice hélices apólice apólices tribo tribos hipótese hipóteses síntese "
        "sínteses prótese próteses metástase metástases estante estantes variante variantes patente patentes enchente "
        "enchentes vertente vertentes nascente nascentes haste hastes peste pestes frente frentes interface interfaces "
        "superfícies planície planícies cárie cáries live lives startup startups playlist playlists hashtag hashtags "
        "selfie selfies lebre lebres fome kitnet kitnets quitinete "
        "quitinetes"
    ).split()
)
_PORTUGUESE_ENDINGS: Final = (
    "a", "as", "ção", "ções", "são", "sões", "stão", "stões", "gião", "giões", "nião", "niões", "xão", "xões", "dade",
    "dades", "gem", "gens", "tude", "tudes", "triz", "trizes",
)  # fmt: skip


def is_spanish_feminine(word: str) -> bool:
    if word in _SPANISH_MASCULINE or word.endswith(("ista", "istas")):
        return False
    return word in _SPANISH_FEMININE or word.endswith(
        ("a", "as", "ión", "iones", "dad", "dades", "tad", "tades", "tud", "tudes", "umbre", "umbres", "triz", "trices")
    )


def is_french_feminine(word: str) -> bool:
    one = word.removesuffix("s")
    if word in _FRENCH_MASCULINE or one in _FRENCH_MASCULINE or one.endswith(("yé", "isme")):
        return False
    if word in _FRENCH_FEMININE or one in _FRENCH_FEMININE:
        return True
    if one.endswith(("que", "gue")):
        return False
    return one.endswith(
        (
            "ion", "aison", "té", "tié", "ure", "ance", "ence", "ie", "ée", "sse", "ade", "ude", "ise", "lle", "nne",
            "tte", "ine", "aine", "euse", "trice", "ière", "che", "ue", "ante", "ente", "ate", "aise", "oise",
        )
    )  # fmt: skip


def is_italian_feminine(word: str) -> bool:
    if word in _ITALIAN_MASCULINE or word.endswith("ista"):
        return False
    return word in _ITALIAN_FEMININE or word.endswith(("a", "zione", "sione", "stione", "gione", "tà", "tù", "udine"))


def is_portuguese_feminine(word: str) -> bool:
    if word in _PORTUGUESE_MASCULINE or word.endswith(("ista", "istas")):
        return False
    return word in _PORTUGUESE_FEMININE or word.endswith(_PORTUGUESE_ENDINGS)
