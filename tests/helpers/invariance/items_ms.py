"""Malay things that are written with figures, signs or letters, by class, with the words for them."""

from typing import Final

from helpers.invariance.harness import Item

ITEMS: Final = {
    "cardinal": [
        Item("42", "empat puluh dua"),
        Item("1,234", "seribu dua ratus tiga puluh empat"),
        Item("3.14", "tiga perpuluhan satu empat"),
        Item("10k", "sepuluh ribu"),
    ],
    "ordinal": [Item("ke-21", "kedua puluh satu"), Item("ke-3", "ketiga")],
    "date": [
        Item("28/11/2025", "dua puluh lapan November dua ribu dua puluh lima", ("28-11-2025", "28.11.2025")),
        Item("8 Mac 2014", "lapan Mac dua ribu empat belas"),
        Item("25hb", "dua puluh lima hari bulan"),
    ],
    "time": [
        Item("pukul 8.30 pagi", "pukul lapan tiga puluh minit pagi", ("pukul 8:30 pagi",)),
        Item("9pm", "pukul sembilan malam", ("9 pm", "9PM")),
    ],
    "money": [
        Item("RM187.35", "seratus lapan puluh tujuh ringgit tiga puluh lima sen", ("RM 187.35", "rm187.35")),
        Item("RM3.5k", "tiga perpuluhan lima ribu ringgit"),
        Item("RM1.2 bilion", "satu perpuluhan dua bilion ringgit"),
        Item("RM18/org", "lapan belas ringgit seorang"),
    ],
    "measure": [
        Item("5kg", "lima kilogram", ("5 kg",)),
        Item("110km/j", "seratus sepuluh kilometer sejam", ("110 km/j",)),
        Item("22.5°C", "dua puluh dua perpuluhan lima darjah Celsius", ("22.5 °C",)),
        Item("16GB", "enam belas gigabait", ("16 GB", "16gb")),
    ],
    "percent": [Item("12.5%", "dua belas perpuluhan lima peratus", ("12.5 %",))],
    "range": [Item("5-7 orang", "lima hingga tujuh orang", ("5–7 orang",))],
    "phone": [Item("03-8000 8000", "kosong tiga lapan kosong kosong kosong lapan kosong kosong kosong")],
    "code": [
        Item("OTP 882134", "OTP lapan lapan dua satu tiga empat"),
        Item("MH370", "MH tiga tujuh kosong"),
    ],
    "version": [Item("versi 4.2.1", "versi empat perpuluhan dua perpuluhan satu")],
    "address": [Item("www.mercy.org.my", "W W W dot mercy dot org dot M Y")],
    "acronym": [Item("kwsp", "KWSP", ("KWSP",)), Item("pdrm", "PDRM", ("PDRM",))],
    "abbreviation": [Item("Dr. Siti", "Doktor Siti"), Item("Kg. Baru", "Kampung Baru")],
}
