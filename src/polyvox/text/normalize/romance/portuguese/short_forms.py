"""The short forms of Portuguese by their field: offices, medicine, law, school, kitchen, trade, homes and sport."""

import re
from typing import Final

from polyvox.text.normalize.romance.portuguese.truncated import TRUNCATED
from polyvox.text.normalize.romance.short_forms.lists import short_forms

_OFFICE: Final = """
dim.: dimensões; vesíc.: vesícula; dil.: dilatação; sulf.: sulfato; ác.: ácido; neg.: negativo; posit.: positivo;
alim.: alimentos; líq.: líquido; domic.: domicílio; prat.: prateleira; paraf.: parafuso; alvej.: alvejante; centrif.:
centrifugar; press.: pressão; m.c.a.: metros de coluna d'água; sc.: sacos; lim.: limite; cad.: cadernos; rég.: régua;
núcl.: núcleo; ribos.: ribossomo; subst.: substituto; eletr.: eletrônico; alm.: almoço; aut.: automático; vaz.:
vazamento; hosp.: hospital; i/v: ida e volta; compl.: complemento; loc.: locação; reaj.: reajuste; espaç.:
espaçamento; geo.: geografia; calc.: calculadora; ingr.: ingredientes; rend.: rendimento; g.p.: grande penalidade;
espect.: espectadores; espects.: espectadores; fid.: fidelidade; band.: bandeira; qtia.: quantia; comp.: comprimido;
conting.: contingência; prof.ª: professora; Prof.ª: professora; profª.: professora; ent.: entidade; tb.: também;
fisiol.: fisiológico; alter.: alterações; us. cont.: uso contínuo; arq.: arquivo; ret.: retorno; prev.: previsto;
lug.: lugar; carr.: carruagem; Lx.: Lisboa; ext.: externo; dir. com.: diretoria comercial; Dir. Com.: diretoria
comercial; energ.: energético; enc.: encarregado; pressup.: pressuposto; adm.: administração; admin.: administração;
admtvo.: administrativo; administ.: administrativo; aux.: auxiliar; auxs.: auxiliares; asst.: assistente; assist.:
assistente; anal.: analista; coord.ª: coordenadora; coordª.: coordenadora; Coord.ª: coordenadora; ger.: gerente; gte.:
gerente; superv.: supervisor; sup. imed.: superior imediato; secret.: secretaria; sec.: secretaria; depto:
departamento; dept.: departamento; deptos.: departamentos; dir.ª: diretora; Dir.ª: diretora; presid.: presidente;
vice-pres.: vice-presidente; func.: funcionário; funcs.: funcionários; colab.: colaborador; colabs.: colaboradores;
resp.: responsável; resps.: responsáveis; téc.: técnico; técs.: técnicos; tec.: técnico; estag.: estagiário; fav.:
favor; p.f.: por favor; p. f.: por favor; s.f.f.: se faz favor; conf.: conforme; cfe.: conforme; cfme.: conforme; cf.:
confira; doc.: documento; docs.: documentos; docum.: documentação; form.: formulário; solic.: solicitação; req.:
requerimento; requer.: requerimento; reqs.: requisitos; protoc.: protocolo; prot.: protocolo; memo.: memorando; circ.:
circular; port.: portaria; resol.: resolução; inst. norm.: instrução normativa; edit.: edital; reg.: registro; regul.:
regulamento; regulam.: regulamento; relat.: relatório; reun.: reunião; obj.: objetivo; objs.: objetivos; proj.:
projeto; projs.: projetos; orçam.: orçamento; orç.: orçamento; cron.: cronograma; pend.: pendente; pends.: pendências;
encam.: encaminhamento; encaminh.: encaminhamento; remet.: remetente; dest.: destinatário; destin.: destinatário;
ass.: assinatura; assin.: assinatura; A/C: aos cuidados de; a/c: aos cuidados de; atenc.: atenciosamente; cord.:
cordialmente; cordt.: cordialmente; Exmos.: excelentíssimos; Ilmos.: ilustríssimos; mun.: municipal; est.: estadual;
nasc.: nascimento; dt. nasc.: data de nascimento; d. nasc.: data de nascimento; nat.: naturalidade; nac.: nacional;
est. civil: estado civil; ender.: endereço; bairr.: bairro; munic.: município; exp.: experiência; exper.: experiência;
salár.: salário; benef.: benefícios; benefs.: benefícios; contrat.: contratação; hor. com.: horário comercial; hor.:
horário; expte.: expediente; refeit.: refeitório; transp.: transporte; vale-transp.: vale-transporte; vale-ref.:
vale-refeição; disp.: disponível; dispon.: disponibilidade; ens. méd.: ensino médio; ens. fund.: ensino fundamental;
ens. sup.: ensino superior; E. M.: ensino médio; E.M.: ensino médio; E.F.: ensino fundamental; prim.: primário; últ.:
último; ult.: último; segs.: seguintes; princ.: principal; espec.: especialidade; geralm.: geralmente; pref.:
prefeitura; Pref.: prefeitura; câm.: câmara; Câm.: câmara; tribun.: tribunal; fls: folhas; pág: página; pgs.: páginas;
pg.: página; parág.: parágrafo; subt.: subtotal; tot. geral: total geral; acum.: acumulado; méd.: média; perc.:
percentual; trib.: tributos; impos.: impostos; mens.: mensal; bim.: bimestre; quinz.: quinzena; sem.: semestre; corr.:
corrente; bco.: banco; ag. banc.: agência bancária; c. c.: conta corrente; cta.: conta; c/p: conta poupança; poup.:
poupança; créd.: crédito; déb.: débito; dep.: depósito; transf.: transferência; comprov.: comprovante; compr.:
comprovante; pag.: pagamento; pagam.: pagamento; pagto.: pagamento; pgtos.: pagamentos; vcto.: vencimento; vencto.:
vencimento; vencim.: vencimento; vto.: vencimento; NF-e: N F e; ref. ao: referente ao; ref. a: referente a; consumid.:
consumidor; cons. méd.: consumo médio; leit.: leitura; leit. ant.: leitura anterior; leit. atual: leitura atual; ilum.
púb.: iluminação pública; ilum. públ.: iluminação pública; públ.: público; púb.: público; priv.: privado
"""
_MEDICINE: Final = """
pcte.: paciente; pctes.: pacientes; pac.: paciente; pcte: paciente; fem.: feminino; masc.: masculino; diag.:
diagnóstico; dx: diagnóstico; dx.: diagnóstico; tto.: tratamento; tto: tratamento; trat.: tratamento; tx: tratamento;
rx: raio X; RX: raio X; Rx: raio X; comp.: comprimido; cps.: cápsulas; drág.: drágeas; xpe.: xarope; xar.: xarope;
amp.: ampola; gtas.: gotas; frs.: frascos; pom.: pomada; inj.: injeção; injet.: injetável; inal.: inalação; susp.:
suspensão; sol. oral: solução oral; sol. inj.: solução injetável; sol. nasal: solução nasal; sol. fisiol.: solução
fisiológica; s.l.: sublingual; i.v.: intravenosa; e.v.: endovenosa; freq.: frequência; freq. card.: frequência
cardíaca; freq. resp.: frequência respiratória; card.: cardíaca; cardiol.: cardiologia; ortop.: ortopedia; ginec.:
ginecologia; pediat.: pediatria; ped.: pediatria; oftalmo.: oftalmologia; oftalmol.: oftalmologia; dermat.:
dermatologia; derm.: dermatologia; odont.: odontologia; neurol.: neurologia; psiq.: psiquiatria; endocr.:
endocrinologia; urol.: urologia; hosp.: hospital; enf.: enfermaria; enferm.: enfermagem; Enf.: enfermeiro; Enf.ª:
enfermeira; Enfª.: enfermeira; Enfª: enfermeira; méd. resp.: médico responsável; cons.: consulta; cirurg.: cirurgia;
cir.: cirurgia; anest.: anestesia; intern. hosp.: internação hospitalar; ex. de sangue: exame de sangue; exs.: exames;
lab.: laboratório; labor.: laboratório; glic.: glicemia; gluc.: glicose; colest.: colesterol; trig.: triglicerídeos;
creat.: creatinina; hemogr.: hemograma; leuc.: leucócitos; plaq.: plaquetas; antec.: antecedentes; alerg.: alergia;
hist. fam.: histórico familiar; hist.: história; bilat.: bilateral; abd.: abdominal; evol.: evolução; presc.:
prescrição; prescr.: prescrição; vac.: vacina; fisiot.: fisioterapia; fisio.: fisioterapia; retorn.: retorno; conv.:
convênio; part.: particular; urg.: urgência; emerg.: emergência
"""
_LAW: Final = """
proc.: processo; procs.: processos; autª.: autora; adv.ª: advogada; Adv.ª: advogada; advª.: advogada; adva.: advogada;
advs.: advogados; jz.: juiz; Des.ª: desembargadora; desemb.: desembargador; Min.ª: ministra; rel. min.: relator
ministro; Rel. Min.: relator ministro; Rel. Des.: relator desembargador; rel. des.: relator desembargador; ac.:
acórdão; acórd.: acórdão; súm.: súmula; súms.: súmulas; jurisp.: jurisprudência; jurispr.: jurisprudência; cód. civ.:
código civil; cód. pen.: código penal; Cód. Civil: código civil; Cód. Penal: código penal; CF/88: Constituição Federal
de 88; CPC/2015: C P C de 2015; CPC/15: C P C de 2015; CC/2002: código civil de 2002; CC/02: código civil de 2002; §
ún.: parágrafo único; par. ún.: parágrafo único; p. ún.: parágrafo único; p. único: parágrafo único; inc.: inciso;
incs.: incisos; al.: alínea; alín.: alínea; c/c art.: combinado com o artigo; disp. trans.: disposições transitórias;
reclte.: reclamante; recte.: recorrente; recdo.: recorrido; recda.: recorrida; reqte.: requerente; reqdo.: requerido;
reqda.: requerida; apte.: apelante; apdo.: apelado; apda.: apelada; agte.: agravante; agdo.: agravado; exeqte.:
exequente; execdo.: executado; impte.: impetrante; pcte. imp.: paciente; testem.: testemunha; indeniz.: indenização;
decis.: decisão; desp.: despacho; mand.: mandado; intim.: intimação; notif.: notificação; aud.: audiência; comarc.:
comarca; v.g.: verbi gratia; et al.: et al; s.d.: sem data; s. d.: sem data; s/d: sem data; loc. cit.: no lugar
citado; cit.: citado; legisl.: legislação; tab. reg.: tabelião; matr.: matrícula; escr.: escritura; contr.: contrato;
cláus.: cláusula; locat.: locatário; fiad.: fiador
"""
_SCHOOL: Final = """
mat.: matemática; port.: português; líng. port.: língua portuguesa; fís.: física; quím.: química; bio.: biologia;
biol.: biologia; geog.: geografia; hist.: história; filos.: filosofia; sociol.: sociologia; lit.: literatura; ed.
fís.: educação física; educ. fís.: educação física; educ.: educação; ed. inf.: educação infantil; mats.: matérias;
disc.: disciplina; discs.: disciplinas; prof. resp.: professor responsável; alun.: alunos; turm.: turma; aval.:
avaliação; exerc.: exercício; exercs.: exercícios; ex.: exemplo; exs.: exercícios; prob.: problema; probl.: problema;
quest.: questão; perg.: pergunta; pergs.: perguntas; resp.: resposta; trab.: trabalho; trabs.: trabalhos; grup.:
grupo; apres.: apresentação; introd.: introdução; def.: definição; teor.: teorema; eq.: equação; fórm.: fórmula;
gráf.: gráfico; bibl.: biblioteca; bibliogr.: bibliografia; fac.: faculdade; univ.: universidade; grad.: graduação;
pós-grad.: pós-graduação; mestr.: mestrado; dout.: doutorado; créds.: créditos; freq. mín.: frequência mínima; méd.
final: média final; recup.: recuperação; rec. final: recuperação final; lab. de: laboratório de; bim.: bimestre;
trim.: trimestre; sem. letivo: semestre letivo; matríc.: matrícula; insc.: inscrição; inscr.: inscrição; vestib.:
vestibular; simul.: simulado
"""
_TRADE: Final = """
cx.: caixa; cxs.: caixas; und.: unidade; unds.: unidades; unids.: unidades; pç.: peça; pçs.: peças; emb.: embalagem;
embal.: embalagem; frasc.: frasco; gar.: garantia; garant.: garantia; fab.: fabricação; dt. val.: data de validade;
prod.: produto; prods.: produtos; forn.: fornecedor; fornec.: fornecedor; distrib.: distribuidora; transp.:
transportadora; entr.: entrada; entreg.: entrega; frt.: frete; desc.: desconto; descs.: descontos; promo.: promoção;
prom.: promoção; s/ juros: sem juros; s/juros: sem juros; c/ juros: com juros; parc.: parcelas; prest.: prestação; à
v.: à vista; à vis.: à vista; vl. total: valor total; vlr. total: valor total; vl. tot.: valor total; vlr. unit.:
valor unitário; pr. unit.: preço unitário; preç.: preço; qualid.: qualidade; tam.: tamanho; tams.: tamanhos; estq.:
estoque; estoq.: estoque; disps.: disponíveis; orig.: original; usad.: usado; seminov.: seminovo; elétr.: elétrico;
eletrod.: eletrodomésticos; eletrôn.: eletrônico; inox.: inoxidável; manut.: manutenção; instal.: instalação; assist.
téc.: assistência técnica; rev.: revisão; serv.: serviço; servs.: serviços; atend.: atendimento; cli.: cliente; loj.:
loja; mercad.: mercadoria; merc.: mercadoria; dist.: distância; alt. máx.: altura máxima; larg.: largura; compr.:
comprimento; cap. máx.: capacidade máxima; pot.: potência
"""
_HOME: Final = """
apts.: apartamentos; aptos.: apartamentos; sobr.: sobrado; dorms.: dormitórios; dorm.: dormitório; qts.: quartos;
qtos.: quartos; sts.: suítes; ste.: suíte; suít.: suíte; bh.: banheiro; bhs.: banheiros; banh.: banheiro; wc:
banheiro; coz.: cozinha; coz. amer.: cozinha americana; sl. estar: sala de estar; sl. jantar: sala de jantar; lavand.:
lavanderia; ár. serv.: área de serviço; á. serv.: área de serviço; ár.: área; á. útil: área útil; ar-cond.:
ar-condicionado; ar cond.: ar-condicionado; a/cond.: ar-condicionado; semi-mob.: semimobiliado; mobil.: mobiliado;
reform.: reformado; vg. gar.: vaga de garagem; vg.: vaga; vgs.: vagas; gar.: garagem; elev.: elevador; and. alto:
andar alto; and. térreo: andar térreo; térr.: térreo; cobert.: cobertura; churr.: churrasqueira; pisc.: piscina;
terr.: terreno; jard.: jardim; port. 24h: portaria 24h; portar.: portaria; segur.: segurança; cond. fech.: condomínio
fechado; condom.: condomínio; alug.: aluguel; alug: aluguel; calç.: calção; cauç.: caução; fiad.: fiador; imob.:
imobiliária; imobil.: imobiliária; próx. ao: próximo ao; próx. à: próximo à; próx. a: próximo a; próx. do: próximo do;
próx. da: próximo da; localiz.: localização; m. frente: metros de frente; aquec.: aquecedor; chuv.: chuveiro; elétr.:
elétrica; hidr.: hidráulica; inst. elétr.: instalação elétrica; refrig.: refrigeração
"""
_SPORT: Final = """
prorr.: prorrogação; pên.: pênaltis; sel.: seleção; seleç.: seleção; camp.: campeonato; campeon.: campeonato;
classif.: classificação; elim.: eliminatória; rod.: rodada; est.: estádio; etap.: etapa; sg: saldo de gols; vit.:
vitórias; derr.: derrotas; cart. am.: cartão amarelo; cart. verm.: cartão vermelho; amar.: amarelo; verm.: vermelho;
téc. interino: técnico interino; trein.: treinador; árb.: árbitro; artilh.: artilheiro; assists.: assistências; jog.:
jogos
"""
FIELDS: Final = TRUNCATED | short_forms(_HOME, _SPORT, _SCHOOL, _TRADE, _LAW, _MEDICINE, _OFFICE)
FIELDS_BEFORE_FIGURES: Final = short_forms(
    """
    parc.: parcela; subs.: subsolo; ped.: pedido; term.: terminal; of.: ofício; val.: validade; cat.: categoria; res.:
    resolução; circ.: circular; port.: portaria; súm.: súmula; súms.: súmulas; cláus.: cláusula; matr.: matrícula;
    reg.: registro; insc.: inscrição; vers.: versão; cód.: código; proc.: processo; prot.: protocolo; exerc.:
    exercício; exs.: exercícios; ex.: exercício; quest.: questão; perg.: pergunta; unid.: unidade; un.: unidade; und.:
    unidade; sem.: semana; bim.: bimestre; rod.: rodada; and.: andar; conj.: conjunto; cj.: conjunto; lj.: loja; bl.:
    bloco; ap.: apartamento; apt.: apartamento; blc.: bloco; qd.: quadra; q.: quadra; lt.: lote; sl.: sala; pav.:
    pavimento; gal.: galpão; cx. postal: caixa postal; caixa p.: caixa postal; cx. p.: caixa postal; ram.: ramal;
    fasc.: fascículo; tom.: tomo; liv.: livro; lv.: livro; alín.: alínea; al.: alínea; parág.: parágrafo; inc.:
    inciso; incs.: incisos; arts: artigos; art: artigo; pág: página; pg.: página; pgs.: páginas; pgs: páginas; fls:
    folhas; mod.: modelo; dec.: decreto; dec.-lei: decreto-lei; DL: decreto-lei; doc.: documento; docs.: documentos;
    tab.: tabela; gráf.: gráfico; eq.: equação; cap: capítulo; min.: minuto; mín.: mínimo; est.: estação; grup.:
    grupo; gr.: grupo; turm.: turma; tel: telefone; fx.: faixa; linh.: linha; guich.: guichê; plat.: plataforma; port.
    nº: portaria número; ac.: acórdão; c/c: conta corrente
    """
)
_FEMININE_FORM: Final = r"(?:exp|pot|cap|freq|alt|larg|prof|dist|qtd|qtde|idade|umid|compra|nota|méd|glic)\.?"
_ENGINEERING: Final = (
    "(?i:Civil|Mecânica|Elétrica|Eletrônica|Química|Ambiental|Florestal|Agronômica|Naval|Mecatrônica|Aeroespacial|Aeronáutica|Biomédica"
    r"|Sanitária|Cartográfica|Informática|(?:de|da|do) (?:Produção|Software|Computação"
    r"|Alimentos|Materiais|Controle|Energia|Petróleo|Minas|Pesca|Segurança|Telecomunicações"
    r"|Dados|Transportes|Prod|Comp))"
)
FIELD_RULES: Final = (
    ("fab.", re.compile(r"(?<=[Dd]ata )fab\.(?!\w)"), "de fabricação"),
    ("val.", re.compile(r"(?<=[Dd]ata )val\.(?!\w)"), "de validade"),
    ("nasc.", re.compile(r"(?<=[Dd]ata )nasc\.(?!\w)"), "de nascimento"),
    ("cont.", re.compile(r"(?<=[Uu]so )cont\.(?!\w)"), "contínuo"),
    ("dev.", re.compile(r"(?<=[Ss]aldo )dev\.(?!\w)"), "devedor"),
    ("h", re.compile(r"(?<=\bpor )(\d{1,2})h(\d\d)(?!\w| ?min)"), r"\1h\2min"),
    ("h", re.compile(r"(?<=\bmais )(\d{1,2})h(\d\d)(?!\w| ?min)"), r"\1h\2min"),
    ("x/ x", re.compile(r"(?<=\d)x/d(?!\w)"), "x ao dia"),
    ("votos", re.compile(r"(\d+) x (\d+)(?= votos)"), r"\1 a \2"),
    ("final", re.compile(r"4ªs(?= de final)"), "quartas"),
    ("final", re.compile(r"8ªs(?= de final)"), "oitavas"),
    ("º º.", re.compile(r"(\b(?:sen|cos|tan|tg|a|ângulo de|girar|gire) \d\d)º(?=[.,;:)]| [=,]|$)"), r"\1°"),
    ("ºT ºT.", re.compile(r"(?<=[12]º)T(?!\w)"), " tempo"),
    ("V", re.compile(r"(\d) V, (\d+) E (?:e|,) (\d+) D(?!\w)"), r"\1 vitórias, \2 empates e \3 derrotas"),
    ("MB MB.", re.compile(r"(?<=por )MB(?=[:,.])"), "Multibanco"),
    ("I", re.compile(r"((?:§ ?\d+|art\. \d+)\.?º?, )I(?=,| d)"), r"\1um"),
    ("s", re.compile(r"(?<!\w)(\d{1,2})s ?(\d)d(?!\w)"), r"\1 semanas e \2 dias"),
    (
        "atrasou atrasado atrasada durou dura demorou demora levou leva esfriar descansar gelar há quase após durante "
        "faltam",
        re.compile(
            r"(\b(?:atras(?:ou|ado|ada)|dur(?:ou|a)|demor(?:ou|a)|lev(?:ou|a)|esfriar|descansar|gelar|por|há|quase|após"
            r"|durante|mais|cerca de|faltam) )(\d{1,2})h(\d\d)(?!\w| ?min)"
        ),
        r"\1\2h\3min",
    ),
    (
        "carro ônibus viagem voo trem duração atraso espera estrada prova aula barco descanso repouso forno sono "
        "trilha treino filme live palestra reunião",
        re.compile(
            r"(\d{1,2})h(\d\d)(?= de (?:carro|ônibus|viagem|voo|trem|duração|atraso|espera|estrada|prova"
            r"|aula|barco|descanso|repouso|forno|sono|trilha|treino|filme|live|palestra|reunião))"
        ),
        r"\1h\2min",
    ),
    (
        "tri tri.",
        re.compile(r"((?<!\w)(?:no|do|ao) )tri\.?(?= (?:encerr|termin|de |do ano|anterior|seguinte))"),
        r"\1trimestre",
    ),
    ("eco.", re.compile(r"(?<=[Cc]lasse )eco\.(?!\w)"), "econômica"),
    ("qd Qd", re.compile(r"(?<!\w)[Qq]d(?= [a-zà-ÿ]{2})"), "quando"),
    ("pref. Pref.", re.compile(r"(\b(?:[Oo]|do|ao|pelo|vice-) ?)[Pp]ref\.(?!\w)"), r"\1prefeito"),
    ("pref. Pref.", re.compile(r"(\b(?:ex-|vice-))[Pp]ref\.(?!\w)"), r"\1prefeito"),
    ("contr.", re.compile(r"(?<=[Pp]ot\. )contr\.(?!\w)"), "contratada"),
    ("a.", re.compile(r"(?<=\d )a\.(?=:)"), "anos"),
    ("hosp.", re.compile(r"((?:[Aa]lta|[Cc]onta|[Ii]nternação) )hosp\.(?!\w)"), r"\1hospitalar"),
    ("d.", re.compile(r"(?<=\d )d\. corr\.(?!\w)"), "dias corridos"),
    ("m.", re.compile(r"(?<=\d )m\. ?c\. ?a\.(?!\w)"), "metros de coluna d'água"),
    ("part. Part.", re.compile(r"(?<!\w)[Pp]art\.(?= \d{1,2}[h:])"), "partida"),
    ("cl.", re.compile(r"(?<=ª )cl\.(?!\w)"), "classe"),
    ("mod.", re.compile(r"(?<=nível )mod\.(?!\w)|(?<=dificuldade )mod\.(?!\w)"), "moderado"),
    ("int.", re.compile(r"((?:inglês|espanhol|francês|nível) )int\.(?!\w)"), r"\1intermediário"),
    ("req. Req.", re.compile(r"(?<!\w)([Rr])eq\.(?= ?:)"), r"\1equisitos"),
    ("j.", re.compile(r"(?<=ª )j\.(?!\w)"), "jornada"),
    ("r.", re.compile(r"(?<!\w)r\.(?= \d{3,4}(?![\d.,]))"), "ramal"),
    (
        "Rev.",
        re.compile(r"(?<!\w)Rev\.(?= (?:Francesa|Industrial|Russa|Mexicana|Cubana|Liberal|dos Cravos))"),
        "Revolução",
    ),
    ("prof.", re.compile(r"(?<=m de )prof\.(?!\w)"), "profundidade"),
    ("a.", re.compile(r"(?<=\d )a\.(?= e )"), "anos"),
    ("m.", re.compile(r"(?<=\d )m\.(?= de )"), "meses"),
    ("perg.", re.compile(r"(?<=\d )(?<!\b1 )perg\.(?!\w)"), "perguntas"),
    ("quest.", re.compile(r"(?<=\d )(?<!\b1 )quest\.(?!\w)"), "questões"),
    ("hs hs. hrs hrs.", re.compile(r"(?<=\d:\d\d )hr?s\.?(?!\w)"), "h"),
    ("Org. org.", re.compile(r"(?<=[Qq]uím\. )[Oo]rg\.(?!\w)"), "orgânica"),
    ("cons. Cons.", re.compile(r"(?<!\w)[Cc]ons\.(?= [\d.,]+ ?(?:kWh|W|l|L|m))"), "consumo"),
    ("S.", re.compile(r"(?<=\b[A-Z]\. )S\.(?= [A-Z])"), "S"),
    ("j. J.", re.compile(r"(?<!\w)[jJ]\.(?= (?:em )?\d{1,2}[/.])"), "julgado em"),
    ("Z. z.", re.compile(r"(?<!\w)[Zz]\.(?= (?:Sul|Norte|Leste|Oeste)(?!\w))"), "zona"),
    ("refs.", re.compile(r"(?<=as )refs\.(?!\w)"), "refeições"),
    ("a.", re.compile(r"(?<=% em )a\. ?a\.(?!\w)"), "ar ambiente"),
    ("gt gt.", re.compile(r"(?<=\d )gt\.?(?!\w)"), "gota"),
    ("c/", re.compile(r"(?<!\w)c/c (?=(?:os? )?arts?\.|§|a Lei|a Súm)"), "combinado com "),
    ("end. End.", re.compile(r"(?<!\w)[Ee]nd\.(?= ?:)"), "endereço"),
    ("Res. res.", re.compile(r"(?<!\w)[Rr]es\.(?= [A-Z]{3})"), "resolução"),
    ("al.", re.compile(r"(?<=\d )al\.(?!\w)"), "alunos"),
    ("f.", re.compile(r"(?<=[2-6]\.ª )f\.(?!\w)|(?<=[2-6]ª )f\.(?!\w)"), "feira"),
    ("c.", re.compile(r"(?<=\d )c\. ?(?:de )?\(?(sopa|chá|sobremesa|café)\)?(?!\w)"), r"col de \1"),
    ("q.", re.compile(r"(?<!\w)q\. ?b\.(?!\w)"), "quanto baste"),
    ("ger.", re.compile(r"(?<=ª )ger\.(?!\w)"), "geração"),
    ("m.", re.compile(r"(?<=\d )m\.(?=[,;)])"), "meses"),
    (
        "jan JAN Jan jan. fev FEV Fev fev. mar MAR Mar mar. abr ABR Abr abr. mai MAI Mai mai. jun JUN Jun jun. "
        "jul JUL Jul jul. ago AGO Ago ago. set SET Set set. out OUT Out out. nov NOV Nov nov. dez DEZ Dez dez.",
        re.compile(
            r"(?<![\w/.,-])(\d{1,2})[/-](jan|fev|mar|abr|mai|jun|jul|ago|set|out|nov|dez)(?=\.?(?![\w/-]))",
            re.IGNORECASE,
        ),
        r"\1 \2",
    ),
    (
        "jan JAN Jan fev FEV Fev mar MAR Mar abr ABR Abr mai MAI Mai jun JUN Jun jul JUL Jul ago AGO Ago set SET "
        "Set out OUT Out nov NOV Nov dez DEZ Dez",
        re.compile(
            r"(?<![\w/.,])(\d{1,2})([ /-])(jan|fev|mar|abr|mai|jun|jul|ago|set|out|nov"
            r"|dez)\.?\2(?:20)?(\d\d)(?![\w/:]|[.,]\d| ?[%€])",
            re.IGNORECASE,
        ),
        r"\1 \3 20\4",
    ),
    ("a.", re.compile(r"(?<=\d )a\.(?=[,;)])"), "anos"),
    (
        "v. V.",
        re.compile(r"(?<!\w)[Vv]\.(?= (?:tb|também|art|nota|seção|item|cap|p|pág|anexo|fig|tabela|súmula)(?!\w))"),
        "ver",
    ),
    ("T T.", re.compile(r"(?<=[1-6]ª )T\.?(?!\w)"), "turma"),
    ("dir. Dir.", re.compile(r"(?<!\w)dir\.(?= (?:a|à|ao|de|às) [a-z])"), "direito"),
    ("d.", re.compile(r"(?<=\d )d\. ?u\.(?!\w)"), "dias úteis"),
    ("emb. Emb.", re.compile(r"(?<!\w)[Ee]mb\.(?= (?:às )?\d{1,2}(?:h|:))"), "embarque"),
    ("prev.", re.compile(r"((?:a|ão|dade) )prev\.(?!\w)"), r"\1prevista"),
    (
        "adm.",
        re.compile(
            r"((?<!\w)(?:[Aa]ux|[Aa]sst|[Aa]ssist|[Aa]g|[Aa]gente|[Tt]éc|[Aa]nal|[Ss]etor|[Dd]ep)\.? )adm\.(?!\w)"
        ),
        r"\1administrativo",
    ),
    ("tri tri.", re.compile(r"(?<=[ºo] )tri\.?(?!\w)"), "trimestre"),
    ("bim.", re.compile(r"(?<=méd\. )bim\.(?!\w)"), "bimestral"),
    ("resp. Resp.", re.compile(r"(?<!\w)[Rr]esp\.(?=: ?(?:[-\d]|[a-zA-Z]['’]* ?=|[a-e]\)))"), "resposta"),
    ("ext.", re.compile(r"((?:temp\.|ura) )ext\.(?!\w)"), r"\1externa"),
    ("msm", re.compile(r"(?<!\w)((?:[nd]?a|à|ess[ae]|uma|nessa) )msm(?!\w)"), r"\1mesma"),
    ("energ.", re.compile(r"(?<=[Cc]ert\. )energ\.(?!\w)"), "energético"),
    ("cert.", re.compile(r"(?<!\w)[Cc]ert\.(?= energ)"), "certificado"),
    ("mín mín.", re.compile(rf"(\b{_FEMININE_FORM} (?:[a-z]{{1,3}} )?)mín\.?(?!\w)", re.IGNORECASE), r"\1mínima"),
    ("máx máx.", re.compile(rf"(\b{_FEMININE_FORM} (?:[a-z]{{1,3}} )?)máx\.?(?!\w)", re.IGNORECASE), r"\1máxima"),
    (
        "mín mín.",
        re.compile(r"((?!para|dia|era|problema|programa|sistema|agora|nada|cada)\b[a-zà-ÿ]{3,}a )mín\.?(?!\w)"),
        r"\1mínima",
    ),
    (
        "máx máx.",
        re.compile(r"((?!para|dia|era|problema|programa|sistema|agora|nada|cada)\b[a-zà-ÿ]{3,}a )máx\.?(?!\w)"),
        r"\1máxima",
    ),
    (
        "Eng. eng.",
        re.compile(rf"(?<!\b[oOaA] )(?<!\bdo )(?<!\bao )(?<!\bpelo )(?<!\w)[Ee]ng\.(?= (?:{_ENGINEERING})(?!\w))"),
        "engenharia",
    ),
    (
        "Eng. eng.",
        re.compile(r"((?<!\w)(?:em|de|curso|curs[ao]|faz(?:er)?|graduação) )[Ee]ng\.(?!\w)"),
        r"\1engenharia",
    ),
    ("Adm. adm.", re.compile(r"((?<!\w)(?:em|de|curso|faz(?:er)?) )[Aa]dm\.(?!\w)"), r"\1administração"),
    ("fem.", re.compile(r"(?<=[Pp]cte\. )fem\.(?!\w)|(?<=[Pp]ac\. )fem\.(?!\w)|(?<=paciente )fem\.(?!\w)"), "feminina"),
    ("VO VO.", re.compile(r"(?:(?<= )|(?<=\A))VO(?=[ ,.;)]|$)"), "via oral"),
    ("SC SC.", re.compile(r"(?:(?<=m[lgL] )|(?<=UI )|(?<=via ))SC(?!\w)"), "subcutânea"),
    ("IM IM.", re.compile(r"(?<=via )IM(?!\w)"), "intramuscular"),
    ("sem.", re.compile(r"(?<=\d )(?<!\b1 )sem\.(?! letivo)"), "semanas"),
    ("CF/", re.compile(r"(?<!\w)CF/(?=(?:19)?88(?!\d))"), "Constituição Federal de "),
    ("sem.", re.compile(r"(?<=\bde \d )sem\.|(?<=\bde \d\d )sem\."), "semanas"),
    ("un.", re.compile(r"(?<!\w)1 un\.(?!\w)"), "1 unidade"),
    ("ass.", re.compile(r"(?<!\w)ass\.(?= ?:)"), "assinado"),
    ("T", re.compile(r"(?<=[12]º )T(?!\w)(?! ?(?:de )?(?:20)?\d\d)|(?<=[12]\.º )T(?!\w)"), "tempo"),
    ("Ger. ger.", re.compile(r"(?<=[Dd]ir\. )[Gg]er\.(?!\w)"), "geral"),
    ("Dra. Dr.", re.compile(r"(?<!\w)Dr\. \(a\)|(?<!\w)Dr\.\(a\)"), "doutor ou doutora"),
    ("Eng.", re.compile(r"(?<=\ba )Eng\.(?= [A-ZÀ-Ý])(?! Civil)"), "engenheira"),
)
