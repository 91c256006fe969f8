"""Short forms of Portuguese that only the words beside them tell apart."""

import re
from typing import Final

from polyvox.text.normalize.romance.short_forms.common_rules import (
    EXTREMES,
    GEARS,
    OPUS,
    THOUSANDS,
    chapters,
    months_until_visit,
    routes,
    stars,
    weekdays,
)

_ARTICLE: Final = r"(?<!\w)[Aa]rt(?:s?\.|igos?) ?\d[\d.]*(?:º|°)?(?:-[A-Z])?(?:, §§? ?\d+(?:º|°)?(?:-[A-Z])?)?, "
_NUMERAL: Final = r"[IVXLC]+(?![\w'-])"
# Streets that are named by a day: "R. 7 de Setembro".
_STREETS: Final = {
    "R": "rua", "Av": "avenida", "Al": "alameda", "Pr": "praça", "Pça": "praça", "Tv": "travessa", "Trav": "travessa",
    "Lgo": "largo", "r": "rua", "av": "avenida", "pça": "praça",
}  # fmt: skip
_TOLD: Final = (
    r"temporadas?|temp\.?|(?:mini)?s[ée]ries?|(?:tele)?novelas?|livros?|manual|tomos?|T\d{1,2}|estre[ai]\w*|Netflix|HBO"
)
_DOSED: Final = r" de \d+ ?(?:mg|g|mcg|µg|UI)(?!\w)| ao dia| por dia| a cada | de \d+/\d+| di[áa]ri|/dia"
CONTEXT_RULES: Final = (
    *chapters(_TOLD, _DOSED),
    OPUS,
    ("sat.", re.compile(r"((?<!\w)gord(?:uras|\.) \(?)sat\.(?!\w)"), r"\1saturadas"),
    ("part.", re.compile(r"((?<!\w)[Aa]ulas )part\.(?!\w)"), r"\1particulares"),
    ("Rec. rec.", re.compile(r"(?<!\w)[Rr]ec\.(?= (?:de revista|[Ee]sp|[Ee]xtr|ord|inom|em sent))"), "recurso"),
    *(
        (f"{form}.", re.compile(rf"(?<!\w){form}\.(?= \d{{1,2}}º? de [A-ZÀ-Ýa-z][a-zç]{{3,8}}(?!\w))"), name)
        for form, name in _STREETS.items()
    ),
    (
        "def. Def.",
        re.compile(
            r"((?<!\w)(?:[aA]|[dnp]a|à|pela|sua) )def\.(?= (?:vai|ped|recorr|aleg|diz|do |da |téc|púb|e |negou|afirm))"
        ),
        r"\1defesa",
    ),
    (
        "cap. Cap.",
        re.compile(
            r"(?<!\w)[Cc]ap\.(?= (?:paulista|federal|mineira|gaúcha|baiana|fluminense|carioca|cearense|pernambucana"
            r"|paranaense|catarinense|paraense|amazonense|goiana|potiguar|alagoana|sergipana|maranhense|capixaba)(?!\w))"
        ),
        "capital",
    ),
    (
        "s/",
        re.compile(
            r"((?<!\w)(?i:fal|convers|reuni|debat|discut|inform|pergunt|dúvida|info|acordo|opini|notícia|matéria|vídeo"
            r"|livro|aula|palestra|texto|reportage|trabalho|filme|podcast|seminário|curso)"
            r"[^.;!?\n]{0,40} )s/ (?=(?:[oa]s?|ess[ea]s?|est[ea]s?|como|quem|quando) )"
        ),
        r"\1sobre ",
    ),
    (
        "entr. Entr.",
        re.compile(r"(?<!\w)[Ee]ntr\.(?= (?:grátis|em |rápida|até|expressa|a partir|imediata|no |na |p/))"),
        "entrega",
    ),
    ("ref. Ref.", re.compile(r"(?<=[;,.:] )[Rr]ef\.(?= (?:em |aos |de )?\d{1,2} (?:m\.|meses|anos|a\.))"), "reforço"),
    ("m.", re.compile(r"(?<=\d )m\.(?= (?:após|depois|antes|de (?:idade|vida|garantia|contrato|carência)))"), "meses"),
    ("d d.", re.compile(r"(?<![\w.,])(\d{1,2}) ?d\.? ?/ ?(\d{1,2}) ?n\.?(?!\w)"), r"\1 dias, \2 noites"),
    (
        "escala Escala jornada Jornada regime Regime turno Turno plantão Plantão",
        re.compile(
            r"((?:[Ee]scala|[Jj]ornada|[Rr]egime|[Tt]urno|[Pp]lantão)[^.;\d]{0,12} )(\d{1,2}) ?x ?(\d{1,2})(?!\w)"
        ),
        r"\1\2 por \3",
    ),
    ("x", re.compile(r"(?<=, )([56])x([12])(?=, (?:das|de seg|seg|folga))"), r"\1 por \2"),
    ("recl. Recl.", re.compile(r"(?<!\w)[Rr]ecl\.(?= (?:de |e |mín)\d?)"), "reclusão"),
    ("det. Det.", re.compile(r"(?<!\w)[Dd]et\.(?= de \d)"), "detenção"),
    ("rec. Rec.", re.compile(r"(?<!\w)[Rr]ec\.(?= (?:líq|bruta|oper|total|recorr|R\$|de R\$))"), "receita"),
    ("T", re.compile(r"(?<!\w)T(\d{1,2})(?=,? (?:cap|ep)(?:\.|ítulo|isódio))"), r"temporada \1"),
    ("cont. Cont.", re.compile(r"(?<!\w)[Cc]ont\.(?= (?:líq|energ))"), "conteúdo"),
    ("part. Part.", re.compile(r"(?<!\w)[Pp]art\.(?=:? (?:de )?\d+(?:,\d+)? ?%)"), "participação"),
    ("ad. ads.", re.compile(r"(?<=[2-9] )ads?\.(?= ?[+,;)/]| e )"), "adultos"),
    (
        "pix Pix PIX boleto troco gorjeta frete vaquinha",
        re.compile(
            r"((?<!\w)(?:[Pp]ix|PIX|boleto|troco|gorjeta|frete|vaquinha)"
            r" (?:de|deu|ficou em|é|foi|no valor de) )"
            r"(?=\d{1,4},\d\d(?:(?![\w,.%]| ?[a-z%])| (?:até|hoje|pra|para|e|do|da|no|na) ))"
        ),
        r"\1R$ ",
    ),
    (
        "fat. Fat.",
        re.compile(
            r"(?<!\w)[Ff]at\.(?= (?:de )?(?:jan|fev|mar|abr|mai|jun|jul|ago|set|out|nov|dez)|: | venc| n[º°.]|ura)"
        ),
        "fatura",
    ),
    ("ped. Ped.", re.compile(r"(?<!\w)[Pp]ed\.(?= ?(?:#|n[º°.]))"), "pedido"),
    ("prev. Prev.", re.compile(r"(?<!\w)[Pp]rev\. (?:de )?entr(?:ega|\.)(?!\w)"), "previsão de entrega"),
    ("abd. Abd.", re.compile(r"(?<=\bde )abd\.(?!\w)|(?<=\b(?:TC|RM|RX) )abd\.(?!\w)|(?<!\w)Abd\.(?= )"), "abdome"),
    ("n.", re.compile(r"(?<=\d )n\.(?=,| c/| com | em | \+|;)"), "noites"),
    (
        "p/",
        re.compile(
            r"((?:R\$ ?[\d.,]*\d|€) )p/ ?(?=(?:pessoa|casal|noite|dia|mês|hora|unidade|quilo|kg|litro|metro|pax"
            r"|aluno|criança|adulto|ano|semana|sessão|aula|trecho|cabeça)(?!\w))"
        ),
        r"\1por ",
    ),
    ("ú.", re.compile(r"(?<=m² )ú\.(?!\w)"), "úteis"),
    ("prop. Prop.", re.compile(r"((?<!\w)(?:c/|com o|com) ?)prop\.(?!\w)"), r"\1proprietário"),
    (
        "p.",
        re.compile(r"((?:20[012]\d|19[89]\d|[Ff]lex|\d\.\d)[^;\n]{0,20}, [245]) ?p\.(?=[,;])"),
        r"\1 portas",
    ),
    ("f.", re.compile(r"(?<=[2-6]ª-)f\.(?!\w)"), "feira"),
    ("V.", re.compile(r"(?<=ª )V\. ?C[íi]v\.?(?!\w)"), "vara cível"),
    ("V.", re.compile(r"(?<=ª )V\. ?Crim\.?(?!\w)"), "vara criminal"),
    ("V.", re.compile(r"(?<=ª )V\. ?(?:de )?Fam\.?(?!\w)"), "vara de família"),
    ("V.", re.compile(r"(?<=ª )V\. ?Fed\.?(?!\w)"), "vara federal"),
    ("V.", re.compile(r"(?<=ª )V\. ?(?:do )?Trab\.?(?!\w)"), "vara do trabalho"),
    ("gel.", re.compile(r"(?<=\b[Nn]a )gel\.(?!\w)"), "geladeira"),
    ("dub. Dub.", re.compile(r"(?<!\w)[Dd]ub\.(?=[/,;.)]| e |$)"), "dublado"),
    ("leg.", re.compile(r"((?:[Dd]ub\.|dublado|anos|min\.?)(?:/|, | e | ou ))leg\.(?!\w)"), r"\1legendado"),
    ("per.", re.compile(r"(?<=º )per\.(?!\w)"), "período"),
    ("pães fr. pão", re.compile(r"(?<=\bpães )fr\.(?!\w)"), "franceses"),
    ("pães fr. pão", re.compile(r"(?<=\bpão )fr\.(?!\w)"), "francês"),
    ("ed.", re.compile(r"(?<!\w)ed\.(?= d[aeo] )"), "edição"),
    (
        "cart.",
        re.compile(
            r"((?<!\w)(?:[Pp]ix|PIX|dinheiro|boleto|vista|débito|crédito|[Nn]o|[Pp]or|via|c/)(?:,| ou| e|/)? ?)cart\."
            r"(?! (?:de )?(?:reg|imó|not|títulos|ofício))"
        ),
        r"\1cartão",
    ),
    (
        "cart. Cart.",
        re.compile(r"(?<!\w)[Cc]art\.(?= (?:de )?(?:créd|déb|vac|ponto|[Vv]isa|[Mm]aster|virtual))"),
        "cartão",
    ),
    ("tr. Tr.", re.compile(r"(?<!\w)[Tt]r\.(?= (?:c/|com |pelo |no |tel|cel|whats|zap|\(\d\d\)))"), "tratar"),
    ("ret. Ret.", re.compile(r"(?<!\w)[Rr]et\.(?= (?:n[oa]|em) )"), "retirada"),
    ("esp. Esp.", re.compile(r"(?<!\w)[Ee]sp\.(?= (?:1,[05]|1,15|simples|duplo|entre))"), "espaçamento"),
    (
        "r.",
        re.compile(r"(?:(?<=\bou )|(?<=\d, )|(?<=\d / ))r\.(?= \d{2,4}(?:[.,;)]|$))"),
        "ramal",
    ),
    ("T S", re.compile(r"(?<!\w)[TS]0?(\d{1,2}):? ?[Ee][Pp]?0?(\d{1,2})(?!\w)"), r"temporada \1, episódio \2"),
    (
        "temp.",
        re.compile(r"((?:[ªº]|(?<!\w)(?:[Nn]ova|[ÚúUu]ltima|[Pp]róxima|primeira|segunda)) )temp\.(?! d[eo] ar)"),
        r"\1temporada",
    ),
    ("cons. Cons.", re.compile(r"(?<!\w)[Cc]ons\. pref\.(?!\w)"), "consumir preferencialmente"),
    (
        "cons. Cons.",
        re.compile(r"(?<!\w)[Cc]ons\.(?= (?:em (?:gel|local|temp|lugar|refr)|refrig|entre -?\d|sob |a -?\d))"),
        "conservar",
    ),
    ("d. dt. dts.", re.compile(r"(?<!\d)1 d(?:t|te)?\.(?= (?:de )?alho)"), "1 dente"),
    ("d. dt. dts.", re.compile(r"(?<=\d )d(?:ts?|tes?)?\.(?= (?:de )?alho)"), "dentes"),
    (
        "art. Art. arts. Arts. artigo artigos",
        re.compile(rf"({_ARTICLE})(?={_NUMERAL}(?:, {_NUMERAL})*,? e {_NUMERAL})"),
        r"\1incisos ",
    ),
    (
        "art. Art. arts. Arts. artigo artigos",
        re.compile(rf"({_ARTICLE})(?={_NUMERAL}(?:[,;:.)]| c/c| d[aoe] |$))"),
        r"\1inciso ",
    ),
    ("a.", re.compile(r"(?<=\d )a\.(?= (?!a\.|m\.|c\.|d\.|l\.)[a-zà-ÿ(])"), "anos"),
    ("c.", re.compile(r"(?<=\d )c\. ?s\.(?!\w)"), "col de sopa"),
    ("c.", re.compile(r"(?<=\d )c\. ?c\.(?!\w)"), "col de chá"),
    (
        "pg. pg",
        re.compile(r"((?:IPVA|IPTU|[Tt]axas?|[Dd]oc\w*\.?|[Cc]ondomínio|[Ll]icenciamento|[Ff]rete) )pg\.?(?!\w| ?\d)"),
        r"\1pago",
    ),
    ("kit. Kit.", re.compile(r"((?<!\w)(?:[Aa]lug\w+|[Vv]end\w+|[Vv]do\.) )kit\.(?!\w)"), r"\1kitnet"),
    ("a/", re.compile(r"(?<!\w)[aA]/[cC] (?=(?:da )?(?:Sra|Dra|Profa|Srta|D\.ª|Dona))"), "aos cuidados da "),
    ("A/ a/", re.compile(r"(?<!\w)[aA]/[cC] (?=(?:Sr|Dr|Prof|Eng)\.)"), "aos cuidados do "),
    ("dir.", re.compile(r"((?:[\d)]|sentido|faixa|saída|trem|ônibus),? )dir\.(?= [A-ZÀ-Ý])"), r"\1direção"),
    ("dir.", re.compile(r"(?<=[àÀ] )dir\.(?!\w)"), "direita"),
    ("esq.", re.compile(r"(?<=[àÀ] )esq\.(?!\w)"), "esquerda"),
    (
        "EV EV.",
        re.compile(r"((?:m[lgL]|g|UI|amp(?:ola)?s?\.?|frs?\.?|comp\.?|[Ss]oro[^,;.]{0,24}|SF[^,;.]{0,24}) )EV(?!\w)"),
        r"\1endovenosa",
    ),
    ("ens. Ens.", re.compile(r"(?<!\w)[Ee]ns\. (?:[Bb]ás|[Bb]as)\.(?!\w)"), "ensino básico"),
    (
        "financ. Financ. fin. Fin.",
        re.compile(r"((?:[Aa]dm\.|administrativ[oa]|[Cc]omercial|[Cc]ont\w+) e )[Ff]in(?:anc)?\.(?!\w)"),
        r"\1financeiro",
    ),
    (
        "dir. Dir. ger. Ger. diretor Diretor gerente Gerente",
        re.compile(r"(?<!\w)(?:[Dd]ir\.|[Dd]iretor) [Aa]dm\.(?!\w)"),
        "diretor administrativo",
    ),
    ("dir. Dir. diretora Diretora", re.compile(r"(?<!\w)[Dd]iretora [Aa]dm\.(?!\w)"), "diretora administrativa"),
    (
        "ger. Ger. gerente Gerente",
        re.compile(r"(?<!\w)(?:[Gg]er\.|[Gg]erente) [Aa]dm\.(?!\w)"),
        "gerente administrativo",
    ),
    (
        "até val. validade vence venc. Val. Validade Venc.",
        re.compile(
            r"((?:até|[Vv]al\.?|[Vv]alidade|[Vv]ence|[Vv]enc\.?):? (?:o )?)(0[1-9]|1[0-2])/(2[4-9]|3\d)(?![\w/]|[.,]\d)"
        ),
        r"\1\2/20\3",
    ),
    ("x", re.compile(r"(?<=\d)x ?['’′](?!\w)"), " por minuto"),
    ("x", re.compile(r"((?<!\w)(?:[Mm]ultipli|[Dd]ivi)[a-zà-ÿ]+ )x(?=\d{1,4}(?![\w/]|[.,]\d))"), r"\1por "),
    ("v.", re.compile(r"(?<!\w)v\.(?= (?:branco|tinto|rosé|seco|do Porto))"), "vinho"),
    *routes("subcutânea", "via oral"),
    ("p p.", re.compile(r"(?<=[ ,][2-5])p\.?(?=[,;])"), " portas"),
    ("n", re.compile(r"(?<=\w\w e )n(?= [a-zà-ÿ]{2})"), "não"),
    *weekdays(
        {
            "seg": "segunda",
            "qua": "quarta",
            "qui": "quinta",
            "sex": "sexta",
            "sáb": "sábado",
            "sab": "sábado",
            "dom": "domingo",
        },
        "às(?! vezes)|à noite|à tarde|de manhã|que vem",
    ),
    (
        "V",
        re.compile(r"(?<!\w)(\d{1,2}) ?V[ ,/-]{1,2}(\d{1,2}) ?E[ ,/-]{1,2}(\d{1,2}) ?D(?!\w)"),
        r"\1 vitórias, \2 empates, \3 derrotas",
    ),
    ("ingr. Ingr.", re.compile(r"(?<!\w)[Ii]ngr\.(?= (?:a |de |por )?R\$)"), "ingressos"),
    ("d.", re.compile(r"(?<=\d )d\.-(?=multa)"), "dias-"),
    ("c/", re.compile(r"(?<=[\wº.], )c/c (?=\d{1,3}(?![\d-])|o? ?arts?\.)"), "combinado com "),
    ("enc.", re.compile(r"(?<=[Pp]róx\. )enc\.(?!\w)"), "encontro"),
    ("entr. ent.", re.compile(r"((?<!\w)[Pp]razo )(?:de )?entr?\.(?!\w)"), r"\1de entrega"),
    ("conf.", re.compile(r"((?<!\w)[Ff]av(?:or|\.) )conf\.(?!\w)"), r"\1confirmar"),
    ("RCR", re.compile(r"(?<!\w)RCR,? (?:em )?2T(?!\w)"), "R C R dois tempos"),
    ("cada", re.compile(r"((?<!\w)cada )(\d{1,2})h(\d\d)(?!\w| ?min)"), r"\1\2h\3min"),
    ("x", re.compile(r"(?<=\d[.,]\d)x(?=[ ,.;)]|$)"), " vezes"),
    ("D", re.compile(r"(?<![\w.,])(\d{1,2}) ?D ?[/-] ?(\d{1,2}) ?N(?!\w)"), r"\1 dias, \2 noites"),
    THOUSANDS,
    (
        "m.",
        re.compile(
            r"((?<!\w)(?:[Pp]ena|[Pp]risão|[Rr]eclusão|[Dd]etenção|[Pp]razo|[Gg]arantia|[Cc]ontrato"
            r"|[Ff]idelidade|[Cc]arência|[Pp]lano|[Bb]ebê|[Vv]igência|[Aa]luguel"
            r"|[Ff]inanciamento)(?!\w)[^.;:\d]{0,20} \d{1,3}) m\.(?!\w)"
        ),
        r"\1 meses",
    ),
    ("m.", re.compile(r"(?<=\d )m\.(?= (?:e \d{1,2} d|a \d{1,2} a(?:\.|nos)))"), "meses"),
    ("p.", re.compile(r"(\$ ?[\d.,]+ )p\. ?p\.(?!\w)"), r"\1por pessoa"),
    ("n/", re.compile(r"(?<!\w)n/ ?(?=incl|disp|aceit|tem|há|fum)"), "não "),
    ("v. V.", re.compile(r"(?<!\w)[Vv]\.(?= (?:Súm|Lei|HC|RE|REsp|ADI|Acórdão|inf|supra))"), "ver"),
    ("S", re.compile(r"([12](?<![\w.,].))S ?(?:de )?(?:20)?(\d\d)(?!\w)"), r"\1º semestre de 20\2"),
    GEARS,
    ("h", re.compile(r"\(([1-5]) ?h ?([0-5]\d)\)"), r"(\1 h \2 min)"),
    (
        "temp. Temp.",
        re.compile(r"((?<!\w)(?:[Aa]lta|[Bb]aixa|[Mm]édia|[Pp]róx\.|[Pp]róxima|ª) )temp\.(?!\w)"),
        r"\1temporada",
    ),
    ("rod.", re.compile(r"(?<=[ªº] )rod\.(?!\w)"), "rodada"),
    ("dir.", re.compile(r"(?<=\b[Ee]m )dir\.(?!\w)"), "direito"),
    ("med.", re.compile(r"(?<=\b[Ee]m )med\.(?!\w)"), "medicina"),
    (
        "a. aa AA AA.",
        re.compile(r"((?:Sat|SpO)[^,;.]{0,10}?\d{2,3} ?%,? )(?:em )?(?:a\. ?a\.|aa|AA)(?!\w)"),
        r"\1em ar ambiente",
    ),
    ("SatO sat. Sat.", re.compile(r"(?<!\w)(?:SatO|[Ss]at\. ?O)[2₂](?!\w)"), "saturação de oxigênio"),
    ("ped. Ped.", re.compile(r"(?<!\w)[Pp]ed\.(?= (?:mín|máx))"), "pedido"),
    ("gr.", re.compile(r"((?<!\w)(?:[Ff]rete|[Ee]ntrega|[Ee]nvio) )gr\.(?!\w)"), r"\1grátis"),
    ("gar.", re.compile(r"((?<!\w)(?:[Vv]aga|[Vv]agas|vg\.|vgs\.)(?: de)? )gar\.(?!\w)"), r"\1garagem"),
    ("neg.", re.compile(r"(\$ ?[\d.,]+(?: mil)? )neg\.(?!\w)"), r"\1negociáveis"),
    ("corr.", re.compile(r"(?<!\w)corr\.(?= (?:pel[oa]|p/))"), "corrigido"),
    ("corr.", re.compile(r"(?<!\w)corr\.(?= mon)"), "correção"),
    ("parc. Parc.", re.compile(r"(?<!\w)[Pp]arc\.(?= (?:inic|mens|fixa|de R\$))"), "parcela"),
    months_until_visit("em"),
    (
        "próx. Próx.",
        re.compile(
            r"(?<!\w)([Pp])róx\.(?= (?:(?:rev|reun|sem|temp|cons|aval|parc|conv)\.|[a-zà-ÿ]{3,}(?:a|ão|dade"
            r"|gem|vez)(?!\w)))"
        ),
        r"\1róxima",
    ),
    ("efic.", re.compile(r"(?<=\d de )efic\.(?!\w)"), "eficiência"),
    ("art. Art. arts. Arts. artigo", re.compile(r"((?<!\w)(?:[Aa]rts?\.|[Aa]rtigo) ?\d[\d.]*) ([a-z])\)"), r"\1, \2)"),
    ("perg.", re.compile(r"(?<=\bde )perg\.(?! ?\d)"), "perguntas"),
    ("EM", re.compile(r"(?<=ano )(?:do )?EM(?![\w-])"), "do ensino médio"),
)
IN_CONTEXT: Final = (
    (
        "/",
        re.compile(r"((?:até|[Vv]al\.?|[Vv]alidade|[Vv]enc\.?):? )([1-9])/(2[4-9]|3\d)(?![\w/]|[.,]\d)"),
        r"\g<1>0\2/20\3",
    ),
    ("***", re.compile(r"\*{3,}[ -]?(\d)(\d)(\d)(\d)(?![\d*])"), r"final \1 \2 \3 \4"),
    ('"', re.compile(r"(?<=\ba )(\d{1,2})\"(?=[;,.)]|$)"), r"\1 segundos"),
    *EXTREMES,
    ("/m", re.compile(r"(?<=\w\.)/(?=m(?:ín|áx)\.)"), " e "),
    ("º", re.compile(r"((?<!\w)(?:[Mm]áxima|[Mm]ínima|[Ff][ae]z) [-+−]?\d{1,2})º(?=[,.;:)!?/]|$| [ea] )"), r"\1°"),
    ("º", re.compile(r"((?<![\w\d])[+−-]\d{1,2})º(?!\w)"), r"\1°"),
    stars("estrelas"),
    ("½", re.compile(r"(?<!\d)½(?= d[aeo]s?(?!\w)(?<!de))"), "metade"),
    ("1/2", re.compile(r"(?<![\w.,/])(?<!\d )1/2(?= d[ao]s?(?!\w))"), "metade"),
    ("/", re.compile(r"(\d(?<![\w.,/].)\d?)/([-−]?\d{1,2}) ?[º°]C(?!\w)"), r"\1, \2 °C"),
    ("º", re.compile(r"(?<=\d)(\.?[ºª])(?=[A-SU-Z](?!\w))"), r"\1 "),
    ("/d", re.compile(r"(?:(?<=\d)|(?<=\dx)|(?<=[a-zà-ÿ]{3}))/(?:d|dia)(?![\w/])"), " por dia"),
    ("/s", re.compile(r"(?<=\d)/sem\.?(?![\w/])"), " por semana"),
    ("'(", re.compile(r"(?<!\w)([fgh])['’′]\((x|\d{1,3})\)"), r"\1 linha de \2"),
    ("./", re.compile(r"(?<=(?:eg|er|ua|ui|ex|áb|om)\.)/(?=(?:seg|ter|qua|qui|sex|sáb|dom)\.)"), ", "),
    (") x ", re.compile(r"(\d{1,2}) \((\d{1,2})\) ?x ?(\d{1,2}) \((\d{1,2})\)"), r"\1 (\2) a \3 (\4)"),
    ("º)", re.compile(r"\((\d{3})º\)"), r"(\1)"),
    ("1 mil", re.compile(r"(?<![\w.,])(?<![$€£] )(?<![$€£])1 mil(?= [a-zà-ÿ]{3})"), "mil"),
    ("s/s", re.compile(r"(?<=s)/s(?!\w)"), " por segundo"),
)
