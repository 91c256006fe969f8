"""Words that show the language of a sentence."""

import re
from typing import Final

# Words of grammar and of every day. Those that English shares (air, main, bin, the month of Jun) are left out.
MALAY_WORDS: Final = frozenset(
    (
        "abang acara ada adakah adakan adalah adik agak agama agar ahad ahli ajak akan akaun akhir akhirnya akibat "
        "aku alamat allah amat ambil anak anda angin antara apa apabila apakah asal asalkan asyik atas atau awak awal "
        "ayah bagaimana bagaimanapun bagi bahagian bahan baharu bahasa bahawa baik baju bakal baki balas balik "
        "banding bangga bangsa bangun banjir bantuan banyak bapa barang baru bawa bawah bayar bayaran beberapa begini "
        "begitu bekas bekerja belakang beli beliau belum benar benda berada beransur berapa beras berasal berat "
        "berbanding berikut berita berjalan berjaya berkata berlaku bermula bersama bersedia bertemu besar besok "
        "betul biar biasa bila bilangan bilik bising boleh buah buat budak buka bukan bukankah buku bulan bunga "
        "cadang cadangan cakap cakaplah camne camtu cantik cara cari cepat cerita contoh cuaca cuba cukup cuma cuti "
        "daerah daging dah dahulu dalam dan dapat dari daripada datang dekat demi dengan dengar depan deras di dia "
        "dijual diorang diri dirinya disebabkan doktor duduk duit dulu eh ekonomi empat enam engkau esok faham fikir "
        "gaji garam gerai gerak giler gula guna guru hadir hal hantar hanya harap harga hari haritu harus hebat "
        "hendak hendaklah hidup hijau hilang hingga hitam hubungi hujan hujung ia iaitu ialah ibu ikhlas ikut ikutlah "
        "ingat ini inilah isi isnin isteri itu itulah jadi jadual jaga jalur jangan jatuh jauh jawab je jelas jer "
        "jika jiran jom jual juga julai jumaat jumlah jumpa juta kacau kad kadang kadar kahwin kakak kaki kala kalah "
        "kalau kali kalian kami kamu kan kanak kat kata katanya kawan kawasan kaya ke kecil kecuali kedai kedua "
        "kedudukan kekal kelas kelmarin keluar keluarga kemalangan kematian kemudian kena kenapa kepada keputusan "
        "kerajaan kerana kereta kerja kerjasama kes kesihatan ketiga ketika khamis khas kira kiri kita kitaorang ko "
        "korang kosong kot kuat kurang lagi lain laju laki lalu lama lambat lampau langsung lapan lapar lari lawan "
        "lebih lelaki lepas lima luar lupa maaf macam mahu mak maka makan makanan maklum maklumat maklumkan malah "
        "malam malang malas mampu mana manakala mangsa mari masa masalah masih masing masuk mata mei melalui menang "
        "mengapa menjelang menurut mereka merupakan mesti mesyuarat minggu minit minta minum minuman mohon motosikal "
        "muda mudah muka mula mulai mungkin murah nabi naik nak nama namanya nampak namun nanti negara negeri ni nie "
        "nombor nya oleh orang pada padahal pagi pakai paling panas pandai pandu panjang pasti patut pejabat pelajar "
        "pelanggan peluang pembelian penat pendapat penduduk penting peratus percaya percuma perdana perempuan pergi "
        "perkara perlu pernah pertama pesakit petang pihak pilih pindah pinggir pinjaman pintu pon projek puasa pukul "
        "pula pulak pulang puluh pun punya rabu rajin rakan rakyat ramadan ramai rasa rasulullah rehat ribu rosak "
        "ruang rugi rumah saat sabar sabtu sahaja sahut saja sakit salah salam sama sambil sambut sampai sana sangat "
        "sarapan satu saya sayang sebab sebagai sebanyak sebelum sebuah secara sedang sedap sedih sedikit sehari "
        "sehingga sejak sekali sekarang sekejap sekolah selain selalu selama selamat selasa selepas selesai seluruh "
        "semalam semasa semoga semua semula senang sendiri sentiasa seorang sepanjang sepatutnya seperti sepuluh "
        "seratus seribu sering seronok serta sesiapa sesuatu setakat setelah setiap sewa siap siapa sihat sikit sila "
        "simpan sini situ sokong suami suatu sudah sudu suhu suka sukar sunyi supaya surat susah susut syarikat "
        "syukur tadi tahu tahun tak takut talian tambah tanah tangan tanpa tanya tapi tarik tarikh tau tawar tawaran "
        "telah tempat tempoh tengah tengahari tengok tentang terbaik terhadap terima terlalu terpaksa tersebut terus "
        "tetap tetapi tewas tiada tiap tiba tidak tidur tiga tiket timur tinggal tinggalkan tinggi tolong tu tua "
        "tujuh tuntutan turut tutup ubat ucap uji ujian umum umur undang universiti untuk usah utama utara wahai "
        "waktu walau walaupun wang wanita warga warna weh wujud yakin yang ye zaman"
    ).split()
)
ENGLISH_WORDS: Final = frozenset(
    (
        "able about according after afternoon again against agree all almost also always amount an and another any "
        "anyone apply are aren't around arrives as asked at available away back be beat became because been before "
        "being believe between bill born both bought bring brother brought but buy called came can't cannot charges "
        "children closed closes come contains cost costs could couldn't customers day days did didn't died do does "
        "doesn't doing don't done down due during each either ends even evening ever every everyone everything "
        "expected expires family far father feel fell few fill find first follow found friend friends from gave get "
        "getting give given go goes going gone got great had half has hasn't have haven't he he's held help her here "
        "hers him his home hope hours how however i'd i'll i'm i've if in including inform into invited is isn't it "
        "it's its just keep kept kindly knew know known large last late later least leave leaves left less let's like "
        "live lived lives long look looking lost made make makes making many maybe me meet meters might "
        "minutes money month months more most mother much must name near need needs never new next night nothing now "
        "number of off often old once only open or other our out over own paid parents pay payment people place "
        "please population possible put question quite rather read really receive received reply right rises rose "
        "said same say says scored second see seen sell send sent service several shall she should shouldn't show "
        "since sister sold some something soon started starts stay staying steps still street submit such take taken "
        "tell temperature than that that's the their them then there there's these they they're thing things think "
        "this those though through time to today together told tomorrow too took toward town travel trip try two "
        "under until up upon use used very visit visitors wait walk want wants was wasn't way we we'll we're week "
        "weighs welcome well went were what when where whether which while who whole whose why wife will with within "
        "without won won't word work worked world would wouldn't write wrote year years yes yesterday yet your yours"
    ).split()
)
# Words of one language that sentences of the other are full of; they weigh less.
MALAY_NAMES: Final = frozenset(
    (
        "ayam bandar bas bukit cik dato datuk encik haji ikan jalan jam kampung la lah lorong malaysia melayu nasi "
        "pasar pekan puan pulau raya ringgit sen sungai taman tuan wilayah"
    ).split()
)
ENGLISH_LOANS: Final = frozenset(
    (
        "a best by call dinner for free good happy hello hi i lunch morning my no not on one price so sorry sure "
        "thank thanks total you"
    ).split()
)

