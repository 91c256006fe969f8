"""Figures of the Romance languages that stand beside each other, beside the groups of one number."""

from helpers.tables import each_row
from polyvox.text.normalize import normalizer_for
from polyvox.text.tracked import TrackedText
from polyvox.types import NormalizationOptions


@each_row(
    ("language", "written", "heard"),
    [
        ("it", "Fascia F1 141.", "Fascia F uno, centoquarantuno."),
        ("it", "Sono 12 345.", "Sono dodicimilatrecentoquarantacinque."),
        ("it", "iPhone 13 128 GB", "iPhone tredici, centoventotto gigabyte"),
        ("it", "Costa EUR 1 250.", "Costa milleduecentocinquanta euro."),
        ("fr", "La Clio 5 100 ch.", "La Clio cinq, cent chevaux."),
        ("fr", "Un moteur de 1 500 ch.", "Un moteur de mille cinq cents chevaux."),
        ("it", "Passa alla 4.2.16.", "Passa alla quattro punto due punto sedici."),
        ("it", "Nato il 4.2.16.", "Nato il quattro febbraio duemilasedici."),
        ("it", "In scala 1:25.000.", "In scala uno a venticinquemila."),
        ("it", "Film su Focus (can. 35).", "Film su Focus (canale trentacinque)."),
        ("it", "Sia x la misura.", "Sia x la misura."),
        ("it", "x la cena", "per la cena"),
        ("fr", "Vitamine C le matin, c le top.", "Vitamine C le matin, c'est le top."),
    ],
)
def test_two_figures_stay_apart_and_one_number_stays_whole(language: str, written: str, heard: str) -> None:
    assert normalizer_for(language)(TrackedText.of(written), NormalizationOptions()).text == heard
