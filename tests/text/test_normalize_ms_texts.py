"""Malay as Malaysians really write it: news, chat, receipts, addresses, and several languages in one text."""

import re
import time
import unicodedata

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from helpers.examples import examples
from helpers.linear_time import grows_linearly
from helpers.tables import each_row
from polyvox.text.markup.markup import parse
from polyvox.text.normalize import Normalizer
from polyvox.text.normalize.en import normalize as normalize_english
from polyvox.text.normalize.malay.language import Language, language_runs
from polyvox.text.normalize.malay.numbers import DIGITS, LONGEST_CARDINAL, SCALES, cardinal, ordinal
from polyvox.text.normalize.malay.passthrough import is_chinese, mask_runs, unmask_runs
from polyvox.text.normalize.ms import normalize
from polyvox.text.normalize.punctuation import fold
from polyvox.text.tracked import TrackedText
from polyvox.types import NormalizationOptions


def spoken(text: str) -> str:
    return normalize(TrackedText.of(text), NormalizationOptions()).text


NEWS = {
    "KUALA LUMPUR, 15 Nov – Kerajaan meluluskan RM1.2 bilion bagi 3,450 buah sekolah daif.": (
        "KUALA LUMPUR, lima belas November — Kerajaan meluluskan satu perpuluhan dua bilion ringgit bagi tiga"
        " ribu empat ratus lima puluh buah sekolah daif."
    ),
    "Seramai 1,234 mangsa banjir daripada 312 keluarga dipindahkan ke 15 PPS setakat jam 8 pagi.": (
        "Seramai seribu dua ratus tiga puluh empat mangsa banjir daripada tiga ratus dua belas keluarga "
        "dipindahkan ke lima belas PPS setakat jam lapan pagi."
    ),
    "Harga RON95 kekal RM1.99 seliter manakala RON97 naik 5 sen bermula 12.01 pagi esok.": (
        "Harga RON sembilan puluh lima kekal satu ringgit sembilan puluh sembilan sen seliter manakala RON "
        "sembilan puluh tujuh naik lima sen bermula dua belas satu minit pagi esok."
    ),
    "Indeks FBM KLCI susut 12.34 mata atau 0.76% kepada 1,612.45 mata.": (
        "Indeks FBM KLCI susut dua belas perpuluhan tiga empat mata atau kosong perpuluhan tujuh enam peratus"
        " kepada seribu enam ratus dua belas perpuluhan empat lima mata."
    ),
    "Tertuduh, Mohd. Faizal, 35, didakwa di bawah Akta 1952.": (
        "Tertuduh, Mohamad Faizal, tiga puluh lima, didakwa di bawah Akta seribu sembilan ratus lima puluh dua."
    ),
    "Gempa bumi berukuran 6.2 pada skala Richter melanda 45km barat daya Aceh pada 10.35 pagi.": (
        "Gempa bumi berukuran enam perpuluhan dua pada skala Richter melanda empat puluh lima kilometer barat"
        " daya Aceh pada sepuluh tiga puluh lima minit pagi."
    ),
    "Kadar pengangguran turun daripada 3.4% kepada 3.1% pada suku ke-3 2025.": (
        "Kadar pengangguran turun daripada tiga perpuluhan empat peratus kepada tiga perpuluhan satu peratus "
        "pada suku ketiga dua ribu dua puluh lima."
    ),
    "Beliau memenangi pingat emas ke-5 negara dengan catatan 10.05 saat.": (
        "Beliau memenangi pingat emas kelima negara dengan catatan sepuluh perpuluhan kosong lima saat."
    ),
    '"Kami akan bertanding di 222 kerusi," katanya pada sidang media.': (
        '"Kami akan bertanding di dua ratus dua puluh dua kerusi," katanya pada sidang media.'
    ),
    "Pemandu ditahan memandu 145km/j di KM 235.4 Lebuhraya Utara-Selatan.": (
        "Pemandu ditahan memandu seratus empat puluh lima kilometer sejam di kilometer dua ratus tiga puluh lima "
        "perpuluhan empat Lebuhraya Utara-Selatan."
    ),
    "Mesyuarat Agung Tahunan Ke-25 diadakan pada 3/6/2026, jam 2.30 petang.": (
        "Mesyuarat Agung Tahunan Kedua puluh lima diadakan pada tiga Jun dua ribu dua puluh enam, jam dua "
        "tiga puluh minit petang."
    ),
    "KDNK Malaysia tumbuh 4.9% pada S2 2025.": (
        "KDNK Malaysia tumbuh empat perpuluhan sembilan peratus pada suku kedua dua ribu dua puluh lima."
    ),
    "Ringgit ditutup pada RM4.2150 berbanding dolar AS.": (
        "Ringgit ditutup pada empat perpuluhan dua satu lima kosong ringgit berbanding dolar AS."
    ),
    "MCO 3.0 bermula 3/5/2021 hingga 28/6/2021.": (
        "MCO tiga perpuluhan kosong bermula tiga Mei dua ribu dua puluh satu hingga dua puluh lapan Jun dua "
        "ribu dua puluh satu."
    ),
    "Kerajaan memperuntukkan RM100 juta setahun untuk 1.5 juta pelajar B40.": (
        "Kerajaan memperuntukkan seratus juta ringgit setahun untuk satu perpuluhan lima juta pelajar B empat puluh."
    ),
    "Suhu antara 24-33°C dengan kelembapan 85%.": (
        "Suhu antara dua puluh empat hingga tiga puluh tiga darjah Celsius dengan kelembapan lapan puluh lima peratus."
    ),
    "Bekalan air terputus di 27 kawasan selama 48 jam mulai 9 malam ini.": (
        "Bekalan air terputus di dua puluh tujuh kawasan selama empat puluh lapan jam mulai sembilan malam ini."
    ),
    "Kes denggi meningkat 2.5 kali ganda kepada 12,345 kes.": (
        "Kes denggi meningkat dua perpuluhan lima kali ganda kepada dua belas ribu tiga ratus empat puluh lima kes."
    ),
}

