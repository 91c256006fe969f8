"""The words of Portuguese behind its rules: units, abbreviations, acronyms, labels."""

import re
from typing import Final

from polyvox.text.normalize.romance.language import Abbreviations, AcronymHabits, Labels, Noun

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
    "mmol": Noun("milimol", "milimols"),
    "cv": Noun("cavalo", "cavalos"),
    "cc": Noun("centímetro cúbico", "centímetros cúbicos"),
    "KB": Noun("kilobyte", "kilobytes"),
    "kB": Noun("kilobyte", "kilobytes"),
    "fps": Noun("quadro por segundo", "quadros por segundo"),
}
ABBREVIATIONS: Final = Abbreviations(
    anywhere={
        "etc.": "et cetera",
        "p. ex.": "por exemplo",
        "p.ex.": "por exemplo",
        "EUA": "Estados Unidos",
        "E.U.A.": "Estados Unidos",
        "a.C.": "antes de Cristo",
        "a. C.": "antes de Cristo",
        "d.C.": "depois de Cristo",
        "d. C.": "depois de Cristo",
        "aprox.": "aproximadamente",
        "máx.": "máximo",
        "mín.": "mínimo",
        "vc": "você",
        "vcs": "vocês",
        "tb": "também",
        "tbm": "também",
        "pq": "porque",
        "obs": "observação",
        "blz": "beleza",
        "msg": "mensagem",
        "hj": "hoje",
        "qdo": "quando",
        "qto": "quanto",
        "mto": "muito",
        "mt": "muito",
        "abs": "abraços",
        "bjs": "beijos",
        "cia.": "companhia",
        "Ltda.": "limitada",
        "S.A.": "S A",
        "S/A": "S A",
        "qtd.": "quantidade",
        "fds": "fim de semana",
        "c/": "com",
        "s/": "sem",
        "p/": "para",
    },
    leading={
        "cód.": "código",
        "c/c": "conta corrente",
        "Sr.": "senhor",
        "Sra.": "senhora",
        "Srta.": "senhorita",
        "Srs.": "senhores",
        "Sras.": "senhoras",
        "Dr.": "doutor",
        "Dra.": "doutora",
        "Drs.": "doutores",
        "Prof.": "professor",
        "Profa.": "professora",
        "Profª": "professora",
        "Prof.ª": "professora",
        "Eng.": "engenheiro",
        "Exmo.": "excelentíssimo",
        "ex.:": "exemplo:",
        "nº": "número",
        "n.º": "número",
        "n°": "número",
        "núm.": "número",
        "págs.": "páginas",
        "tel.": "telefone",
        "cel.": "celular",
        "obs.": "observação",
        "Cia.": "companhia",
        "apto.": "apartamento",
        "ap.": "apartamento",
        "apt.": "apartamento",
        "depto.": "departamento",
        "dpto.": "departamento",
        "pça.": "praça",
        "rod.": "rodovia",
        "al.": "alameda",
        "jd.": "jardim",
        "Jd.": "jardim",
        "ref.": "referência",
        "vs.": "contra",
        "vs": "versus",
        "séc.": "século",
        "sécs.": "séculos",
        "Sto.": "Santo",
        "Sta.": "Santa",
    },
    before_figures={
        "ag.": "agência",
        "pág.": "página",
        "p.": "página",
        "pp.": "páginas",
        "cap.": "capítulo",
        "caps.": "capítulos",
        "art.": "artigo",
        "arts.": "artigos",
        "vol.": "volume",
        "fig.": "figura",
        "figs.": "figuras",
        "inc.": "inciso",
        "bl.": "bloco",
        "km.": "quilômetro",
        "ed.": "edição",
        "nos.": "números",
        "n.": "número",
        "lote.": "lote",
        "qd.": "quadra",
        "lt.": "lote",
        "par.": "parágrafo",
        "tab.": "tabela",
    },
    before_names={
        "D.": "dom",
        "Da.": "dona",
        "av.": "avenida",
        "Av.": "avenida",
        "R.": "rua",
        "Pe.": "padre",
        "Gov.": "governador",
        "Dep.": "deputado",
        "Sen.": "senador",
        "Cel.": "coronel",
        "Gen.": "general",
        "Cap.": "capitão",
        "Des.": "desembargador",
        "Min.": "ministro",
        "Pça.": "praça",
        "Al.": "alameda",
        "Rod.": "rodovia",
        "S.": "São",
        "Ed.": "edifício",
        "Est.": "estrada",
        "Trav.": "travessa",
    },
    weekdays={
        "seg.": "segunda",
        "ter.": "terça",
        "qua.": "quarta",
        "qui.": "quinta",
        "sex.": "sexta",
        "sáb.": "sábado",
        "dom.": "domingo",
    },
    in_context=(
        (re.compile(r"(?<![\w/])(\d{1,2})/\1 ?h(?:oras)?(?!\w)"), r"\1 em \1 horas"),
        (re.compile(r"(?<=PA |ão )(\d{1,2}) ?[xX] ?(\d{1,2})(?!\w)"), r"\1 por \2"),
        (re.compile(r"(?<!\w)c/(?=\d)"), "a cada "),
        (re.compile(r"(?<=via )(?:IV|EV)(?!\w)"), "intravenosa"),
        (re.compile(r"(?<!\w)e/ou(?!\w)"), "e ou"),
        (re.compile(r"(?<!\w)[Dd]\.(?= Maria| Isabel| Leopoldina| Ana| Teresa| Joana)"), "dona"),
        (re.compile(r"(?<!\w)24/7(?!\w)"), "vinte e quatro por sete"),
    ),
)
ACRONYMS: Final = AcronymHabits(
    shortest_said=3,
    said=frozenset("AIDS USP ONG ONGS CERN OK UNESP OVNI".split()),
    spelled=frozenset("UTI IOF OAB SOS CEO IPI AGU IPO AGU IDE ISS USA".split()),
    short_words=frozenset(
        (
            "DE DO DA NO NA OS AS UM SE ME TE EU TU JÁ SÓ OU EM AO LÁ CÁ HÁ VÁ OK OI NÃO SIM QUE POR COM SEM MAS UMA "
            "SÃO ELE VOU DOS DAS NOS NAS FOI SER TER VER SUA SEU BEM BOM DIA TEM"
        ).split()
    ),
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
