"""The words of Spanish behind its rules: units, abbreviations, acronyms, labels."""

import re
from typing import Final

from polyvox.text.normalize.romance.language import Abbreviations, AcronymHabits, Labels, Noun

PREFIXES: Final = {
    "k": "kilo",
    "c": "centi",
    "m": "mili",
    "d": "deci",
    "n": "nano",
    "µ": "micro",
    "h": "hecto",
    "M": "mega",
    "G": "giga",
    "T": "tera",
}
PLAIN_UNITS: Final = {
    "g": Noun("gramo", "gramos"),
    "l": Noun("litro", "litros"),
    "L": Noun("litro", "litros"),
    "W": Noun("vatio", "vatios"),
    "Wh": Noun("vatio hora", "vatios hora"),
    "V": Noun("voltio", "voltios"),
    "A": Noun("amperio", "amperios"),
    "Ah": Noun("amperio hora", "amperios hora"),
    "Hz": Noun("hercio", "hercios"),
    "B": Noun("byte", "bytes"),
    "Pa": Noun("pascal", "pascales"),
    "J": Noun("julio", "julios"),
    "cal": Noun("caloría", "calorías", feminine=True),
    "s": Noun("segundo", "segundos"),
    "bps": Noun("bit por segundo", "bits por segundo"),
    "b/s": Noun("bit por segundo", "bits por segundo"),
    "B/s": Noun("byte por segundo", "bytes por segundo"),
    "b": Noun("bit", "bits"),
    "N": Noun("newton", "newtons"),
    "Ω": Noun("ohmio", "ohmios"),
}
OTHER_UNITS: Final = {
    "comp": Noun("comprimido", "comprimidos"),
    "pers": Noun("persona", "personas", feminine=True),
    "″": Noun("pulgada", "pulgadas", feminine=True),
    "km/h": Noun("kilómetro por hora", "kilómetros por hora"),
    "mm": Noun("milímetro", "milímetros"),
    "cm": Noun("centímetro", "centímetros"),
    "dm": Noun("decímetro", "decímetros"),
    "m": Noun("metro", "metros"),
    "km": Noun("kilómetro", "kilómetros"),
    "nm": Noun("nanómetro", "nanómetros"),
    "µm": Noun("micrómetro", "micrómetros"),
    "gr": Noun("gramo", "gramos"),
    "grs": Noun("gramo", "gramos"),
    "kg": Noun("kilo", "kilos"),
    "Kg": Noun("kilo", "kilos"),
    "kgs": Noun("kilo", "kilos"),
    "Km": Noun("kilómetro", "kilómetros"),
    "kms": Noun("kilómetro", "kilómetros"),
    "mcg": Noun("microgramo", "microgramos"),
    "t": Noun("tonelada", "toneladas", feminine=True),
    "ha": Noun("hectárea", "hectáreas", feminine=True),
    "seg": Noun("segundo", "segundos"),
    "min": Noun("minuto", "minutos"),
    "mins": Noun("minuto", "minutos"),
    "h": Noun("hora", "horas", feminine=True),
    "hs": Noun("hora", "horas", feminine=True),
    "hrs": Noun("hora", "horas", feminine=True),
    "dB": Noun("decibelio", "decibelios"),
    "px": Noun("píxel", "píxeles"),
    "mmHg": Noun("milímetro de mercurio", "milímetros de mercurio"),
    "lpm": Noun("latido por minuto", "latidos por minuto"),
    "ppm": Noun("pulsación por minuto", "pulsaciones por minuto", feminine=True),
    "rpm": Noun("revolución por minuto", "revoluciones por minuto", feminine=True),
    "UI": Noun("unidad internacional", "unidades internacionales", feminine=True),
    "mmol": Noun("milimol", "milimoles"),
    "mEq": Noun("miliequivalente", "miliequivalentes"),
    "CV": Noun("caballo", "caballos"),
    "cc": Noun("centímetro cúbico", "centímetros cúbicos"),
    "Gb": Noun("gigabit", "gigabits"),
    "fps": Noun("fotograma por segundo", "fotogramas por segundo"),
    "pulg": Noun("pulgada", "pulgadas", feminine=True),
    "mi": Noun("milla", "millas", feminine=True),
}
ABBREVIATIONS: Final = Abbreviations(
    anywhere={
        "c/u": "cada uno",
        "c/una": "cada una",
        "s. n. m.": "sobre el nivel del mar",
        "s.n.m.": "sobre el nivel del mar",
        "msnm": "metros sobre el nivel del mar",
        "etc.": "etcétera",
        "p. ej.": "por ejemplo",
        "p.ej.": "por ejemplo",
        "izq.": "izquierda",
        "izqda.": "izquierda",
        "dcha.": "derecha",
        "EE. UU.": "Estados Unidos",
        "EE.UU.": "Estados Unidos",
        "EEUU": "Estados Unidos",
        "EE. UU": "Estados Unidos",
        "RR. HH.": "recursos humanos",
        "RR.HH.": "recursos humanos",
        "RRHH": "recursos humanos",
        "CC. AA.": "comunidades autónomas",
        "CC.AA.": "comunidades autónomas",
        "JJ. OO.": "juegos olímpicos",
        "JJ.OO.": "juegos olímpicos",
        "RR. SS.": "redes sociales",
        "RRSS": "redes sociales",
        "FF. AA.": "fuerzas armadas",
        "FF.AA.": "fuerzas armadas",
        "a. C.": "antes de Cristo",
        "a.C.": "antes de Cristo",
        "d. C.": "después de Cristo",
        "d.C.": "después de Cristo",
        "aprox.": "aproximadamente",
        "máx.": "máximo",
        "mín.": "mínimo",
        "S.A.": "S A",
        "S. A.": "S A",
        "S.L.": "S L",
        "S. L.": "S L",
        "tb.": "también",
        "tb": "también",
        "xq": "porque",
        "pq": "porque",
        "q": "que",
        "bs": "besos",
        "Ud.": "usted",
        "Uds.": "ustedes",
        "Vd.": "usted",
        "Vds.": "ustedes",
        "admón.": "administración",
        "cía.": "compañía",
        "ud.": "usted",
        "uds.": "ustedes",
        "uds": "unidades",
        "hrs.": "horas",
    },
    leading={
        "cód.": "código",
        "ag.": "agencia",
        "n.º": "número",
        "nº": "número",
        "n°": "número",
        "núm.": "número",
        "núms.": "números",
        "n.os": "números",
        "págs.": "páginas",
        "tel.": "teléfono",
        "tfno.": "teléfono",
        "tlf.": "teléfono",
        "teléf.": "teléfono",
        "móv.": "móvil",
        "ext.": "extensión",
        "avda.": "avenida",
        "avd.": "avenida",
        "c/": "calle",
        "pza.": "plaza",
        "plza.": "plaza",
        "p.º": "paseo",
        "ctra.": "carretera",
        "urb.": "urbanización",
        "dpto.": "departamento",
        "depto.": "departamento",
        "Sr.": "señor",
        "Sra.": "señora",
        "Srta.": "señorita",
        "Sres.": "señores",
        "Dr.": "doctor",
        "Dra.": "doctora",
        "Dres.": "doctores",
        "Prof.": "profesor",
        "Profa.": "profesora",
        "Ing.": "ingeniero",
        "Lic.": "licenciado",
        "Arq.": "arquitecto",
        "Gral.": "general",
        "Dña.": "doña",
        "Sta.": "Santa",
        "Sto.": "Santo",
        "Mª": "María",
        "M.ª": "María",
        "admin.": "administrador",
        "fdo.": "firmado",
        "Cía.": "compañía",
        "obs.": "observaciones",
        "ref.": "referencia",
        "tfnos.": "teléfonos",
        "e.g.": "por ejemplo",
        "i.e.": "es decir",
        "vs.": "contra",
        "vs": "contra",
    },
    before_figures={
        "cp": "código postal",
        "CP": "código postal",
        "pág.": "página",
        "p.": "página",
        "pp.": "páginas",
        "cap.": "capítulo",
        "caps.": "capítulos",
        "vol.": "volumen",
        "art.": "artículo",
        "arts.": "artículos",
        "fig.": "figura",
        "figs.": "figuras",
        "s.": "siglo",
        "ss.": "siglos",
        "t.": "tomo",
        "secc.": "sección",
        "apdo.": "apartado",
        "párr.": "párrafo",
        "no.": "número",
        "nro.": "número",
        "nros.": "números",
        "av.": "avenida",
        "h.": "hora",
        "ed.": "edición",
        "lín.": "línea",
        "col.": "columna",
        "prov.": "provincia",
        "C. P.": "código postal",
        "C.P.": "código postal",
        "kms": "kilómetros",
    },
    before_names={
        "D.": "don",
        "St.": "San",
        "S.": "San",
        "Av.": "avenida",
        "av.": "avenida",
        "Fr.": "fray",
        "Hnos.": "hermanos",
        "Pte.": "presidente",
        "Gob.": "gobernador",
        "Col.": "colonia",
    },
    weekdays={
        "lun.": "lunes",
        "mar.": "martes",
        "mié.": "miércoles",
        "mie.": "miércoles",
        "jue.": "jueves",
        "vie.": "viernes",
        "sáb.": "sábado",
        "dom.": "domingo",
    },
    in_context=(
        (re.compile(r"(?<!\w)c/(?=\d)"), "cada "),
        (re.compile(r"(?<=vía )IV(?!\w)"), "intravenosa"),
        (re.compile(r"(?<=\d )uds?\.(?!\w)"), "unidades"),
        (re.compile(r"(?<!\w)y/o(?!\w)"), "y o"),
    ),
)
ACRONYMS: Final = AcronymHabits(
    shortest_said=3,
    said=frozenset("PSOE CSIC OVNI SGAE CERN IMSS CURP OK ETA UNAM ICEX AMPA IBEX".split()),
    spelled=frozenset("SOS CEO DIY".split()),
    short_words=frozenset(
        (
            "NO SÍ SI YA EL LA LO LE TU TÚ MI MÍ SU ES EN DE AL UN SE ME TE NI HA HE VA IR DA FE OS ÉL QUE MÁS LAS LOS "
            "DOS TRES MUY HOY HAY SIN SON POR OK OJO MIS TUS SUS"
        ).split()
    ),
)
LABELS: Final = Labels(
    numbers=frozenset(
        (
            "número números línea líneas piso planta puerta habitación sala aula vía andén kilómetro artículo "
            "artículos capítulo página páginas versión tipo nivel grupo fase día canal ruta autobús bus tren apartado "
            "opción paso figura tabla pregunta ejercicio tema unidad lección episodio temporada tomo volumen mesa "
            "asiento fila terminal zona bloque portal edificio lote fórmula plan año distrito sección parte anexo ley "
            "decreto factura sentencia expediente acuerdo error talla calle carrera box cama"
        ).split()
    ),
    codes=frozenset(
        (
            "código códigos clave claves contraseña contraseñas pin otp cvv cvc token dni nif nie cif cuit rut rfc "
            "curp iban isbn issn imei matrícula localizador extensión vuelo vuelos pasaporte puk id tracking apartado "
            "postal"
        ).split()
    ),
    files=frozenset(
        (
            "pedido reserva referencia ref factura ticket expediente póliza cuenta envío contrato caso reunión tarjeta "
            "serie lote guía socio cliente incidencia solicitud registro albarán"
        ).split()
    ),
    phones=frozenset(
        (
            "teléfono teléfonos tel móvil fax whatsapp llama llame llámame llámanos llámenos llamar celular fijo "
            "contacto marca marque"
        ).split()
    ),
)
FUNCTION_WORDS: Final = frozenset(
    (
        "allí aquí ahí allá a al ante bajo con contra de del desde durante en entre hacia hasta mediante para por "
        "según sin sobre tras y e o u ni pero sino que si como cuando donde porque aunque mientras pues la el los las "
        "lo un una es son era eran fue fueron está están estaba será ha han había hay no ya se me te le les nos os su "
        "sus más menos muy también tan tanto casi solo sólo abajo arriba encima debajo norte sur este oeste cada ahora "
        "hoy ayer mañana luego entonces después antes aún todavía sale llega cierra abre caduca vence funciona va "
        "viene tiene tienen puede pueden queda cuesta ganó perdió empató or and"
    ).split()
)
