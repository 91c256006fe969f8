"""The short forms of Portuguese chat, of Brazil and of Portugal."""

import re
from typing import Final

from polyvox.text.normalize.romance.chat_letters import ChatLetters
from polyvox.text.normalize.romance.short_forms.lists import short_forms

LETTERS: Final = ChatLetters.of(
    {"n": "não", "q": "que", "d": "de", "p": "para", "c": "com", "k": "que"},
    after_figures="pn",
    names=(
        "o a os as um uma do da ao de em no na com e ou letra variável valor valores tempo instante parâmetro "
        "fator eixo "
        "eixos opção alternativa item resposta coluna vitamina plano grupo ponto figura exercício distância "
        "camisa tamanho incógnita função constante calcule ache encontre lado vértice reta cada seção bloco "
        "alínea turma número "
        "inteiro natural todo tecla"
    ),
    verbs=(
        "is was in to of and de do da é são era vale valem está estão tem têm em e ou vezes seja significa "
        "representa indica "
        "aparece deve tal mais menos"
    ),
)
CHAT: Final = short_forms(
    """
    vc: você; vcs: vocês; tb: também; tbm: também; tbem: também; tmb: também; pq: porque; pk: porque; pqe: porque; hj:
    hoje; hoj: hoje; ontm: ontem; amnh: amanhã; amnhã: amanhã; amn: amanhã; amh: amanhã; dps: depois; dpois: depois;
    dpss: depois; blz: beleza; q: que; qe: que; ki: que; qnd: quando; qdo: quando; qndo: quando; qto: quanto; qnt:
    quanto; qnto: quanto; qts: quantos; qtos: quantos; qntos: quantos; qnts: quantos; qtas: quantas; mto: muito; mt:
    muito; mta: muita; mtos: muitos; mts: muitos; mtas: muitas; mtoo: muito; abs: abraços; abç: abraço; abçs: abraços;
    abrs: abraços; bj: beijo; bjo: beijo; bjs: beijos; bjos: beijos; bjks: beijocas; bjinhos: beijinhos; td: tudo;
    tdo: tudo; tds: todos; tdos: todos; tda: toda; tdas: todas; vlw: valeu; vlws: valeu; flw: falou; obg: obrigado;
    obgd: obrigado; obgda: obrigada; obga: obrigada; obrg: obrigado; obrigd: obrigado; brigadu: obrigado; pfv: por
    favor; pf: por favor; pfvr: por favor; pff: por favor; pfvor: por favor; plmdds: pelo amor de Deus; plmdd: pelo
    amor de Deus; mds: meu Deus; mdds: meu Deus do céu; tmj: tamo junto; cmg: comigo; ctg: contigo; cngo: comigo; agr:
    agora; amg: amigo; amgs: amigos; amga: amiga; msm: mesmo; msma: mesma; nd: nada; ngm: ninguém; ngem: ninguém;
    algm: alguém; qq: qualquer; qqr: qualquer; qlqr: qualquer; qquer: qualquer; qm: quem; oq: o que; oqe: o que; oqq:
    o que é que; sdds: saudades; sdd: saudade; dnv: de novo; dnovo: de novo; ctz: certeza; crtz: certeza; vdd:
    verdade; vrdd: verdade; slc: se liga; slk: se é louco; sla: sei lá; gnt: gente; amr: amor; smp: sempre; smpr:
    sempre; semp: sempre; nunk: nunca; nnc: nunca; dms: demais; dmais: demais; mlr: melhor; mlhr: melhor; mlk:
    moleque; mlq: moleque; mn: mano; pdp: pode pá; pdc: pode crer; tlgd: tá ligado; tlg: tá ligado; cnvs: conversa;
    prfv: por favor; msg: mensagem; msgs: mensagens; wpp: WhatsApp; whats: WhatsApp; ft: foto; fts: fotos; fds: fim de
    semana; findi: fim de semana; finds: fim de semana; fdss: fins de semana; aki: aqui; aq: aqui; axo: acho; axei:
    achei; ñ: não; nn: não; naum: não; nao: não; eh: é; neh: né; jah: já; soh: só; tah: tá; ateh: até; voce: você;
    vce: você; vcê: você; cmo: como; qria: queria; kero: quero; fzr: fazer; fzd: fazendo; fzndo: fazendo; dzr: dizer;
    vmos: vamos; tbn: também; bomdia: bom dia; bdia: bom dia; qlq: qualquer; proxima: próxima; cnmg: comigo; msmo:
    mesmo; mesm: mesmo; intão: então; entao: então; enqto: enquanto; enqnt: enquanto; pqna: pequena; rsp: responde;
    respd: responde; lgr: ligar; dsclp: desculpa; desculp: desculpa; cumps: cumprimentos; cump.: cumprimentos; bfs:
    bom fim de semana; ctt: contato; ctts: contatos; grp: grupo; grps: grupos;
    tlm: telemóvel; tlmv: telemóvel; tlf: telefone; tel: telefone; cmps: cumprimentos; obs:
    observação; trab: trabalho; reu: reunião; mins: minutos; pgto: pagamento; pgmto: pagamento; compr: comprovante;
    transf: transferência; qtd: quantidade; qtde: quantidade; nss: nossa; pto: ponto; ptos: pontos
    """
)
_OPENS: Final = (
    r"(?:(?<=[.,;:!?(\n] )|(?<=[.,;:!?(\n])|(?<=\A)|(?<=\be )|(?<=[Mm]as )|(?<=\bsei )"
    r"|(?<=\bsabe )|(?<=\bentendi )|(?<=\bentendo ))"
)
ASKED: Final = re.compile(rf"{_OPENS}(?:[Pp]q|[Pp]k)(?= [^.!?\n]{{0,160}}\?|\?|[.!]?\Z)")
CHAT_RULES: Final = (
    ("qr", re.compile(r"(?<!\w)(?<!ódigo )(?<!odigo )qr(?= [a-zà-ÿ])(?! code)"), "quer"),
    ("kd Kd", re.compile(r"(?<!\w)([Kk])d(?!\w)"), "cadê"),
    (
        "to To",
        re.compile(
            r"(?<!\w)[Tt]o(?= (?:c|com|indo|aqui|na|no|em|te|sem|mal|bem|cansad[oa]|de|muito|mt|mto|só"
            r"|quase|chegando|saindo"
            r"|esperando|ligad[oa]|doente|livre|atrasad[oa]|fazendo|morrendo|precisando)(?!\w))"
        ),
        "tô",
    ),
    ("pq Pq pk Pk", ASKED, "por que"),
    ("oq Oq", re.compile(r"(?<!\w)[Oo]q(?=\?|[.!]?\Z)"), "o quê"),
    (
        "qto Qto",
        re.compile(r"(?<!\w)[Qq]to(?= (?:custa|é|deu|foi|fica|ficou|tempo|vale|você|vc|tá|sai|vai|antes|mais))"),
        "quanto",
    ),
    ("tel Tel", re.compile(r"(?<!\w)[Tt]el(?= (?:dele|dela|do|da|meu))"), "telefone"),
)