CHAT = {
    "Assalamualaikum En. Razak, sy nk tanya psl homestay 25-27/12/2026, brp harga utk 2 mlm?": (
        "Assalamualaikum Encik Razak, saya nak tanya pasal homestay dua puluh lima hingga dua puluh tujuh "
        "Disember dua ribu dua puluh enam, berapa harga untuk dua malam?"
    ),
    "weh mlm ni jadi x?? aku dh lapar giler ni": "weh malam ni jadi tak? aku dah lapar giler ni",
    "jom mkn kt mamak dkt2 rumah ko pkl 9.30": (
        "jom makan kat mamak dekat-dekat rumah ko pukul sembilan tiga puluh minit"
    ),
    "Sy dh transfer RM150.00 td, cuba check.": "Saya dah transfer seratus lima puluh ringgit tadi, cuba check.",
    "Xpe la, esk2 je kita jumpa.": "Tak apa la, esok-esok je kita jumpa.",
    "Sy pn x sihat sgt hr ni, suhu 38.5C": (
        "Saya pun tak sihat sangat hari ni, suhu tiga puluh lapan perpuluhan lima darjah Celsius"
    ),
    "Jgn lupa bwk I/C n 2 keping gambar pasport ye": "Jangan lupa bawa IC dan dua keping gambar pasport ye",
    "hahaha x sangka plak dia dtg awal": "hahaha tak sangka pulak dia datang awal",
    "ok je, nnt sy bgtau blk": "ok je, nanti saya beritahu balik",
    "Brp lama lg? Dh 2 jam tggu ni": "Berapa lama lagi? Dah dua jam tunggu ni",
    "klu blh nk tempah 30 pax, RM12/org, utk 5hb nnt": (
        "kalau boleh nak tempah tiga puluh pax, dua belas ringgit seorang, untuk lima hari bulan nanti"
    ),
    "Alhamdulillah, anak sy dpt 9A SPM!!! 😭😭": "Alhamdulillah, anak saya dapat sembilan A SPM! 😭😭",
    "td pg hujan lebat gilaaaa": "tadi pagi hujan lebat gila",
    "baju ni ade size M x? harga RM35 kn?": "baju ni ade size M tak? harga tiga puluh lima ringgit kan?",
    "Sabar jelah bos, mmg mcm tu": "Sabar jelah bos, memang macam tu",
    "aku otw, lg 10 min smpai": "aku on the way, lagi sepuluh minit sampai",
    "tak pe, slow2 je bwk kereta": "tak pe, slow-slow je bawa kereta",
    "Selamat hari jadi yg ke-30!": "Selamat hari jadi yang ketiga puluh!",
    "Beli 2 percuma 1, stok terhad!!!": "Beli dua percuma satu, stok terhad!",
    "PM tepi utk harga": "PM tepi untuk harga",
}

