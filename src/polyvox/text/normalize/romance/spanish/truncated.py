"""Words of Spanish that are cut short with a full stop, and adjectives that take the form of their noun."""

from typing import Final

from polyvox.text.normalize.romance.short_forms.truncated import pairs, truncated

TRUNCATED: Final = truncated(
    """
    cand|idato espag|uetis espect|adores beb|ida amox|icilina atorvast|atina azitrom|icina bisop|rolol captop|ril
    cefal|exina clav|ulánico clavul|ánico
    dexam|etasona dexamet|asona diclof|enaco enalap|ril furos|emida hamb|urguesa ibup|rofeno ibuprof|eno levotir|oxina
    loratad|ina losart|án metam|izol metform|ina naprox|eno omep|razol omepr|azol parac|etamol paracet|amol predn|isona
    prednis|ona refr|esco salbut|amol simvast|atina tramad|ol
    abdom|en abog|ado absten|ciones acces|orios accid|ente acomp|añante acred|itación actualiz|ación acus|ado ahorr|o
    aisl|amiento ajed|rez albañ||ilería alcald|e alem|án alergol|ogía aliment|os almac|én almacen|amiento aloj|amiento
    alq|uiler alquil|er altav|oces alumb|rado ampl|iación analg|ésico aniv|ersario anot|aciones antib|iótico anticip|o
    anticong|elante antig|üedad antiinfl|amatorio anul|ación aparc|amiento apel|ación apell|idos aper|tura aprobac|ión
    archiv|o arrendad|or arrendat|ario artíc|ulo asamb|lea aspir|adora asegur|adora asesor|ía asign|atura asoci|ación
    aspirad|ora atenc|ión atlet|ismo audienc|ia aument|o auton|omía autopist|a autov|ía avis|o ayud|ante ayunt|amiento
    azúc|ar balc|ón balonc|esto balonm|ano bilirr|ubina biops|ia bocad|illo bomb||eros bronq|uitis busc|ador
    calab|acín calend|ario calent|ador calid|ad camis|eta cancel|ación capac|idad capít|ulo caract|erísticas carg|ador
    carnic|ería carp|eta carret|era castell|ano catál|ogo ceb|olla celebr|ación cent|ímetros centrif|ugado
    centroc|ampista cerr|ado cervic|al champ|iñones chaq|ueta choc|olate ciclis|mo científ|ico circul|ación ciruj|ano
    cirug|ía coef|iciente colab|oración coleg|io colegiad|o combust|ible comed|or coment|arios comerc|io compañ|ía
    compet|encia complet|o compon|entes compr|obante comprens|ión comunic|ación comunid|ad conces|ión concent|ración
    concej|al condic|iones conduc|tor conex|ión confer|encia confirm|ación congel|ador constit|ución consult|a
    contab|ilidad contag|ios contraind|icaciones convenc|ional contraseñ|a contribuy|ente conven|io convoc|atoria
    cooperat|iva corresp|ondiente correspond|encia cotiz|ación creatin|ina crecim|iento cron|ograma cuadr|ado
    cuatrim|estre cubiert|a cuchar|ada cuest|ionario cumpl|eaños custod|ia declar|ación decret|o defens|a delant|ero
    deleg|ación delegac|ión denunc|ia deposit|ario dermatol|ogía derrot|as desarr|ollo descr|ipción descrip|ción
    descuent|o desemp|leo despach|o destin|o detall|es devol|ución diagn|óstico dibuj|o dific|ultad digest|ivo
    dilig|encia dimens|iones diput|ado direcc|ión discip|lina discapac|idad disminuc|ión disolv|er distr|ito
    distrib|ución divid|endo divorc|io docen|a document|ación domicil|io dormit|orio durac|ión ecog|rafía econ|omía
    ecuac|ión edific|io edic|ión ejecuc|ión ejempl|o elab|oración elecc|iones electrocard|iograma electricid|ad
    elimin|atoria emerg|encia empad|ronamiento emplead|o empres|a encarg|ado encuad|ernación energ|ía enfermed|ad
    entrad|a entreg|a entren|ador entrev|ista equip|aje equiv|alente escal|era escrit|ura espec||ialidad espectad|ores
    espirom|etría establec|imiento estac|ionamiento estad|ística estat|ura estrat|egia estud|iante etiq|ueta
    evaluac|ión exact|amente excl|usivamente exclus|ivamente excurs|ión exenc|ión exped|iente explic|ación expos|ición
    extranj|ería fabric|ante facult|ad famil|iar farm|acia festiv|os fisc||alía fontan|ería formac|ión fotog|rafía
    frecuenc|ia frigor|ífico func|ionario funcionam|iento fundac|ión garant|ía gast|os gastroent|erología gener|ación
    geogr|afía geol|ogía geom|etría gest|ión gimn|asio ginecol|ogía gobern|ador gram|ática gratif|icación grup|o
    guardarr|opa habit|ación hematol|ogía hemoglob|ina herram|ienta hidrat|ante hipert|ensión hipot|eca histor|ia
    horn|ear hormig|ón hortal|izas hosp|ital hospitaliz|ación ident|ificación idiom|as ilustr|ación imperm|eable
    import|ación impres|ora imprev|istos impuest|os inalám|brico incapac|idad incid|encia incompl|eto increm|ento
    indemniz|ación indicac|iones infecc|ión inflam|ación inform|ación infraestr|uctura ingen|iería ingl|és
    ingred|ientes ingres|os inic|io inmobil|iaria inscr|ipción inscrip|ción inspecc|ión instalac|ión instit|uto
    instrucc|iones insufic|iencia integr|ación intens|idad interc|ambio interes|ado intermed|io interr|uptor
    interv|ención introducc|ión invent|ario inversi|ón investig|ación invit|ación itiner|ario jorn|ada jubil|ación
    jug|ador justif|icante kilóm|etros laborab|le laborat|orio lavad|ora lavav|ajillas lec|tura lechug|a legum|bres
    lesion|ado levad|ura librer|ía licenc|ia limpiez|a liquid|ación llam|ada localid|ad logíst|ica longit|ud lumb|ar
    magistr|ado manif|estación manteq|uilla mantq|uilla mantenim|iento maquin|aria marisq|uería martill|o matem|áticas
    matríc|ula mayon|esa mayorm|ente medic|ación medicam|ento medid|as memor|ia menud|o mercad|o mermel|ada
    metrop|olitana microond|as minist|erio minut|os mobil|iario modalid|ad modif|icación moned|a monit|or mont|aje
    motociclet|a movim|iento mutualid|ad nacim|iento nacionalid|ad natac|ión naveg|ación necesid|ad nefrol|ogía
    negoc|io neum|onía neumát|icos neurol|ogía nomenc|latura normalm|ente normat|iva notab|le notar|ía notic|ias
    notific|ación nutric|ión obes|idad objet|ivo oblig|ación observ|aciones ocup|ación odontol|ogía ofic|ina
    oncol|ogía operac|ión oportun|idad opos|iciones optim|ización ordenad|or ordenanz|a organiz|ación ortogr|afía
    ortop|edia otor|gante pacient|e panad|ería pant|alla paquet|e paráms||etros parlam|ento particip|ación partid|o
    pasaj|ero pasap|orte pasteler|ía patrim|onio patrocin|ador pediatr|ía pelíc|ula peluq|uería pendient|e
    penitenc|iario peníns|ula pens|ión percent|il perej|il perf|il period|o perm|iso permanenc|ia person|as pescad|o
    pimient|os pint|ura plastif|icado plataf|orma poblac|ión polideport|ivo políg|ono porc|entaje porcent|aje
    portav|oz posgr|ado posic|ión posol|ogía potenc|ia práct|icas precal|entar precauc|ión precipit|aciones
    presc|ripción prest|ación presup|uesto previs|ión primav|era priorid|ad probab|ilidad problem|a procedim|iento
    proces|o procurad|or produc|ción profes|or profund|idad program|a prohib|ido promoc|ión pronóst|ico propiet|ario
    propos|ición propuest|a prórrog|a protecc|ión protoc|olo proveed|or provis|ión proxim|idad psicol|ogía
    public|ación puls|aciones pulver|izador puntuac|ión querell|a quirúrg|ico quirof||ano radiad|or radiog|rafía
    rall|ado recal|entar recam|bio recamb|io recepc|ión rechaz|ado reclam|ación recog|ida recomend|ado recorr|ido
    recup|eración recurs|o redacc|ión reducc|ión referenc|ia reformad|o refriger|ador registr|o reglament|o
    regulac|ión rehabil|itación relac|ión relig|ión remit|ente rend|imiento renov|ación rentab|ilidad repar|ación
    repart|o represent|ante repúbl|ica requis|itos reserv|a resid|encia resonanc|ia respir|atoria respons|able
    respuest|a restaur|ante result|ado retenc|ión retrib|ución reumatol|ogía reunión||es revis|ión ringl|era rodill|a
    salar|io salpim|entar sanc|ión sazon|ar secc|ión secret|aría secund|aria segund|os segur|idad seguim|iento
    selecc|ión seman|a semáf|oro semif|inal sentenc|ia septent|rional serv|icio servic|io siguient|e sindic|ato
    sínt|omas siniestr|o sist|ema sobresal|iente sót|ano sobrec|arga solicit|ud soluc|ión subdeleg|ación
    subsecret|aría subt|otal subvenc|ión sucurs|al suelt|o sugerenc|ias suministr|o superf|icie supermerc|ado
    supervis|or suplement|o suscrip|ción suspens|o sustituc|ión talon|ario tarif|a tarjet|a tecn|ología tecnol|ogía
    telef|onía telecom|unicaciones telev|isión temp|eratura temperat|ura tempor|ada tens|ión teor|ía termin|al
    tesor|ería testam|ento testig|o tiend|a titul|ación torn|eo trabaj|o traduc|ción tráf|ico trámit|e transb|ordo
    transferenc|ia transic|ión tratam|iento travesí|a trayect|o tribun|al trimest|re tripul|ación triturad|o
    ubicac|ión univers|idad urbaniz|ación usuar|io utiliz|ación vacac|iones vacun|ación vain|illa valid|ez valorac|ión
    vehíc|ulo velocid|ad vencim|iento vend|o vendimi|a ventil|ación verd|uras versic|ulo veter|inario vicepres|idente
    victor|ias vinag|re volunt|ario yac|imiento zanah|oria
    """
) | pairs(
    """
    tér.: término; gde.: grande; gdes.: grandes; vdo.: vendo; vend.: vendo; vdese.: véndese; alqlo.: alquilo
    cpro.: compro; cbio.: cambio; camb.: cambio
    pdos.: pagados; pdo.: pagado; pgdo.: pagado; cobr.: cobrado; f.f.: fecha factura; f/f: fecha factura
    f. f.: fecha factura; f.v.: fecha valor; fra. prof.: factura proforma; gbno.: gobierno
    gob. civ.: gobierno civil; mins.: ministros; mtro. de: ministro de; mtra. de: ministra de
    vpdte.: vicepresidente; vpdta.: vicepresidenta; secr. gral.: secretario general; conc.: concejal
    dif.: diferencia; refs.: referencias; inst.: instalación; negs.: negociables; lev.: levadura; a.l.: años luz
    a. l.: años luz; tpl.: triple; alu.: aluminio; gts.: gotas; sdos.: saludos; sds.: saludos; senc.: sencillo
    recoj.: recoger; recg.: recoger; med. pens.: media pensión; p. comp.: pensión completa
    cdo. saludo: cordial saludo; cord. saludo: cordial saludo; s. s. s.: su seguro servidor; apdos.: apartados
    proforma.: proforma; lic.: licencia; a. acond.: aire acondicionado; a.a.: aire acondicionado
    aa.cc.: aire acondicionado; ar.cond.: aire acondicionado; c/inst.: con instalación
    dir. asist.: dirección asistida; d.a.: dirección asistida; c. central.: cierre centralizado
    e. elec.: elevalunas eléctricos; ee.: elevalunas eléctricos
    """
)
# What agrees with the noun before it: the masculine of one, or a form without gender.
AGREEING: Final = truncated(
    """
    máx|imo mín|imo med||io opc|ional oblig|atorio eléctr|ico amueb|lado amuebl|ado amobl|ado reform|ado exter|ior
    ext||erior int||erior indiv|idual incl|uido excl|uido disp||onible dispon|ible neg||ociable negoc|iable púb|lico
    públ|ico priv|ado munic|ipal nac|ional naci|onal intern|acional internac|ional mens|ual an||ual adic|ional
    anter|ior princ|ipal esp||ecial espec|ial téc||nico técn|ico admin|istrativo administr|ativo econ|ómico económ|ico
    financ|iero comerc|ial jur|ídico soc||ial cient|ífico hist|órico sanit|ario electr|ónico electrón|ico mec||ánico
    mecán|ico autom||ático automát|ico digit|al portát|il inalámb|rico recarg|able inox|idable compl|eto parc||ial
    inmed|iato urg||ente provis|ional provinc|ial def||initivo temp||oral indef|inido variab|le extraord|inario
    ord||inario acum|ulado tot||al líq||uido habit|ual recom|endado recomend|ado mod||erado sev|ero crón|ico
    bilat|eral izq||uierdo ant||erior sup||erior inf||erior fem||enino masc||ulino abdom|inal card||íaco
    resp||iratorio diast|ólico sist||ólico quir||úrgico clín|ico farmac|éutico relat|ivo autón|omo feder|al fed||eral
    industr|ial ind||ustrial gen||eral prof||esional profes|ional orig||inal elevad|o sencill|o dbl||e dobl|e
    lum||inoso lumin|oso compart|ido climat|izado acrist|alado aprob||ado acond||icionado ilim||itado hidr||áulico
    convenc|ional confirm||ado cancel||ado equip|ado independ|iente indep|endiente deport|ivo metal|izado garant|izado
    rebaj|ado nat||ural natur|al unit||ario impon|ible prev||isto previs|to estim|ado exclus|ivo presenc|ial
    semipres|encial tard||ío nocturn|o diurn|o complement|ario complem|entario secund|ario primar|io superf|icial
    hort||ícola agríc|ola
    ganad|ero turíst|ico turíst|ico cult||ural cultur|al educ|ativo universit|ario infant|il juven|il vet||erano
    catól|ico orgán|ico integr|al desnat|ado semidesn|atado congel|ado deshidrat|ado ecol|ógico rall||ado pic||ado
    troc|eado hervid|o asad||o coc||ido
    """
) | pairs("gral.: general; dcho.: derecho; izqdo.: izquierdo; izdo.: izquierdo; elec.: eléctrico; elect.: eléctrico")