# Names and loans that only look inflected.
_NOT_MALAY: Final = frozenset(
    (
        "afrikan balkan keegan kenyan member members membership membrane membranes pakistan pecan pedestrian pelican "
        "penguin penguins persian peruvian terminal terminals terminus territorial vulkan"
    ).split()
)
_MALAY_SHAPE: Final = re.compile(
    r"(?:meng|meny|mem[bp]|pemb|peng|peny)[a-z]{3,}|[a-z]{3,}(?:nya|kan|lah)|(?:ke|pe|ber|di|se)[a-z]{4,}(?:an|kan|nya)"
    r"|(?:ber|ter)[a-z]{2,}(?:ah|ak|al|ap|ar|as|at|ih|ik|il|is|it|uh|uk|ul|um|un|us|ut)"
)
_ENGLISH_SHAPE: Final = re.compile(
    r"[a-z]{3,}(?:tions?|sions?|ness|ments?|fully|ously|ately|ally|ity|ight|ould|ousand)|wh[a-z]{2,}"
    r"|[a-z]{2,}(?:ough|aught)[a-z]*"
    r"|[a-z]{3,}(?:[^aeiou]ed|[aeiou][bdgklmnpstvz]ing|ying)"
)
# Malay words that end as an English participle does.
_NOT_ENGLISH: Final = frozenset(
    (
        "anjing asing baring bising cacing daging dinding guling jaring kacing keliling kering kucing kuning lading "
        "masing miring pening petaling pusing rating saing sering taring tebing"
    ).split()
)


def is_malay_shape(word: str) -> bool:
    """Return whether a word in small letters carries affixes of Malay."""
    return word not in _NOT_MALAY and _MALAY_SHAPE.fullmatch(word) is not None


def is_english_shape(word: str) -> bool:
    """Return whether a word in small letters has an ending or a spelling that only English has."""
    return word not in _NOT_ENGLISH and _ENGLISH_SHAPE.fullmatch(word) is not None