RECEIPTS_AND_ADDRESSES = {
    "KEDAI RUNCIT PAK ALI SDN. BHD.\nNo. 12, Jln. Mawar 3/5, Tmn. Mawar,\n43000 Kajang, Selangor.": (
        "KEDAI RUNCIT PAK ALI Sendirian Berhad.\nNombor dua belas, Jalan Mawar tiga per lima, Taman "
        "Mawar,\nempat tiga kosong kosong kosong Kajang, Selangor."
    ),
    "Tel: 03-8733 1234": "Telefon: kosong tiga, lapan tujuh tiga tiga, satu dua tiga empat",
    "BERAS 5KG x 2 RM52.00": "BERAS lima kilogram kali dua lima puluh dua ringgit",
    "SUSU 1L @ RM7.50": "SUSU satu liter pada harga tujuh ringgit lima puluh sen",
    "JUMLAH RM67.00": "JUMLAH enam puluh tujuh ringgit",
    "TUNAI RM70.00\nBAKI RM3.00": "TUNAI tujuh puluh ringgit\nBAKI tiga ringgit",
    "Lot 5-12, Tkt. 5, Blok B, Plaza Mont Kiara": "Lot lima dua belas, Tingkat lima, Blok B, Plaza Mont Kiara",
    "No. 23A, Jln. Kenanga 2/3B, Tmn. Kenanga, 75200 Melaka": (
        "Nombor dua puluh tiga A, Jalan Kenanga dua per tiga B, Taman Kenanga, tujuh lima dua kosong kosong Melaka"
    ),
    "Lot 1234, Kg. Sg. Ramal Dalam, 43000 Kajang": (
        "Lot seribu dua ratus tiga puluh empat, Kampung Sungai Ramal Dalam, empat tiga kosong kosong kosong Kajang"
    ),
    "Isnin - Jumaat 8.30 pg - 5.30 ptg": (
        "Isnin hingga Jumaat lapan tiga puluh minit pagi hingga lima tiga puluh minit petang"
    ),
    "Kadar faedah 3.5% setahun, ansuran RM450/bln selama 60 bln.": (
        "Kadar faedah tiga perpuluhan lima peratus setahun, ansuran empat ratus lima puluh ringgit sebulan "
        "selama enam puluh bulan."
    ),
    "Gaji: RM2,500 - RM3,500/bulan + elaun.": (
        "Gaji: dua ribu lima ratus hingga tiga ribu lima ratus ringgit sebulan tambah elaun."
    ),
    "Hubungi Cik Lim 016-222 3333 (WhatsApp sahaja).": (
        "Hubungi Cik Lim kosong satu enam, dua dua dua, tiga tiga tiga tiga (WhatsApp sahaja)."
    ),
    "Bil elektrik TNB bulan Okt: RM245.60 (412 kWh).": (
        "Bil elektrik TNB bulan Oktober: dua ratus empat puluh lima ringgit enam puluh sen (empat ratus dua "
        "belas kilowatt jam)."
    ),
    "Invois no. 10234": "Invois nombor satu kosong dua tiga empat",
    "Tarikh: 15/11/2026 Masa: 14:35": (
        "Tarikh: lima belas November dua ribu dua puluh enam Masa: dua tiga puluh lima minit petang"
    ),
    "SST 6%: RM3.18": "SST enam peratus: tiga ringgit lapan belas sen",
    "Diskaun 10% (-RM5.30)": "Diskaun sepuluh peratus (negatif lima ringgit tiga puluh sen)",
    "1. Rebus 2 liter air.\n2. Masukkan ½ sudu teh garam.": (
        "satu. Rebus dua liter air.\ndua. Masukkan setengah sudu teh garam."
    ),
    "Pakej 3H2M dari RM399/pax": "Pakej tiga hari dua malam dari tiga ratus sembilan puluh sembilan ringgit per pax",
    "Tiket LRT RM2.60 sehala.": "Tiket LRT dua ringgit enam puluh sen sehala.",
}

