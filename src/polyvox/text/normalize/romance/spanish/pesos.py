"""The dollar sign where it stands for pesos: in local matters, and before sums with stops as in the south."""

import re
from typing import Final

from polyvox.text.tracked import TrackedText

_SIGN: Final = re.compile(r"(?<![\w$])\$(?= ?\d)")
_NAMED: Final = re.compile(
    r"(?<![\w$])\$ ?(?P<sum>\d[\d.,]*(?: mil(?:lones)?| M)?)(?: de)? (?P<name>pesos"
    r"|dólares)(?: mexicanos| argentinos)?(?!\w)"
)
_STOPPED: Final = re.compile(r"(?<!\w)\$ ?\d{1,3}(?:\.\d{3})+(?![.,]?\d)")
_ABROAD: Final = re.compile(
    r"(?<!\w)(?:EE\. ?UU\.?|EEUU|Estados Unidos|estadounidenses?|EUA|Nueva York|New York|Miami"
    r"|Los Ángeles|California|Texas"
    r"|Florida|Orlando|Las Vegas|Chicago|Washington|Boston|Hawái|Wall Street|Nasdaq|NASDAQ|S&P"
    r"|Dow Jones|Reserva Federal"
    r"|Apple|Amazon|Google|Microsoft|Tesla|Nvidia|OpenAI|AWS|Steam|Kickstarter|Silicon Valley|Hollywood|Trump|Biden"
    r"|Puerto Rico|San Juan|Ecuador|Quito|Guayaquil|Cuenca|Panamá|El Salvador|bitcoins?|Bitcoin|Brent|WTI|barril|onza"
    r"|IESS|SRI)(?!\w)"
)
_LOCAL: Final = re.compile(
    r"(?<!\w)(?:Argentin[ao]|argentin[ao]s?|Buenos Aires|CABA|Bs\. ?As\.|Córdoba|Rosario|Mendoza|La Plata|Tucumán|Salta"
    r"|Bariloche|Ezeiza|Aeroparque|AFIP|ARCA|ANSES|CBU|CVU|CUIT|CUIL|SUBE|ABL|Edesur|Edenor|Metrogas|AySA|MercadoPago"
    r"|Mercado ?(?:Pago|Libre)|monotributo|expensas|aguinaldo|alquiler|colectivo|boludo|[Cc]he"
    r"|Milei|Kirchner|Boric|Petro|AMLO|Sheinbaum|blue|UTM|DNU|asado|kiosco|quincho|guita"
    r"|lucas?|palos|fiado|remís|heladera|celu|medialunas?|alfajor(?:es)?|empanadas?|birra|milanesas?|yerba|mate"
    r"|Chile|chilen[ao]s?|Santiago|Valparaíso|Viña|Concepción|Antofagasta|Temuco|RUT|boleta|SII|UF|Transbank|Cencosud"
    r"|Falabella|Metrogas|Enel|Entel|Movistar|AFP|Fonasa|isapre|Isapre|arriendo|bencina|micro|cachai|weón|po"
    r"|México|mexican[ao]s?|CDMX|Monterrey|Guadalajara|Puebla|Cancún|Tijuana|Mérida|Querétaro|Toluca|Oaxaca|Veracruz"
    r"|León|Acapulco|MXN|CFE|SAT|IMSS|INFONAVIT|Infonavit|ISSSTE|RFC|CURP|SPEI|CLABE|OXXO|Oxxo|Telmex|Telcel|Izzi"
    r"|Banamex|BBVA|Banorte|Bancomer|Soriana|Chedraui|Bodega Aurrerá|Coppel|Liverpool|Elektra|Walmart|Pemex|Profeco"
    r"|Metrobús|tianguis|taquería|tacos?|tortillas?|tortas|mole|chelas?|güey|wey|we|órale|camión|colonia|Col\.|lana"
    r"|renta|predial|tenencia|quincena|refrendo|caseta|fraccionamiento|MSI|meses sin intereses|celular|elote|despensa"
    r"|Colombia|colombian[ao]s?|Bogotá|Medellín|Cali|Barranquilla|Cartagena|Bucaramanga|Pereira|COP|DIAN|NIT|SOAT|EPS"
    r"|Nequi|Daviplata|Bancolombia|Davivienda|Rappi|Transmilenio|TransMilenio|parcero|arepas?"
    r"|tinto|cesantías|estrato|PSE"
    r"|Uruguay|uruguay[ao]s?|Montevideo|Punta del Este|UTE|OSE|ANTEL|Antel|BPS|BROU|pesos?"
    r"|peso|efectivo|impuesto predial"
    r"|IVA|ISR|INEGI|Inegi|Banxico|Conasami|SHCP|Jalisco|Sinaloa|Sonora|Chihuahua|Coahuila|Yucatán|Michoacán|Hidalgo"
    r"|BCRA|INDEC|Indec|DANE|INE|mdp|boletos|hrs|salario mínimo|Liga MX|Pumas|Chivas|River"
    r"|Boca|multa|propina|pasajes?|kilo|docena|vos|ustedes|pagás|tenés|querés|mandame|pasame"
    r"|avisame|fijate)(?!\w)"
)


# Thousands with a comma, as in Mexico and Peru, before what is counted one by one.
_COUNTED: Final = re.compile(
    r"(?<![\w.,])([1-9]\d{0,2}),(\d{3})(?= (?:mdp|mdd|pesos|dólares|(?!kilos|litros|metros"
    r"|gramos|euros|segundos|millones"
    r"|puntos|grados|toneladas|veces|horas|minutos|mili|kiló|hectáreas|centí|días)[a-zà-ÿ]{3,}s)(?!\w))"
)


def with_stops(text: TrackedText) -> TrackedText:
    """Thousands that a comma parts, with a stop: "1,200 personas"."""
    return text.sub(_COUNTED, r"\1.\2") if "," in text.text else text


def as_pesos(text: TrackedText) -> TrackedText:
    """The sign as that of pesos, in the whole of a text that is about local matters."""
    if "$" not in text.text:
        return text
    named = _NAMED.search(text.text)
    if named:
        text = text.sub(_NAMED, lambda match: f"{'MX$' if match['name'] == 'pesos' else 'US$'}{match['sum']}")
        if named["name"] == "pesos":
            return text.sub(_SIGN, "MX$")
    if _SIGN.search(text.text) is None:
        return text
    stopped, local = _STOPPED.search(text.text), _LOCAL.search(text.text)
    if not (stopped and local) and (_ABROAD.search(text.text) or not (stopped or local)):
        return text
    return text.sub(_SIGN, "MX$")
