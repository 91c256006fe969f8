"""Spanish and Portuguese words that are cut short: in the form of their noun, and beside words that only look so."""

from helpers.tables import each_row
from polyvox.text.normalize import normalizer_for
from polyvox.text.tracked import TrackedText
from polyvox.types import NormalizationOptions


def said(language: str, written: str) -> str:
    return normalizer_for(language)(TrackedText.of(written), NormalizationOptions()).text


@each_row(
    ("language", "written", "heard"),
    [
        ("es", "Cocina amueb., 2 hab. ext.", "Cocina amueblada, dos habitaciones exteriores."),
        ("es", "Gastos de comunidad incl.", "Gastos de comunidad incluidos."),
        ("es", "Nota mín.: 5.", "Nota mínima: cinco."),
        ("pt", "Vaga de aux. adm. e compra aprov.", "Vaga de auxiliar administrativo e compra aprovada."),
        ("pt", "Taxas mens. e café da manhã incl.", "Taxas mensais e café da manhã incluso."),
    ],
)
def test_a_cut_adjective_takes_the_form_of_its_noun(language: str, written: str, heard: str) -> None:
    assert said(language, written) == heard


@each_row(
    ("language", "written"),
    [
        ("es", "Si dudan, llamad. Nada especial."),
        ("es", "La función devuelve int."),
        ("es", "Era un tal fin. Nada más."),
        ("es", "Vino el transfer. Luego salimos."),
        ("pt", "Gostei do autor. Nada especial."),
        ("pt", "Comprei o kit. Falei com o diretor."),
        ("pt", "Falta o sal. Depois provo."),
    ],
)
def test_a_word_that_ends_a_sentence_stays(language: str, written: str) -> None:
    assert said(language, written) == written


@each_row(
    ("language", "written", "heard"),
    [
        ("es", "Calcula 3/8 + 5/12.", "Calcula tres octavos más cinco doceavos."),
        ("es", "Una barra y 200 barras.", "Una barra y doscientas barras."),
        ("es", "Compré 1 barra de pan.", "Compré una barra de pan."),
        ("es", "Programa en C# con nginx:1.25.", "Programa en C sharp con nginx dos puntos uno punto veinticinco."),
        ("es", "El índice es n-1.", "El índice es n menos uno."),
        ("es", "Heladas de 2º en Soria.", "Heladas de dos grados en Soria."),
        ("es", "El piso 2º en Soria, con calor.", "El piso segundo en Soria, con calor."),
        ("pt", "Custa R$ 1 mil.", "Custa mil reais."),
        ("pt", "Chegou às 2 e saiu.", "Chegou às duas e saiu."),
        ("pt", "Ache 5/12 + 1/3.", "Ache cinco doze avos mais um terço."),
    ],
)
def test_signs_and_figures_are_told_apart_by_their_context(language: str, written: str, heard: str) -> None:
    assert said(language, written) == heard


@each_row(
    ("language", "written", "heard"),
    [
        (
            "es",
            "Vinieron 341 personas, 201 más que ayer.",
            "Vinieron trescientas cuarenta y una personas, doscientas una más que ayer.",
        ),
        ("es", "Hay 31 camiones, 21 más que ayer.", "Hay treinta y un camiones, veintiuno más que ayer."),
        ("es", "De las 501, solo 21 aprobaron.", "De las quinientas una, solo veintiuno aprobaron."),
        (
            "es",
            "Hubo 41 víctimas; 31 de ellas, en casa.",
            "Hubo cuarenta y una víctimas; treinta y una de ellas, en casa.",
        ),
        ("pt", "Das 402 linhas, 102 circulam.", "Das quatrocentas e duas linhas, cento e duas circulam."),
        (
            "pt",
            "São 21 obras, 2 a mais que em 2022.",
            "São vinte e uma obras, duas a mais que em dois mil e vinte e dois.",
        ),
        ("pt", "Teve 2 filhos, 1 de 5 anos.", "Teve dois filhos, um de cinco anos."),
        ("pt", "Em 2022, 42 foram presos.", "Em dois mil e vinte e dois, quarenta e dois foram presos."),
    ],
)
def test_a_figure_agrees_with_what_was_counted_before_it(language: str, written: str, heard: str) -> None:
    assert said(language, written) == heard