MIXED = {
    "I have 5 cats and RM20.50 in my wallet.": "I have five cats and twenty ringgit and fifty sen in my wallet.",
    "The meeting is on 05/11/2026 at 3.05pm. Jumpa di Jln. Ampang pukul 3.05 petang.": (
        "The meeting is on the fifth of November, twenty twenty six at three oh five P.M. Jumpa di Jalan "
        "Ampang pukul tiga lima minit petang."
    ),
    "Our office is closed from 31/8/2026 to 2/9/2026. Sila hubungi 03-8888 1234 utk pertanyaan.": (
        "Our office is closed from the thirty first of August, twenty twenty six to the second of September, "
        "twenty twenty six. Sila hubungi kosong tiga, lapan lapan lapan lapan, satu dua tiga empat untuk "
        "pertanyaan."
    ),
    "The total is RM1,250.50 including 6% SST.": (
        "The total is one thousand two hundred fifty ringgit and fifty sen including six percent SST."
    ),
    "Please pay by 15/11/2026 via Maybank 514123456789.": (
        "Please pay by the fifteenth of November, twenty twenty six via Maybank five one four one, two three "
        "four five, six seven eight nine."
    ),
    "Boss, can I get 10% discount or not? Last time you gave me RM20 off lah.": (
        "Boss, can I get ten percent discount or not? Last time you gave me twenty ringgit off lah."
    ),
    "He's staying at No. 5, Jln. SS 2/24, 47300 Petaling Jaya.": (
        "He's staying at number five, Jalan SS two slash twenty four, four seven three zero zero Petaling Jaya."
    ),
    "Call me at 012-345 6789.": "Call me at zero one two, three four five, six seven eight nine.",
    "My IC is 880101-14-5566.": "My IC is eight eight zero one zero one, one four, five five six six.",
    "The company, Maju Jaya Sdn. Bhd., was founded in 1985 by Tn. Hj. Osman b. Ali.": (
        "The company, Maju Jaya Sendirian Berhad, was founded in nineteen eighty five by Tuan Haji Osman bin Ali."
    ),
    "We paid RM3k for 2 nights.": "We paid three thousand ringgit for two nights.",
    "It costs RM5-RM10 per person.": "It costs five to ten ringgit per person.",
    "Prices start from RM1.2 million.": "Prices start from one point two million ringgit.",
    "It's 32°C today.": "It's thirty two degrees Celsius today.",
    "You owe me 50sen.": "You owe me fifty sen.",
    "Email me at ali@um.edu.my or visit www.um.edu.my.": (
        "Email me at ali at um dot edu dot M Y or visit W W W dot um dot edu dot M Y."
    ),
    "Our hotline is 1-300-88-2525.": "Our hotline is one three zero zero, eight eight, two five two five.",
    "He was born on 31.8.1957.": "He was born on the thirty first of August, nineteen fifty seven.",
    'Beliau berkata, "We will pay RM500 on 5/11/2026 to all of them," semalam.': (
        'Beliau berkata, "We will pay five hundred ringgit on the fifth of November, twenty twenty six to all'
        ' of them," semalam.'
    ),
    "“The price is RM50,” kata Ali sambil menunjukkan 3 jari.": (
        "“The price is fifty ringgit,” kata Ali sambil menunjukkan tiga jari."
    ),
    "I dah bagi you RM50 untuk lunch semalam.": "I dah bagi you lima puluh ringgit untuk lunch semalam.",
    "Meeting pukul 3.30 petang kat level 12, bring your laptop.": (
        "Meeting pukul tiga tiga puluh minit petang kat level dua belas, bring your laptop."
    ),
    "You nak order 2 ke 3?": "You nak order dua ke tiga?",
    "OK noted. RM50 je kan?": "OK noted. lima puluh ringgit je kan?",
    "RM50. That is all I have left.": "fifty ringgit. That is all I have left.",
    "RM50. Itu sahaja yang ada.": "lima puluh ringgit. Itu sahaja yang ada.",
    "Okay.": "Okay.",
    "The bus leaves at 8.15am from KL Sentral. Bas kedua pukul 9.45 pagi. I will take the 2nd one.": (
        "The bus leaves at eight fifteen A.M from KL Sentral. Bas kedua pukul sembilan empat puluh lima minit"
        " pagi. I will take the second one."
    ),
}
NOTICES = {
    "Harga rumah RM450,000-RM500,000 di Bandar Baru Bangi.": (
        "Harga rumah empat ratus lima puluh ribu hingga lima ratus ribu ringgit di Bandar Baru Bangi."
    ),
    "Pinjaman RM10,000.00 @ 4.5% setahun.": "Pinjaman sepuluh ribu ringgit pada empat perpuluhan lima peratus setahun.",
    "Bil. 3/2026": "Bilangan tiga per dua ribu dua puluh enam",
    "Jadual perlawanan: Sabtu 8.45 malam (Stadium Shah Alam), Ahad 9.00 mlm.": (
        "Jadual perlawanan: Sabtu lapan empat puluh lima minit malam (Stadium Shah Alam), Ahad sembilan malam."
    ),
    "KL-Ipoh 200km, 2 jam 15 minit.": "KL-Ipoh dua ratus kilometer, dua jam lima belas minit.",
    "Kereta Myvi 1.5 AV 2022, mileage 45k km, RM48,800 OTR.": (
        "Kereta Myvi satu perpuluhan lima AV dua ribu dua puluh dua, mileage empat puluh lima ribu kilometer,"
        " empat puluh lapan ribu lapan ratus ringgit OTR."
    ),
    "Syarat: umur 18 tahun ke atas, CGPA ≥ 3.50, SPM 5A.": (
        "Syarat: umur lapan belas tahun ke atas, CGPA lebih daripada atau sama dengan tiga perpuluhan lima "
        "kosong, SPM lima A."
    ),
    "Kursus 3 hari, 2-4/3/2026, yuran RM350/peserta.": (
        "Kursus tiga hari, dua hingga empat Mac dua ribu dua puluh enam, yuran tiga ratus lima puluh ringgit "
        "per peserta."
    ),
    "Solat Jumaat 1.15 tgh hari. Waktu Maghrib 7.24 mlm.": (
        "Solat Jumaat satu lima belas minit tengah hari. Waktu Maghrib tujuh dua puluh empat minit malam."
    ),
    "Tahniah!! Anda menang RM 10,000. Klik http://bit.ly/menang88 skrg.": (
        "Tahniah! Anda menang sepuluh ribu ringgit. Klik bit dot ly slash menang lapan puluh lapan sekarang."
    ),
    "Mak ckp blk rumah sblm pkl 7, klu x dia marah.": "Mak cakap balik rumah sebelum pukul tujuh, kalau tak dia marah.",
    "Dia lahir 12.3.1998 kt Hosp. KL.": (
        "Dia lahir dua belas Mac seribu sembilan ratus sembilan puluh lapan kat Hospital KL."
    ),
    "Tolong belikan: 2kg gula, 1L minyak, 10 biji telur, 3pkt mi.": (
        "Tolong belikan: dua kilogram gula, satu liter minyak, sepuluh biji telur, tiga paket mi."
    ),
    "PKP 2.0 mula 13 Jan 2021.": "PKP dua perpuluhan kosong mula tiga belas Januari dua ribu dua puluh satu.",
    "Bacaan 120/80 mmHg adalah normal.": "Bacaan seratus dua puluh per lapan puluh milimeter raksa adalah normal.",
    "Undian: 5,123 (52.3%) vs 4,670 (47.7%).": (
        "Undian: lima ribu seratus dua puluh tiga (lima puluh dua perpuluhan tiga peratus) lawan empat ribu "
        "enam ratus tujuh puluh (empat puluh tujuh perpuluhan tujuh peratus)."
    ),
    "MH17 ditembak jatuh pada 17 Julai 2014.": (
        "MH tujuh belas ditembak jatuh pada tujuh belas Julai dua ribu empat belas."
    ),
    "Jangan campak puntung rokok!! Denda RM500-RM5,000.": (
        "Jangan campak puntung rokok! Denda lima ratus hingga lima ribu ringgit."
    ),
    "Lelaki 30-an itu memandu Proton Saga BLM.": "Lelaki tiga puluhan itu memandu Proton Saga BLM.",
    "Gred A+ 4.00": "Gred A plus empat perpuluhan kosong kosong",
    "Kami naik flight AK5102 pukul 7.05 pg.": "Kami naik flight AK lima satu kosong dua pukul tujuh lima minit pagi.",
    "Rumah No 15, Jln 3/27B, Wangsa Maju, 53300 KL.": (
        "Rumah Nombor lima belas, Jalan tiga per dua puluh tujuh B, Wangsa Maju, lima tiga tiga kosong kosong KL."
    ),
    "Kelas ke-2 bermula pd jam 10:30 pagi.": "Kelas kedua bermula pada jam sepuluh tiga puluh minit pagi.",
    "Surah Al-Kahfi ayat 10": "Surah Al-Kahfi ayat sepuluh",
    "1 daripada 4 rakyat Malaysia menghidap kencing manis.": (
        "satu daripada empat rakyat Malaysia menghidap kencing manis."
    ),
    "Beratnya 2.95kg, panjang 49.5cm.": (
        "Beratnya dua perpuluhan sembilan lima kilogram, panjang empat puluh sembilan perpuluhan lima sentimeter."
    ),
    "Menteri Besar Selangor, Dato' Seri Amirudin Shari": "Menteri Besar Selangor, Dato' Seri Amirudin Shari",
    "Bayaran ansuran ke-12/60": "Bayaran ansuran kedua belas daripada enam puluh",
    "Diskaun s/d 70%!": "Diskaun sampai dengan tujuh puluh peratus!",
    "Skuad B-23 negara": "Skuad B dua puluh tiga negara",
    "Tambang RM1.20–RM5.90": "Tambang satu ringgit dua puluh sen hingga lima ringgit sembilan puluh sen",
    "Suhu 39.2 C": "Suhu tiga puluh sembilan perpuluhan dua darjah Celsius",
    "Tel bimbit: 019 876 5432": "Telefon bimbit: kosong satu sembilan, lapan tujuh enam, lima empat tiga dua",
    "(012-3456789)": "(kosong satu dua, tiga empat lima, enam tujuh lapan sembilan)",
    "WhatsApp: wa.me/60123456789": (
        "WhatsApp: wa dot me slash enam kosong satu dua tiga empat lima enam tujuh lapan sembilan"
    ),
    "Sila rujuk Lampiran A.": "Sila rujuk Lampiran A.",
    "cth: 5 + 5": "contoh: lima tambah lima",
    "Dr. kata kena rehat 3 hari.": "Doktor kata kena rehat tiga hari.",
    "Harga: rm 3.50 seikat": "Harga: tiga ringgit lima puluh sen seikat",
}

