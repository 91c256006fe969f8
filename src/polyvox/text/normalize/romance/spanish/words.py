"""The words of Spanish behind its rules: units, acronyms, labels."""

from typing import Final

from polyvox.text.normalize.romance.language import AcronymHabits, Labels, Noun

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
    "ppm": Noun("parte por millón", "partes por millón", feminine=True),
    "rpm": Noun("revolución por minuto", "revoluciones por minuto", feminine=True),
    "UI": Noun("unidad internacional", "unidades internacionales", feminine=True),
    "µUI": Noun("microunidad internacional", "microunidades internacionales", feminine=True),
    "mUI": Noun("miliunidad internacional", "miliunidades internacionales", feminine=True),
    "mmol": Noun("milimol", "milimoles"),
    "mEq": Noun("miliequivalente", "miliequivalentes"),
    "cv": Noun("caballo", "caballos"),
    "arts": Noun("artículo", "artículos"),
    "CV": Noun("caballo", "caballos"),
    "cc": Noun("centímetro cúbico", "centímetros cúbicos"),
    "Gb": Noun("gigabit", "gigabits"),
    "fps": Noun("fotograma por segundo", "fotogramas por segundo"),
    "pulg": Noun("pulgada", "pulgadas", feminine=True),
    "mi": Noun("milla", "millas", feminine=True),
    "mol": Noun("mol", "moles"),
    "µmol": Noun("micromol", "micromoles"),
    "bar": Noun("bar", "bares"),
    "mbar": Noun("milibar", "milibares"),
    "atm": Noun("atmósfera", "atmósferas", feminine=True),
    "eV": Noun("electronvoltio", "electronvoltios"),
    "keV": Noun("kiloelectronvoltio", "kiloelectronvoltios"),
    "MeV": Noun("megaelectronvoltio", "megaelectronvoltios"),
    "lm": Noun("lumen", "lúmenes"),
    "mSv": Noun("milisievert", "milisieverts"),
    "lb": Noun("libra", "libras", feminine=True),
    "oz": Noun("onza", "onzas", feminine=True),
    "pb": Noun("punto básico", "puntos básicos"),
    "pts": Noun("punto", "puntos"),
    "pt": Noun("punto", "puntos"),
    "ptos": Noun("punto", "puntos"),
    "hab": Noun("habitante", "habitantes"),
    "J/mol": Noun("julio por mol", "julios por mol"),
    "J/K": Noun("julio por kelvin", "julios por kelvin"),
    "N/C": Noun("newton por culombio", "newtons por culombio"),
    "J/g": Noun("julio por gramo", "julios por gramo"),
    "J/kg": Noun("julio por kilo", "julios por kilo"),
    "N/m": Noun("newton por metro", "newtons por metro"),
    "cl": Noun("centilitro", "centilitros"),
    "cda": Noun("cucharada", "cucharadas", feminine=True),
    "cdas": Noun("cucharada", "cucharadas", feminine=True),
    "cdta": Noun("cucharadita", "cucharaditas", feminine=True),
    "cdtas": Noun("cucharadita", "cucharaditas", feminine=True),
    "cdita": Noun("cucharadita", "cucharaditas", feminine=True),
    "cditas": Noun("cucharadita", "cucharaditas", feminine=True),
    "cd": Noun("cucharada", "cucharadas", feminine=True),
    "ud": Noun("unidad", "unidades", feminine=True),
    "uds": Noun("unidad", "unidades", feminine=True),
    "und": Noun("unidad", "unidades", feminine=True),
    "unds": Noun("unidad", "unidades", feminine=True),
    "lt": Noun("litro", "litros"),
    "lts": Noun("litro", "litros"),
    "mts": Noun("metro", "metros"),
    "cms": Noun("centímetro", "centímetros"),
    "paq": Noun("paquete", "paquetes"),
    "bot": Noun("botella", "botellas", feminine=True),
    "cáps": Noun("cápsula", "cápsulas", feminine=True),
    "caps": Noun("cápsula", "cápsulas", feminine=True),
    "amp": Noun("ampolla", "ampollas", feminine=True),
    "hm": Noun("hectómetro", "hectómetros"),
    "gta": Noun("gota", "gotas", feminine=True),
    "pax": Noun("persona", "personas", feminine=True),
    "pzca": Noun("pizca", "pizcas", feminine=True),
    "pza": Noun("pieza", "piezas", feminine=True),
    "bñ": Noun("baño", "baños"),
    "gts": Noun("gota", "gotas", feminine=True),
    "comps": Noun("comprimido", "comprimidos"),
    "pzas": Noun("pieza", "piezas", feminine=True),
    "pág": Noun("página", "páginas", feminine=True),
    "págs": Noun("página", "páginas", feminine=True),
    "pp": Noun("página", "páginas", feminine=True),
    "dorm": Noun("dormitorio", "dormitorios"),
    "kbit/s": Noun("kilobit por segundo", "kilobits por segundo"),
    "Mbit/s": Noun("megabit por segundo", "megabits por segundo"),
    "Gbit/s": Noun("gigabit por segundo", "gigabits por segundo"),
    "Mb/s": Noun("megabit por segundo", "megabits por segundo"),
    "Nm": Noun("newton metro", "newtons metro"),
    "ft": Noun("pie", "pies"),
    "yd": Noun("yarda", "yardas", feminine=True),
    "kn": Noun("nudo", "nudos"),
    "kVA": Noun("kilovoltamperio", "kilovoltamperios"),
    "kWp": Noun("kilovatio pico", "kilovatios pico"),
    "UA": Noun("unidad astronómica", "unidades astronómicas", feminine=True),
    "lx": Noun("lux", "lux"),
    "mph": Noun("milla por hora", "millas por hora", feminine=True),
    "dpi": Noun("punto por pulgada", "puntos por pulgada"),
    "bpm": Noun("latido por minuto", "latidos por minuto"),
    "kgf": Noun("kilogramo fuerza", "kilogramos fuerza"),
    "hPa": Noun("hectopascal", "hectopascales"),
    "mes": Noun("mes", "meses"),
    "mdd": Noun("millón de dólares", "millones de dólares"),
    "mdp": Noun("millón de pesos", "millones de pesos"),
    "ppb": Noun("parte por billón", "partes por billón", feminine=True),
    "d": Noun("día", "días"),
    "msg": Noun("mensaje", "mensajes"),
    "msgs": Noun("mensaje", "mensajes"),
    "msj": Noun("mensaje", "mensajes"),
    "msjs": Noun("mensaje", "mensajes"),
    "reb": Noun("rebote", "rebotes"),
    "Mpx": Noun("megapíxel", "megapíxeles"),
    "MP": Noun("megapíxel", "megapíxeles"),
    "MT/s": Noun("megatransferencia por segundo", "megatransferencias por segundo", feminine=True),
    "dip": Noun("diputado", "diputados"),
    "cp": Noun("comprimido", "comprimidos"),
    "cps": Noun("comprimido", "comprimidos"),
    "cj": Noun("caja", "cajas", feminine=True),
    "cjs": Noun("caja", "cajas", feminine=True),
    "abst": Noun("abstención", "abstenciones", feminine=True),
    "cand": Noun("candidato", "candidatos"),
    "prov": Noun("provincia", "provincias", feminine=True),
    "hamb": Noun("hamburguesa", "hamburguesas", feminine=True),
    "refr": Noun("refresco", "refrescos"),
    "refrs": Noun("refresco", "refrescos"),
    "asig": Noun("asignatura", "asignaturas", feminine=True),
    "ses": Noun("sesión", "sesiones", feminine=True),
    "eps": Noun("episodio", "episodios"),
    "trim": Noun("trimestre", "trimestres"),
    "acc": Noun("acción", "acciones", feminine=True),
    "bbl": Noun("barril", "barriles"),
    "pbs": Noun("punto básico", "puntos básicos"),
    "has": Noun("hectárea", "hectáreas", feminine=True),
    "NM": Noun("milla náutica", "millas náuticas", feminine=True),
    "puls": Noun("pulsación", "pulsaciones", feminine=True),
    "rac": Noun("ración", "raciones", feminine=True),
    "mls": Noun("mililitro", "mililitros"),
    "grms": Noun("gramo", "gramos"),
    "sob": Noun("sobre", "sobres"),
    "lat": Noun("lata", "latas", feminine=True),
    "MSI": Noun("mes sin intereses", "meses sin intereses"),
}
ACRONYMS: Final = AcronymHabits(
    shortest_said=3,
    said=frozenset(
        "REST HOST WHERE OXXO POST PATCH PSOE CSIC OVNI SGAE CERN IMSS CURP OK ETA UNAM ICEX AMPA IBEX".split()
    ),
    spelled=frozenset("IAM ITU AIT EAP CAE IQ CET SOS CEO DIY BYD".split()),
    short_words=frozenset(
        (
            "NO SÍ SI YA EL LA LO LE TU TÚ MI MÍ SU ES EN DE AL UN SE ME TE NI HA HE VA IR DA FE OS ÉL QUE MÁS LAS LOS "
            "DOS TRES MUY HOY HAY SIN SON POR OK OJO MIS TUS SUS"
        ).split()
    ),
    in_addresses=frozenset("API UAB EHU".split()),
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
        "viene tiene tienen puede pueden queda cuesta ganó perdió empató or and "
        "almohadilla asterisco"
    ).split()
)
