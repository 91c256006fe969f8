"""The words of Portuguese behind its rules: units, acronyms, labels."""

from typing import Final

from polyvox.text.normalize.romance.language import AcronymHabits, Labels, Noun

PREFIXES: Final = {
    "k": "quilo",
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
    "g": Noun("grama", "gramas"),
    "l": Noun("litro", "litros"),
    "L": Noun("litro", "litros"),
    "W": Noun("watt", "watts"),
    "Wh": Noun("watt-hora", "watts-hora"),
    "V": Noun("volt", "volts"),
    "A": Noun("ampere", "amperes"),
    "Ah": Noun("ampere-hora", "amperes-hora"),
    "Hz": Noun("hertz", "hertz"),
    "B": Noun("byte", "bytes"),
    "Pa": Noun("pascal", "pascais"),
    "J": Noun("joule", "joules"),
    "cal": Noun("caloria", "calorias", feminine=True),
    "s": Noun("segundo", "segundos"),
    "bps": Noun("bit por segundo", "bits por segundo"),
    "b/s": Noun("bit por segundo", "bits por segundo"),
    "B/s": Noun("byte por segundo", "bytes por segundo"),
    "b": Noun("bit", "bits"),
    "N": Noun("newton", "newtons"),
    "Ω": Noun("ohm", "ohms"),
}
OTHER_UNITS: Final = {
    "cp": Noun("comprimido", "comprimidos"),
    "caps": Noun("cápsula", "cápsulas", feminine=True),
    "ms": Noun("milissegundo", "milissegundos"),
    "″": Noun("polegada", "polegadas", feminine=True),
    "km/h": Noun("quilômetro por hora", "quilômetros por hora"),
    "mm": Noun("milímetro", "milímetros"),
    "cm": Noun("centímetro", "centímetros"),
    "dm": Noun("decímetro", "decímetros"),
    "m": Noun("metro", "metros"),
    "km": Noun("quilômetro", "quilômetros"),
    "nm": Noun("nanômetro", "nanômetros"),
    "µm": Noun("micrômetro", "micrômetros"),
    "kg": Noun("quilo", "quilos"),
    "Kg": Noun("quilo", "quilos"),
    "Km": Noun("quilômetro", "quilômetros"),
    "mcg": Noun("micrograma", "microgramas"),
    "t": Noun("tonelada", "toneladas", feminine=True),
    "ha": Noun("hectare", "hectares"),
    "seg": Noun("segundo", "segundos"),
    "min": Noun("minuto", "minutos"),
    "h": Noun("hora", "horas", feminine=True),
    "hs": Noun("hora", "horas", feminine=True),
    "kWh": Noun("quilowatt-hora", "quilowatts-hora"),
    "dB": Noun("decibel", "decibéis"),
    "px": Noun("pixel", "pixels"),
    "mmHg": Noun("milímetro de mercúrio", "milímetros de mercúrio"),
    "bpm": Noun("batimento por minuto", "batimentos por minuto"),
    "rpm": Noun("rotação por minuto", "rotações por minuto", feminine=True),
    "UI": Noun("unidade internacional", "unidades internacionais", feminine=True),
    "µUI": Noun("microunidade internacional", "microunidades internacionais", feminine=True),
    "mUI": Noun("miliunidade internacional", "miliunidades internacionais", feminine=True),
    "mmol": Noun("milimol", "milimols"),
    "cv": Noun("cavalo", "cavalos"),
    "cc": Noun("centímetro cúbico", "centímetros cúbicos"),
    "KB": Noun("kilobyte", "kilobytes"),
    "kB": Noun("kilobyte", "kilobytes"),
    "fps": Noun("quadro por segundo", "quadros por segundo"),
    "mol": Noun("mol", "mols"),
    "µmol": Noun("micromol", "micromols"),
    "bar": Noun("bar", "bars"),
    "mbar": Noun("milibar", "milibars"),
    "atm": Noun("atmosfera", "atmosferas", feminine=True),
    "eV": Noun("elétron-volt", "elétrons-volt"),
    "keV": Noun("quiloelétron-volt", "quiloelétrons-volt"),
    "MeV": Noun("megaelétron-volt", "megaelétrons-volt"),
    "lm": Noun("lúmen", "lúmens"),
    "mSv": Noun("milisievert", "milisieverts"),
    "lb": Noun("libra", "libras", feminine=True),
    "oz": Noun("onça", "onças", feminine=True),
    "pb": Noun("ponto base", "pontos base"),
    "pts": Noun("ponto", "pontos"),
    "pt": Noun("ponto", "pontos"),
    "hab": Noun("habitante", "habitantes"),
    "J/mol": Noun("joule por mol", "joules por mol"),
    "J/K": Noun("joule por kelvin", "joules por kelvin"),
    "N/C": Noun("newton por coulomb", "newtons por coulomb"),
    "J/g": Noun("joule por grama", "joules por grama"),
    "J/kg": Noun("joule por quilo", "joules por quilo"),
    "N/m": Noun("newton por metro", "newtons por metro"),
    "ppm": Noun("parte por milhão", "partes por milhão", feminine=True),
    "pol": Noun("polegada", "polegadas", feminine=True),
    "col": Noun("colher", "colheres", feminine=True),
    "colh": Noun("colher", "colheres", feminine=True),
    "xíc": Noun("xícara", "xícaras", feminine=True),
    "xic": Noun("xícara", "xícaras", feminine=True),
    "qto": Noun("quarto", "quartos"),
    "qtos": Noun("quarto", "quartos"),
    "dorm": Noun("dormitório", "dormitórios"),
    "dorms": Noun("dormitório", "dormitórios"),
    "vg": Noun("vaga", "vagas", feminine=True),
    "vgs": Noun("vaga", "vagas", feminine=True),
    "pct": Noun("pacote", "pacotes"),
    "pcts": Noun("pacote", "pacotes"),
    "cx": Noun("caixa", "caixas", feminine=True),
    "cxs": Noun("caixa", "caixas", feminine=True),
    "pç": Noun("peça", "peças", feminine=True),
    "pçs": Noun("peça", "peças", feminine=True),
    "cáps": Noun("cápsula", "cápsulas", feminine=True),
    "comp": Noun("comprimido", "comprimidos"),
    "gt": Noun("gota", "gotas", feminine=True),
    "sc": Noun("saco", "sacos"),
    "gts": Noun("gota", "gotas", feminine=True),
    "comps": Noun("comprimido", "comprimidos"),
    "amp": Noun("ampola", "ampolas", feminine=True),
    "lt": Noun("litro", "litros"),
    "lts": Noun("litro", "litros"),
    "mts": Noun("metro", "metros"),
    "págs": Noun("página", "páginas", feminine=True),
    "pág": Noun("página", "páginas", feminine=True),
    "dz": Noun("dúzia", "dúzias", feminine=True),
    "mins": Noun("minuto", "minutos"),
    "pess": Noun("pessoa", "pessoas", feminine=True),
    "arr": Noun("arroba", "arrobas", feminine=True),
    "kbit/s": Noun("quilobit por segundo", "quilobits por segundo"),
    "Mbit/s": Noun("megabit por segundo", "megabits por segundo"),
    "Gbit/s": Noun("gigabit por segundo", "gigabits por segundo"),
    "Mb/s": Noun("megabit por segundo", "megabits por segundo"),
    "Nm": Noun("newton-metro", "newtons-metro"),
    "kgfm": Noun("quilograma-força metro", "quilogramas-força metro"),
    "kgf": Noun("quilograma-força", "quilogramas-força"),
    "ft": Noun("pé", "pés"),
    "yd": Noun("jarda", "jardas", feminine=True),
    "kn": Noun("nó", "nós"),
    "kVA": Noun("quilovolt-ampère", "quilovolts-ampère"),
    "kWp": Noun("quilowatt-pico", "quilowatts-pico"),
    "UA": Noun("unidade astronômica", "unidades astronômicas", feminine=True),
    "lx": Noun("lux", "lux"),
    "mph": Noun("milha por hora", "milhas por hora", feminine=True),
    "dpi": Noun("ponto por polegada", "pontos por polegada"),
    "mEq": Noun("miliequivalente", "miliequivalentes"),
    "mca": Noun("metro de coluna d'água", "metros de coluna d'água"),
    "ppb": Noun("parte por bilhão", "partes por bilhão", feminine=True),
    "irpm": Noun("incursão por minuto", "incursões por minuto", feminine=True),
    "d": Noun("dia", "dias"),
    "msg": Noun("mensagem", "mensagens", feminine=True),
    "msgs": Noun("mensagem", "mensagens", feminine=True),
    "Mpx": Noun("megapixel", "megapixels"),
    "MP": Noun("megapixel", "megapixels"),
    "MT/s": Noun("megatransferência por segundo", "megatransferências por segundo", feminine=True),
    "abst": Noun("abstenção", "abstenções", feminine=True),
    "guarn": Noun("guarnição", "guarnições", feminine=True),
    "cols": Noun("colher", "colheres", feminine=True),
    "hamb": Noun("hambúrguer", "hambúrgueres"),
    "refr": Noun("refrigerante", "refrigerantes"),
    "refris": Noun("refrigerante", "refrigerantes"),
    "ses": Noun("sessão", "sessões", feminine=True),
    "eps": Noun("episódio", "episódios"),
    "quest": Noun("questão", "questões", feminine=True),
    "assist": Noun("assistência", "assistências", feminine=True),
    "und": Noun("unidade", "unidades", feminine=True),
    "unds": Noun("unidade", "unidades", feminine=True),
    "gr": Noun("grama", "gramas"),
    "grs": Noun("grama", "gramas"),
    "kgs": Noun("quilo", "quilos"),
    "mls": Noun("mililitro", "mililitros"),
    "cms": Noun("centímetro", "centímetros"),
    "lug": Noun("lugar", "lugares"),
    "lugs": Noun("lugar", "lugares"),
    "fat": Noun("fatia", "fatias", feminine=True),
    "dts": Noun("dente", "dentes"),
    "cps": Noun("comprimido", "comprimidos"),
    "NM": Noun("milha náutica", "milhas náuticas", feminine=True),
    "porç": Noun("porção", "porções", feminine=True),
    "crç": Noun("criança", "crianças", feminine=True),
    "reb": Noun("rebote", "rebotes"),
    "ast": Noun("assistência", "assistências", feminine=True),
}
ACRONYMS: Final = AcronymHabits(
    shortest_said=3,
    said=frozenset("REST HOST POST PATCH SESC AIDS USP ONG ONGS CERN OK UNESP OVNI".split()),
    spelled=frozenset(
        "IAM ITU AIT ICC EAP ADI CRO ADC AAS HAS API EAD EPI UTI IOF OAB SOS CEO IPI AGU IPO IDE ISS USA BYD".split()
    ),
    short_words=frozenset(
        (
            "DE DO DA NO NA OS AS UM SE ME TE EU TU JÁ SÓ OU EM AO LÁ CÁ HÁ VÁ OK OI NÃO SIM QUE POR COM SEM MAS UMA "
            "SÃO ELE VOU DOS DAS NOS NAS FOI SER TER VER SUA SEU BEM BOM DIA TEM"
        ).split()
    ),
    plural="s",
    in_addresses=frozenset("IBGE UFPE UFF API OAB TSE TRE INPI ANP ANS CRO CRA CFO CNI CNA CNE EAD BA PE CE".split()),
)
LABELS: Final = Labels(
    numbers=frozenset(
        (
            "número números linha andar porta quarto sala via plataforma quilômetro artigo artigos capítulo página "
            "páginas versão tipo nível grupo fase dia canal rota ônibus trem opção passo figura tabela pergunta "
            "exercício tema unidade lição episódio temporada tomo volume mesa assento poltrona fila terminal zona "
            "bloco prédio lote fórmula plano ano distrito seção parte anexo lei decreto fatura erro tamanho rua leito "
            "inciso boleto apartamento casa quadra portão br"
        ).split()
    ),
    codes=frozenset(
        (
            "código códigos senha senhas pin otp cvv cvc token cpf cnpj rg cep iban isbn imei placa ramal voo voos "
            "passaporte puk id renavam protocolo localizador nif"
        ).split()
    ),
    files=frozenset(
        (
            "pedido reserva referência ref fatura nota ticket processo apólice conta envio contrato caso reunião "
            "cartão série cliente chamado solicitação matrícula agência rastreio"
        ).split()
    ),
    phones=frozenset(
        ("telefone tel celular cel fax whatsapp zap ligue liga ligar contato telefones disque fone fixo").split()
    ),
)
FUNCTION_WORDS: Final = frozenset(
    (
        "aqui ali lá a à ao aos às ante após até com contra de do da dos das desde durante em no na nos nas entre para "
        "pra perante por pelo pela pelos pelas sem sob sobre trás e ou nem mas porém que se como quando onde porque "
        "embora enquanto pois o os as um uma é são era eram foi foram está estão estava será há ha não já me te lhe "
        "seu sua mais menos muito também tão tanto quase só abaixo acima norte sul leste oeste cada agora hoje ontem "
        "amanhã logo então depois antes ainda sai chega fecha abre expira vence funciona vai vem tem têm pode podem "
        "fica custa ganhou perdeu igual"
    ).split()
)