PASSAGES = [case for table in (NEWS, CHAT, RECEIPTS_AND_ADDRESSES, MIXED, NOTICES) for case in table.items()]


@each_row(("written", "heard"), PASSAGES)
def test_reads(written: str, heard: str) -> None:
    assert spoken(written) == heard


OTHER_SCRIPTS = {
    "我买了3个苹果。": "我买了三个苹果.",
    "这个 RM5。": "这个 五令吉.",
    "给我 3 个，谢谢！": "给我三个, 谢谢!",
    "你好😀，有3个。": "你好😀, 有三个.",
    "これは3つです。": "これは3つです。",
    "Saya jumpa 阿明 di kedai, bayar RM5.": "Saya jumpa 阿明 di kedai, bayar lima ringgit.",
    "总共100 ringgit": "总共一百 ringgit",
    "வணக்கம் 5 பேர்": "வணக்கம் 5 பேர்",
    "Kata அம்மா, beli 2 kg.": "Kata அம்மா, beli dua kilogram.",
    "السلام عليكم ١٢٣": "السلام عليكم ١٢٣",
    "Baca سورة يس 3 kali.": "Baca سورة يس tiga kali.",
    "สวัสดี 123 ครับ": "สวัสดี 123 ครับ",
    "Harga 25 ฿ di ตลาด": "Harga dua puluh lima baht di ตลาด",
    "안녕 2번": "안녕 2번",
    "Selamat pagi 😀👨\u200d👩\u200d👧 semua! 10 orang.": "Selamat pagi 😀👨\u200d👩\u200d👧 semua! sepuluh orang.",
    "Terbaik 👍🏽 100%": "Terbaik 👍🏽 seratus peratus",
    "🇲🇾 Merdeka ke-69 🇲🇾": "🇲🇾 Merdeka keenam puluh sembilan 🇲🇾",
    "❤️ 5 tahun ❤️": "❤️ lima tahun ❤️",
    "1️⃣ Buka laman": "1️⃣ Buka laman",
    "I paid RM5 😀 to 阿明.": "I paid five ringgit 😀 to 阿明.",
}


