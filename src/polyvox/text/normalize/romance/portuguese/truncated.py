"""Words of Portuguese that are cut short with a full stop, and adjectives that take the form of their noun."""

from typing import Final

from polyvox.text.normalize.romance.short_forms.truncated import pairs, truncated

TRUNCATED: Final = truncated(
    """
    acomp|anhante acess|órios acid|ente acresc|entar acrésc|imo açúc|ar adiant|amento adic|ionar advog|ado
    agend|amento agênc|ia agric|ultura ajud|ante alerg|ia alim|entação aloj|amento altern|ativa alun|os ambul|atório
    amort|ização ampl|iação anest|esia aniv|ersário antib|iótico antec|edentes anteced|ência apart|amento apelaç|ão
    aplic|ação apresent|ação aprov|ação aquec|edor aquis|ição arqu|ivo artíc|ulo assemb|leia assess||oria assin|atura
    associaç|ão atend|imento atestad|o atual|ização aut||orização autoriz|ação avaliaç|ão baunilh|a beb|idas
    biblio|teca bibliot|eca bilirr|ubina biops|ia bolach|a bronq|uite cadast|ro cadern|o calab|resa calend|ário
    calç|ados canc|elamento cancel|amento cand|idato candid|ato capac|idade capít|ulo caract|erísticas carb|oidratos
    carreg|ador carrinh|o cart|ório catál|ogo ceb|ola cebol|a cenour|a cert|ificado certif|icado cient|ífico
    class|ificação
    circ|ulação circul|ação cirurg|ia cláus|ula coent|ro colab|oração coleg|iado combust|ível comerc|ial comiss|ão
    compet|ência complem|ento compos|ição comprov|ante comput|ador comunic|ação comunid|ade concess|ão concl|usão
    concorr|ência condiç|ões condim|ento conduç|ão conex|ão confer|ência confirm|ação congel|ador conhec|imento
    consór|cio constr|ução consult|a consultór|io contab|ilidade contrat|o contrib|uição convoc|ação convenc|ional
    dív|ida marg|em cooperat|iva corret|or correspond|ência cotaç|ão creat|inina crediár|io crescim|ento cronogr|ama
    cuid|ador cumprim|entos declar|ação decorr|ência defens||oria deleg|acia demonstr|ativo denúnc|ia dermat|ologia
    derrot|as desemp|enho desenv|olvimento despach|o despes|as destin|o detalh|es devol|ução diagnóst|ico diár|ia
    dif|erença dific|uldade dimens|ões discip|lina dispens|a dispositiv|o distrib|uição divid|endo divulg|ação
    documentaç|ão domicíl|io dormit|ório duraç|ão econ|omia ediç|ão edif|ício educaç|ão eleiç|ões eletric|idade
    eletrod|omésticos elimin|atória embal|agem emerg|ência emiss|ão empr|esa empresar|ial empréstim|o encaminh|amento
    encam|inhamento encerr|amento encom|enda ender|eço energ|ia enferm|agem engenh|aria ensaiad|o entreg|a entrev|ista
    equip|amento equival|ente escol|a escrit|ório escrev|ente esgot|ado especif|icação espec||ialidade espect|adores
    espetác|ulo essenc|ial estab|elecimento estac|ionamento estat|ística estim|ativa estoq|ue estratég|ia estud|ante
    etiq|ueta evid|ência examin|ador excurs|ão exclus|ivamente exec|ução exped|iente explic|ação expos|ição
    exportaç|ão extr|ato extrat|o fabric|ante fac|uldade famíl|ia farm|ácia farinh|a fatur|amento fazend|a ferm|ento
    feriad|o ferram|enta fidel|idade financ|iamento fiscaliz|ação fisiot|erapia forneced|or formaç|ão fotogr|afia
    frald|a freg|uesia freq|uência frequênc|ia funcion|ário func|ionário funcionam|ento fundament|al gelad|eira
    gabin|ete gar|antia garant|ia gasol|ina gastroent|erologia geogr|afia geom|etria gerênc|ia gest|ão ginecol|ogia
    gorj|eta govern|ador graduaç|ão gram|ática gratif|icação habilit|ação hematol|ogia hemoglob|ina hemogr|ama
    hidrául|ica hidrat|ante hipert|ensão histór|ico hospit|al ident|idade identif|icação idiom|as imobiliár|ia
    impost|o impress||ora incapac|idade inclus|ive indeniz|ação indic|ação infecç|ão inflam|ação inform|ação
    infraestr|utura ingr|edientes ingress|os inic|ial injet|ável inscr|ição insp|eção instal|ação instit|uto
    instr|ução instruç|ões insuf|iciência integr|ação intens|idade interess|ado intern|ação interv|alo invent|ário
    investig|ação investim|ento invest|imento itiner|ário jog|ador jorn|ada julgam|ento jurisprud|ência justif|icativa
    laborat|ório lanch|onete larg|ura lavand|eria legisl|ação leit|ura levant|amento licenç|a licit|ação limit|ado
    limp|eza líng|ua liqu|idez liquidaç|ão localiz|ação logíst|ica loteam|ento lúd|ico manteig|a manut|enção
    maquiag|em máq|uina marac|ujá margar|ina matem|ática mater|ial matríc|ula máx|imo medic|ação medicam|ento medid|as
    memór|ia mensalid|ade mercad|o mest|rado ministér|io minut|os mobil|iário modalid|ade modif|icação moed|a monit|or
    mont|agem movim|entação movimentaç|ão multidisc|iplinar municíp|io nacionalid|ade nataç|ão necess|idade
    negoc|iação negociaç|ão neurol|ogia normat|iva notific|ação nutr|ição nutric|ionista objet|ivo obrig|ação
    observ|ação ocorr|ência ocup|ação odontol|ogia oftalm|ologia operaç|ão oportun|idade orçament|o ordenad|o
    organiz|ação orient|ação ortop|edia padar|ia pag|amento pagam|ento palest|ra panific|adora parág|rafo parl|amento
    partic|ipação particip|ação passag|eiro passap|orte patrim|ônio pavim|ento pediatr|ia pendênc|ia pens|ão
    percent|ual períod|o perm|issão permanênc|ia pesq|uisa pesquis|a pess|oas pim|enta piment|a plan|ejamento
    planej|amento plat|aforma plataf|orma popul|ação portar|ia possib|ilidade potênc|ia prateleir|a precip|itação
    preench|imento prefeit|ura prej|uízo presid|ente prest|ação prev|isão previd|ência previs|ão princíp|io
    priorid|ade probab|ilidade probl|ema proced|imento procur|ador produç|ão profission|al profund|idade progr|ama
    program|a proib|ido promoç|ão propost|a propr|ietário proprietár|io prorr|ogação proteç|ão protoc|olo psicol|ogia
    public|ação publ|icação qualif|icação quantid|ade quant|idade questionár|io quilôm|etros radiogr|afia realiz|ação
    receb|imento recep|ção recepç|ão recib|o reclam|ação recom|endação recomend|ado recup|eração recurs|o reduç|ão
    refeiç|ão referênc|ia reform|a refrig|erante regim|ento registr|o regul|amento regulam|ento relaç|ão relat|ório
    relatór|io relig|ião remess|a remun|eração renov|ação repres|entante represent|ante requis|itos resgat|e reserv|a
    resid|ência resoluç|ão respons|ável respost|a rest|aurante restaur|ante result|ado retenç|ão retir|ada revis|ão
    rodoviár|ia salár|io salg|ado saúd|e secretar|ia seguranç|a selec|ionado seleç|ão seman|a semin|ário sentenç|a
    separ|ação serviç|o sess|ão sint|oma sistem|a sobrem|esa sobren|ome solicit|ação soluç|ão subdeleg|ado subsíd|io
    sugest|ão suplem|ento supermerc|ado supervis|or surpr|esa suspens|ão tabel|ião tarif|a técn|ica tecnol|ogia
    telecom|unicações telef|one televis|ão temp|eratura temperat|ura tempor|ada temper|o teor|ia termin|al termôm|etro
    testem|unha tesour|aria titul|ar torn|eio trab|alho trabalh|o traduç|ão tramit|ação transferên|cia transp|orte
    tratam|ento tribut|ário trimest|re troc|ador tripul|ação turism|o univers|idade usuár|io utiliz|ação vacin|a
    amox|icilina azitrom|icina azitro|micina captop|ril cefal|exina ciprof|loxacino clav|ulanato clavul|anato
    clonaz|epam desloratad|ina dexam|etasona dexamet|asona diclof|enaco dipir|ona enalap|ril furos|emida ibov|espa
    hidroclor|otiazida ibup|rofeno ibuprof|eno levotir|oxina loratad|ina losart|ana metform|ina nimes|ulida omep|razol
    omepr|azol parac|etamol paracet|amol predn|isona prednis|ona sertral|ina sinvast|atina tramad|ol
    vacinaç|ão valid|ade vassour|a veíc|ulo velocid|ade vencim|ento vend|edor verific|ação vest|ibular veter|inário
    vestibul|ar viag|em vigênc|ia vig|ência vigil|ância vinag|re visit|a vitór|ias volunt|ário xamp|u
    """
) | pairs(
    """
    eps.: episódios; ót.: ótimo; prox.: próximo
    refs.: referências; inst.: instalação; negs.: negociáveis; a.l.: anos-luz; a. l.: anos-luz; tpl.: triplo
    cças.: crianças; cça.: criança; opc.: opcional; gts.: gotas; dbl.: duplo; vdo.: vendo; vend.: vendo; tx.: taxa
    txs.: taxas; tr.: troca; pgo.: pago; kitn.: kitnet; ajd.: ajudante; pto.: ponto; ptos.: pontos
    estac.: estacionamento; ingr.: ingredientes; dt.: data; dtas.: datas; dif.: diferença; c.s.: colheres de sopa
    c.c.: colheres de chá; ens. fund. ii: ensino fundamental dois; ens. bás.: ensino básico; profª: professora
    prof.ª: professora; dep. fed.: deputado federal; dep. est.: deputado estadual; deps.: deputados
    sens.: senadores; mins.: ministros; vers.: versão; liq.: liquidez; vig.: vigência; sds.: saudações
    saud.: saudações; enc.: encontro; rç.: raça; tb. nº: também número; resp. téc.: responsável técnico
    ar-cond.: ar-condicionado; arcond.: ar-condicionado; dir. hidr.: direção hidráulica
    dir. hid.: direção hidráulica; dir. elétr.: direção elétrica; v.e.: vidros elétricos
    vid. elétr.: vidros elétricos; trav. elétr.: travas elétricas; t.e.: travas elétricas; alarm.: alarme
    """
)
# What agrees with the noun before it: the masculine of one, or a form without gender.
AGREEING: Final = truncated(
    """
    máx|imo mín|imo méd||io opc|ional obrig|atório elétr|ico eletr||ônico eletrôn|ico mob||iliado mobil||iado
    mobiliad|o reform|ado exter|ior ext||erno extern|o int||erno indiv|idual incl||uso inclus|o disp||onível
    dispon|ível neg||ociável negoc|iável púb||lico públ|ico priv||ado privat|ivo munic|ipal mun||icipal nac||ional
    nacion|al intern||acional internac|ional mens||al anu||al sem||anal adic|ional anter|ior princ|ipal esp||ecial
    espec||ial téc||nico técn||ico adm||inistrativo admin|istrativo administr|ativo econ||ômico econôm|ico financ|eiro
    fin||anceiro comerc|ial jur||ídico juríd|ico soc||ial soci||al cient|ífico hist||órico histór|ico sanit|ário
    mec||ânico mecân|ico autom|ático digit|al port||átil portát|il recarreg|ável inox||idável compl|eto parc||ial
    imed|iato urg||ente provis|ório def||initivo temp||orário tempor|ário indet|erminado variáv|el extraord|inário
    ord||inário acum|ulado tot||al líq||uido habit|ual recom|endado mod||erado sev|ero crôn|ico bilat|eral dir||eito
    esq||uerdo ant||erior sup||erior inf||erior fem||inino masc||ulino abdom|inal card||íaco resp||iratório
    diast|ólico sist||ólico cir||úrgico clín|ico farmac|êutico relat|ivo autôn|omo fed||eral feder|al est||adual
    estad|ual industr|ial ind||ustrial ger||al profiss|ional orig||inal elev||ado dupl||o compart|ilhado climat|izado
    aprov||ado ilim||itado convenc|ional confirm||ado cancel||ado equip|ado indep|endente independ|ente esport|ivo
    metál|ico estim|ado prev||isto exclus|ivo presenc|ial noturn|o diurn|o complem|entar secund|ário primár|io
    superf|icial agríc|ola turíst|ico cult||ural cultur|al educ||ativo universit|ário infant|il juven|il orgân|ico
    integr||al desnat|ado congel|ado ralad|o picad|o fund||amental bás||ico comest|ível hidr||áulico unit||ário
    cob||erto fech||ado fat||iado rech||eado reche|ado tribut|ário planej|ado semin||ovo seminov|o us||ado usad|o
    obrigat|ório
    """
)