@each_row(("written", "heard"), OTHER_SCRIPTS.items())
def test_chinese_is_read_and_other_scripts_and_emoji_pass_untouched(written: str, heard: str) -> None:
    assert spoken(written) == heard


MARKED_UP = {
    "**Harga:** RM50": "Harga: lima puluh ringgit",
    "# Menu\n\n- Nasi lemak *RM5*\n- Teh `RM2`": "Menu\n\nNasi lemak lima ringgit\nTeh dua ringgit",
    "[Laman kami](https://kami.my) buka 24 jam": "Laman kami buka dua puluh empat jam",
    "<p>Harga <b>RM50</b> sahaja!</p>": "\nHarga lima puluh ringgit sahaja!\n",
    "ibu &amp; bapa": "ibu dan bapa",
    "<!-- iklan 5 -->Buka 8 pagi": "Buka lapan pagi",
    "&lt;5 tahun": "kurang daripada lima tahun",
    "caf&eacute; RM5": "café lima ringgit",
    "3 &ndash; 5 hari": "tiga hingga lima hari",
    "| Barang | Harga |\n|---|---|\n| Beras | RM26 |": "Barang, Harga\nBeras, dua puluh enam ringgit",
    "~~RM10~~ RM8": "sepuluh ringgit lapan ringgit",
}


@each_row(("written", "heard"), MARKED_UP.items())
def test_markdown_and_html_are_not_read(written: str, heard: str) -> None:
    assert normalize(parse(written).text, NormalizationOptions()).text == heard


@each_row(
    ("written", "heard"),
    [
        ("<font color='red'>Tawaran</font> 50%", "Tawaran lima puluh peratus"),
        ("<script>var x = 5;</script>Harga RM3", "Harga tiga ringgit"),
        ("<style>p { width: 5px }</style><main>Buka 24 jam</main>", "Buka dua puluh empat jam"),
        ("harga <5 ringgit dan >3 ringgit", "harga kurang daripada lima ringgit dan lebih daripada tiga ringgit"),
    ],
)
def test_remains_of_html_are_not_read(written: str, heard: str) -> None:
    assert spoken(written) == heard


def test_an_entity_cannot_pose_as_an_insert() -> None:
    assert spoken("a&#xE000;b&#8238;c") == "abc"


LANGUAGES = {
    "Terima kasih.": [Language.MALAY],
    "Thank you very much.": [Language.ENGLISH],
    "I dah bagi you RM50 untuk lunch semalam.": [Language.MALAY],
    "He lives at 5 Jalan Ampang, Taman Melawati, Kuala Lumpur.": [Language.ENGLISH],
    "Meeting pukul 3 petang ni ok tak?": [Language.MALAY],
    "Nak order 2 nasi lemak & 1 teh ais.": [Language.MALAY],
    "I want to order 2 nasi lemak.": [Language.ENGLISH],
    "Sila hubungi customer service di 1300-88-2525.": [Language.MALAY],
    "Discount up to 50%!": [Language.ENGLISH],
    "Diskaun sehingga 50%!": [Language.MALAY],
    "Boleh send 5 files tu?": [Language.MALAY],
    "Can you send me the 5 files?": [Language.ENGLISH],
    "Open 24 hours.": [Language.ENGLISH],
    "Buka 24 jam.": [Language.MALAY],
    "Pengerusinya dikehendaki membentangkan laporan.": [Language.MALAY],
    "Internationally recognised qualifications mentioned.": [Language.ENGLISH],
    "RM50.": [Language.MALAY],
    "这个 RM5。": [Language.FOREIGN],
    "Saya sudah makan. I am full now. Jom balik.": [Language.MALAY, Language.ENGLISH, Language.MALAY],
    "Dia tinggal di Jln. The Loke Yew.": [Language.MALAY],
    "Dia kata “I will never go there again” dan pergi.": [Language.MALAY, Language.ENGLISH, Language.MALAY],
}


@each_row(("written", "languages"), LANGUAGES.items())
def test_each_sentence_has_its_language(written: str, languages: list[Language]) -> None:
    text, _ = mask_runs(TrackedText.of(written))
    assert [run.language for run in language_runs(text)] == languages


def value_of(words: str) -> int:
    """What a listener writes down."""
    total = group = last = 0
    for word in words.replace("seribu", "satu ribu").replace("seratus", "satu ratus").split():
        if word in SCALES[1:]:
            total, group, last = total + (group + last) * 1000 ** SCALES.index(word), 0, 0
        elif word in ("sepuluh", "sebelas"):
            group += 10 if word == "sepuluh" else 11
        elif word in ("ratus", "puluh", "belas"):
            group, last = group + {"ratus": 100 * last, "puluh": 10 * last, "belas": 10 + last}[word], 0
        else:
            last = DIGITS.index(word)
    return total + group + last


@given(st.integers(0, 10**LONGEST_CARDINAL - 1))
@settings(deadline=None)
def test_a_number_can_be_written_down_again(value: int) -> None:
    assert value_of(cardinal(str(value))) == value


@given(st.integers(2, 10**6))
@settings(deadline=None)
def test_an_ordinal_is_its_number_with_a_prefix(value: int) -> None:
    assert ordinal(str(value)) == f"ke{cardinal(str(value))}"


@given(st.text("0123456789", min_size=LONGEST_CARDINAL + 1, max_size=60))
@settings(deadline=None)
def test_endless_figures_are_read_digit_by_digit(digits: str) -> None:
    assert [DIGITS.index(word.strip(",")) for word in cardinal(digits).split()] == [int(digit) for digit in digits]


PIECES = [
    *"0123456789", *" .,-–—/:;'’“”\"()[]{}#@&*_`~^+=<>|\\%$€£°½²\n", "RM", "rm", "sen", "juta", "km", "kg",
    "am", "p.m.", "pukul ", "jam ", " pagi", " ptg", " mlm",
    "tgh", " tengah", "malam", "hari", "hb", "Nov ", "Isn-", "En. ", "Jln. ", "No. ", "Sdn. ",
    "Bhd. ", "ke-", "ber", "per-", "an", "x", " x ", "yg ", "dgn ", "sediiih", "budak2", "880101-14-5566",
    "012-345 6789", "+60", "the ", "is ", "yang ", "di ", "http://", "www.", ".com.my", "I", "V", "a", "B", "é", "中",
    "தமிழ்", "ไทย", "سلام", "😀", "👨\u200d👩", "\u200b", "\x00", "\ue000", "\ue005", "①", "٣",
]  # fmt: skip
anything = st.one_of(st.text(), st.lists(st.sampled_from(PIECES), max_size=30).map("".join))


def without_kept(heard: str, raw: str) -> str:
    """What is heard, without what passes through untouched."""
    rest = ""
    for run in mask_runs(TrackedText.of(raw))[1]:
        if is_chinese(run.text):
            continue
        before, _, heard = heard.partition(run.text)
        rest += before
    return rest + heard


@pytest.mark.long
@given(anything)
@examples(300)
def test_any_text_becomes_speakable(raw: str) -> None:
    """Sentences of other scripts aside, which may hold figures and signs that only their readers know."""
    parts = language_runs(fold(mask_runs(TrackedText.of(raw))[0]))
    assume(all(part.language is not Language.FOREIGN for part in parts))
    heard = without_kept(spoken(raw), raw)
    assert not any(char.isdigit() for char in heard)
    assert not any(unicodedata.category(char) in ("Cc", "Cf", "Cs") for char in heard.replace("\n", ""))
    marks = {char for char in heard if not char.isalnum() and unicodedata.category(char) not in ("Mn", "Mc", "Co")}
    assert marks <= set(" \n'-;:,.!?—…\"()“”")


@given(anything)
@examples(200)
def test_what_is_kept_comes_out_whole_and_in_order(raw: str) -> None:
    _, runs = mask_runs(TrackedText.of(raw))
    heard, at = normalize(TrackedText.of(raw), NormalizationOptions()), 0
    for run in runs:
        if is_chinese(run.text):
            continue
        at = heard.text.index(run.text, at)
        assert heard.starts[at : at + len(run)] == run.starts
        at += len(run)


@given(anything)
@examples(200)
def test_setting_aside_loses_nothing(raw: str) -> None:
    text = TrackedText.of(raw)
    assert unmask_runs(*mask_runs(text)) == text


@given(anything)
@examples(200)
def test_language_runs_are_the_text_again(raw: str) -> None:
    assert "".join(run.text.text for run in language_runs(TrackedText.of(raw))) == raw


@given(anything)
@examples(200)
def test_spans_stay_inside_the_text_and_in_order(raw: str) -> None:
    result = normalize(TrackedText.of(raw), NormalizationOptions())
    assert len(result.starts) == len(result.ends) == len(result.text)
    assert all(0 <= start < end <= len(raw) for start, end in zip(result.starts, result.ends, strict=True))
    assert list(result.starts) == sorted(result.starts)
    assert list(result.ends) == sorted(result.ends)


@given(anything)
@examples(200)
def test_no_word_is_dropped(raw: str) -> None:
    result = normalize(TrackedText.of(raw), NormalizationOptions())
    covered = {at for start, end in zip(result.starts, result.ends, strict=True) for at in range(start, end)}
    for word in re.finditer("[A-Za-z]{2,}", raw):
        assert covered.intersection(range(*word.span()))


@given(st.lists(st.sampled_from("saya hendak pergi sekolah bersama kawan baik kanak-kanak dengan gembira".split())))
@settings(deadline=None)
def test_plain_words_stay(words: list[str]) -> None:
    assert spoken(" ".join(words)) == " ".join(words)


@given(
    st.lists(st.sampled_from([*NEWS, *CHAT, *RECEIPTS_AND_ADDRESSES, *MIXED]), min_size=1, max_size=4).map("\n".join)
)
@examples(50)
def test_what_has_been_read_needs_no_second_reading(raw: str) -> None:
    heard = spoken(raw)
    assert not re.search(r"\d|RM", heard)
    assert heard.count("\n") == raw.count("\n")


def test_a_word_points_at_what_was_written() -> None:
    raw = "Dia bayar RM5 tadi 😀. I paid RM6 too."
    result = normalize(TrackedText.of(raw), NormalizationOptions())
    for word, written in (("lima", "RM5"), ("tadi", "tadi"), ("😀", "😀"), ("six", "RM6"), ("too", "too")):
        at = result.text.index(word)
        span = result.span(at, at + len(word))
        assert raw[span.start : span.end] == written


def seconds(raw: str, normalize: Normalizer = normalize) -> float:
    text = TrackedText.of(raw)
    start = time.thread_time()
    normalize(text, NormalizationOptions())
    return time.thread_time() - start


HOSTILE = [
    "1", "1,", "1,111,", "1.", "1-", "1/", "1:", "RM1", "RM1-", "+60 ", "01", "1 ", "1 000 ", "v1.", "a.", "A. ", "[",
    "(", "@", "a@", "#", "'", "-", "- ", "...", "…. ", "www.", "http://", "1 1/2", "x^", "x ", " ", "\n", "é", "1x",
    "Isn-", "1hb ", "a-", "_", "~", "A.", "<", "<!--", "<script>", "&", "&#1;", "|", "’", "中", "中 ", "1中", "😀",
    "aaa", "a2", "ke-", "ke-1", "pukul 1.", "8.30-", "8 pagi-", "Jan-", "En. ", "Jln. ", "“a", "yg ", "No. ",
    "12/8-", "*1#", "A-1.", "akaun 1-", "No. a ", "0800-", "8am/", "KM1 ", "@a ", "xxxx1 ", "12A-1-", "Jalan A 1/1 ",
    "880101-", "\ue000", "²", "Bab I ", "nisbah 1:", "sedihhh ", "menang 1-", '"the of ',
]  # fmt: skip


@pytest.mark.long
@each_row("piece", HOSTILE)
def test_time_grows_with_the_length_alone(piece: str) -> None:
    short, long = piece * (3_000 // len(piece)), piece * (6_000 // len(piece))
    assert grows_linearly(seconds, short, long)


@pytest.mark.long
def test_a_long_text_takes_a_few_times_as_long_as_an_english_one_at_most() -> None:
    figures = "Pada 15/11/2026, En. Ali bayar RM5.25 utk 3 kg beras di No. 12, Jln. Ampang pd pukul 3.05 ptg. "
    prose = "Hari itu cerah dan sejuk, dan orang tua itu pulang ke rumahnya bersama anak-anaknya yang riang. "
    english = "On 15/11/2026, Mr. Ali paid $5.25 for 3 kg of rice at No. 12, High St. at 3.05 p.m. sharp. "
    plain = "The day was bright and cool, and the old man went back to his house with his merry children. "
    least = min(seconds((english + plain * 4) * 100, normalize_english) for _ in range(2))
    assert seconds((figures + prose * 4) * 100) < 5 * least
