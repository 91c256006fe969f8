"""Words of Italian that are cut short with a full stop, and the short forms of chats and advertisements without one."""

from typing import Final

from polyvox.text.normalize.romance.short_forms.truncated import pairs, truncated

TRUNCATED: Final = truncated(
    """
    sopp|resso franch|igia zaff|erano deb|ito rateizz|abile caus|ale fav|ore rich||iamo ferrit|ina coincid|enza
    deviaz|ione imb|arco aspirap|olvere
    cot|one elast|an scontr|ino diz|ionario did|attica spezz|ati alleg|a forn|itura pos|izione esp|ulso elim|inato
    rip|ostiglio condiv|isa cauz|ione fumat|ori zucch|ero liev|ito aliq|uote affl|uenza bil|ancio elez|ioni pens|ione
    cab|ina fatturaz|ione suff|icienza scaldab|agno bancar|otta fraud|olenta bag|aglio ag||ente aer||osol
    reint|egrazione risarc|imento extracontr|attuale creat|inina quinq|uennale indic|azioni stir|are far||ina
    abbigl|iamento abbon|amento acc||essori accomp|agnatore acq|uisto addeb|ito add||ebito agg|iornamento agr|aria
    alim|entazione alim|entare altern|anza ambul|atorio ammin|istrativo amm|inistrativo ammort|amento ampl|iamento
    anagr|afe antib|iotico antip|asto anz|iché app|untamento appart|amento appross|imativo approv|ato arch|itettura
    arred|ato asc|ensore asp|etto assic|urazione assist|enza ass||istenza assoc|iazione att|ività attr|ezzatura
    aut|onomo autom|atico autor|izzazione avv|ocato az|ienda balc|one bass|otto bibl|ioteca bigl|ietto bim|estre
    boll|etta brev|etto buon|asera cald|aia cap|itolo cant|ina caratt|eristiche cardiol|ogica cat|egoria catt|olica
    centr|ifuga cert|ificato certif|icato chim|ica chir|urgia chirurg|ico cip|olla circ|olare citof|ono class|ifica
    climat|izzatore coeff|iciente coll|ezione collab|orazione comm|issione commerc|iale compet|enza compl|eto
    compon|ente comun|icazione concl|usione concord|ato cond|izionatore conf|ezione conferm|a congr|esso cons|egna
    consegn|a consig|liere consult|azione cont|inua contab|ilità contr|atto contratt|o contrib|uto conv|ocazione
    coord|inatore copert|ura corr|ispondente corrisp|ondente cost|ituzione cott|ura cred|ito crist|iano cuc|ina
    decorr|enza decr|eto delib|era den|uncia dens|ità deposit|ata dermat|ologica descr|izione destinat|ario
    dest|inazione det|ersivo diagn|osi dich|iarazione dichiar|azione diff|erenziata diff|erenza difens|ore dip|endente
    dipart|imento diplom|a dirett|ore dis|egno disp|onibile dispon|ibile diss|olvenza distr|etto docum|ento
    doc||umento domic|iliari dur||ata ecc|etera ecogr|afia ecol|ogico econ|omia ediz|ione educ|azione eff|ettivo
    elett|rico elettr|ico elettron|ico emerg|enza energ|etica epic|entro equiv|alente err|ore esam|i esaur|ito
    escl|uso escurs|ione esec|uzione eserc|izio espos|izione ester|no estr|atto etich|etta event|uale fabbr|icato
    facc|iata facolt|ativo farm|acia fatt|ura fattur|azione femm|inile fer|iti ferr|ovia fil|iale filos|ofia
    fin|estrino finanz|iario fis|ica form|azione fotogr|afia fraz|ione freq|uenza frig|orifero funz|ione gar|anzia
    garanz|ia ginn|astica geogr|afia geom|etria giard|ino giorn|ata giurispr|udenza giur|isprudenza glic|emia
    grat||uita gratt|ugiato gratuit|a grupp|o guid|ata idraul|ico ill|egittimità imm|ediata immed|iata immob|iliare
    imp|orto impieg|ato impon|ibile imposs|ibile inaug|urazione inc|idente incid|ente ind|irizzo indip|endente
    indiv|iduale inf||ormazioni inflaz|ione inform|azioni informat|ica ingr|esso ing|lese insegn|ante insuff|icienze
    integr|azione interm|edia intern|azionale interv|ento inv|iare ipoc|entro irreg|olari iscr|izione isp|ettore
    istr|uzione istruz|ione ital|iano lab|oratorio largh|ezza lat|ino latt|osio lavast|oviglie lav|orativi
    legisl|ativo lett|eratura letter|atura lic|enziamento licenz|iamento liv|ello livell|o loc|alità lung|hezza
    lungh|ezza macch|ina magg|iore magist|rale maiusc|ola manut|enzione matem|atica mat|tina mater|iale matr|icola
    mattin|a mecc|anica mediterr|aneo med|icina memb|ro mens|ilità mensil|ità merend|a mess|aggio metrop|olitana
    mezzog|iorno mil|itare minim|o minusc|ola mis|urino mitt|ente mobil|ità monoloc|ale biloc|ale triloc|ale
    quadriloc|ale motiv|azione mult|ipla munic|ipio mus|ica naz|ionale nazion|ale neg||ativo negoz|io negat|ivo
    normat|iva norm|ale nov|embre num|ero obbl|igatorio obbligat|orio occ|asione offic|ina off|erta offert|a ogg|etto
    omagg|io omol|ogato operat|ore operaz|ione opz|ione organ|izzazione orient|ale orig|inale orizz|ontale ortop|edico
    osp|edale ospit|alità osserv|azioni ott|imo pacch|etto paes|e pag|amento pagam|ento pan|oramica parch|eggio
    parl|amento parm|igiano part||enza partecip|azione partic|olare partor|ita past|i patol|ogia pat|ente pav|imento
    paz|iente pediatr|ico pen|ale percent|uale perc|entuale period|o perm|esso pers|onale petr|olio pizz|ico
    pian|oterra pl|urale plurim|andatario polizz|a pom|eriggio pomer|iggio popol|azione posiz|ione poss|ibile
    posolog|ia postic|ipato pranz|o preced|ente prec|edente prefer|ibilmente preno|tazione prenot|azione prep|arazione
    prescr|izione pres||idente presid|ente press|ione prest|azione pret|ura preventiv|o prev|isto previd|enza prezz|o
    princ|ipale princip|ale prob|abilità probl|ema proc|edura proced|ura prof|essore progr|amma prom|ozionale
    promoz|ionale propr|ietà propriet|ario pros|ecuzione prot|ezione protoc|ollo provv|edimento provvig|ione pubbl|ico
    pul|izia pulm|ino punt|eggio qual|ità quadr|imestre quadrim|estre quantit|ativo quest|ura quot|idiano quot||azione
    racc|olta raccom|andata raddopp|iato ragg|iungibile rappr|esentante rass|egna reg|ione region|e regol|amento
    rel|azione relat|ivo rep|arto repart|o repubbl|ica resid|ente respons|abile ret|ribuzione rett|ilineo rev|isione
    revis|ione riap|ertura ric|orso ricev|uta ricevim|ento richied|ente rid|otto rifer|imento rig|ore rilev|azione
    rimb|orso rimbors|o rinn|ovabili rinnov|abile ripass|o ripet|izione risc|aldamento riscald|amento risp|osta
    rispost|a rist|orante ristor|ante ristr|utturato ristrutt|urato ris|ultato risult|ato rit|ardo ritard|o riun|ione
    sald|o sched|a scad|enza scadenz|a scient|ifico sconosc|iuto scont|o scuol|a second|aria secondar|ia segn|alazione
    segr|eteria selez|ione sem|estre semin|ario serviz|io serv|izio sett|imana settim|ana sezion|e sfog|lia sicur|ezza
    sig|illo sign||ora signif|icato sind|acato sist|ema situaz|ione sogg|iorno soggi|orno sosp|endere sost|ituzione
    spec|ialistica special|istica sped|izione spediz|ione spett|abile spettac|olo spes|a sq|uadra stagion|e
    stampat|ello stanz|a stat|istica stip|endio strad|a straord|inaria strum|ento strutt|ura stud|ente succ|essivo
    sufficien|te suff|iciente suppl|emento tabacch|eria tang|enziale tariff|a tecn|ica tecnol|ogia telef|ono
    televis|ione temp|eratura tempor|aneo term|inal terap|ia terr|azzo terrazz|o tirat|ura tit||olo toss|icologico
    tor|ace traff|ico trad|uzione trasf|erta trasp|orto trasm|issione tratt|abili trattam|ento trib|unale tribun|ale
    turist|ico ud|ienza uffic|io ult|imo umid|ità unit|ario univers|ità urg|ente usc|ita util|izzo util|e vacanz|e
    valut|azione variab|ile vaccin|azione veget|ariano vegetar|iano veic|olo vel|oce veloc|ità vend|ita verb|ale
    ver|ifica verif|ica vern|ice versam|ento vert|icale vibraz|ione vincol|o vis|ita visit|a vitt|oria vocab|olario
    volont|ario volt||aggio preav|viso mont||aggio piazz||ola raff||iche ricez|ione viol||azione violaz|ione
    detraz|ione aum||ento ferm||ata tent||ativo tentat|ivo unipr|oprietario cort|ese impegn|ativa sped|izione spedit|o
    nebb|ia preci|pitazioni temper|ature accum|uli inval|idità astens|ione astenut|i emend|amento sottos|critto
    sottoscr|itto delibe|ra mozion|e riacut|izzata trattam|ento prelie|vo analis|i ecocard|iografia
    elettrocard|iogramma tampon|e tachic|ardia ipert|ensione diab|ete glucos|io emogl|obina coles|terolo triglic|eridi
    piastr|ine leucoc|iti globul|i antipir|etico antid|olorifico antist|aminico cortis|one colutt|orio sciropp|o
    supp||osta besciam|ella pangr|attato mozz|arella prezz|emolo rosmar|ino origan|o cannel|la vanigl|ia cioccol|ato
    zuccher|o farin|a tuorl|i album|i pomod|ori melanz|ane zucch|ine prenotaz|ione soggiorn|o colaz|ione aerop|orto
    traghett|o autostr|ada uscit|a svinc|olo cilindr|ata chilom|etraggio immatr|icolata immatricol|ata tagliand|o
    revision|e pneum|atici carrozz|eria interrog|azione interrogaz|ione comprens|ione grammat|ica dividend|o
    obbligaz|ioni rendim|ento ricav|i margin|e fattur|ato squal|ificato infort|unato capoc|annoniere portier|e
    difens|ore centrocamp|ista attacc|ante allen|atore qualif|icazioni elimin|atorie semif|inale amichev|ole sentenz|a
    condann|a imputat|o giudiz|io dimens|ioni capac|ità effic|ienza antic|ipato riac|utizzata pren|otazione primar|io
    monol|ocale tril|ocale centralizz|ato condomin|io lum|inoso panoram|ico clim|atizzatore climatizzat|ore
    tapp|arelle tapparel|le parq|uet matrim|oniale ripostig|lio autorim|essa regist|razione agenz|ia catast|ale
    rend|ita lavat|rice lavastovig|lie frigorif|ero congel|atore telev|isore comput|er caric|abatterie caricabatt|erie
    cust|odia imbal|lo immat|ricolazione immatricolaz|ione tagl|iando cil|indrata ibr|ida scir|oppo iniez|ione
    vacc|ino antidolor|ifico antinf|iammatorio antinfiamm|atorio antinfiammator|io anticoag|ulante posol|ogia
    allerg|ia addom|inale lomb|are cerv|icale ginocc|hio cavig|lia fratt|ura distors|ione anest|esia ricov|ero
    rian|imazione rianimaz|ione ped|iatria derm|atologia dermatolog|ia ocul|istica ginec|ologia ginecolog|ia
    radiol|ogia ort|opedia neur|ologia neurolog|ia psic|hiatria psichiat|ria fisiot|erapia fisioterap|ia inferm|iere
    ambulator|io emog|lobina leuc|ociti piast|rine trig|liceridi sod|io potass|io transam|inasi satur|azione
    arter|iosa respir|atoria respirator|ia ecog|rafia radiog|rafia rison|anza tomog|rafia elettroc|ardiogramma
    elettrocardiogr|amma colonsc|opia gast|roscopia gastrosc|opia ordin|anza convenz|ione preavv|iso indenn|ità
    ricorr|ente resist|ente appel|lante conven|uto canc|elliere procur|atore imput|ato detenz|ione recl|usione
    cassaz|ione responsabil|ità notif|ica legis|lazione dottr|ina parag|rafo modif|icato abr|ogato deput|ato senat|ore
    minist|ro assess|ore provinc|iale scrut|inio candid|ato opp|osizione opposiz|ione assemb|lea impr|esa trimest|re
    divid|endo azion|ista assicuraz|ione risparm|io invest|imento libr|etto desc|rizione contat|ore cancellaz|ione
    coinc|idenza destinaz|ione passegg|ero itin|erario itinerar|io autost|rada casel|lo rotat|oria incr|ocio
    direz|ione disl|ivello dislivel|lo altit|udine rifug|io campion|ato qualificaz|ione eliminator|ie supplement|ari
    titol|are centroc|ampista squalific|ato ritir|ato ammon|izione medag|lia atlet|ica cicl|ismo equit|azione stor|ia
    geog|rafia spagn|olo pagel|la giud|izio recup|ero eson|erato interr|ogazione laborat|orio laur|ea molec|ola
    soluz|ione concent|razione reaz|ione misc|ela esper|imento ipot|esi superf|icie nasc|ita ingred|ienti
    preparaz|ione zucc|hero vanig|lia ciocc|olato formagg|io prer|iscaldare preriscald|are mesc|olare incorp|orare
    aggiung|ere sobb|ollire scol|are raffr|eddare precipitaz|ioni solegg|iato nuv|oloso rov|esci visib|ilità raffic|he
    nev|icate valang|he percep|ita presentaz|ione approvaz|ione fascic|olo edif|icio rivol|uzione repubb|lica
    dinast|ia guer|ra battag|lia intr|oduzione introduz|ione prefaz|ione illust|razione fotog|rafia manosc|ritto
    bibliog|rafia sinf|onia orch|estra movim|ento filarm|onica assunz|ione neol|aureato automun|ito retribuz|ione
    orar|io vac|anze scolast|iche applic|azione config|urazione configuraz|ione param|etri ident|ificativo
    identific|ativo autent|icazione autenticaz|ione svil|uppatore sviluppat|ore produz|ione documentaz|ione
    straordinar|io eccez||ionale internazion|ale europ|eo americ||ano britann|ico giapp|onese chius|ura apert|ura
    ingegn||ere segretar|ia magazz|iniere apprend|ista dirig|ente comunicaz|ione soll|ecito pror|oga circonv|allazione
    circonvallaz|ione coniug|ato radiof|onico pubb|licazione pubblicaz|ione invern|ale primav|erile autunn|ale
    """
)
CHAT: Final = pairs(
    """
    arr. dom.: arresti domiciliari; adj.: adjusted; m.d.c.: mezzo di contrasto; mdc: mezzo di contrasto; ank: anche
    anke: anche; xfavore: per favore; xfav.: per favore; nkora: ancora; ankora: ancora; qd: quando; kome: come
    kmq: comunque; qualke: qualche; bn: bene; xciò: perciò; lett. prec.: lettura precedente
    lett. att.: lettura attuale; cod. trib.: codice tributo; emogl. glic.: emoglobina glicata
    cab. est.: cabina esterna; cab. int.: cabina interna; d.o.: data ordine; pom. pel.: pomodori pelati
    elez. eur.: elezioni europee; Cons. Min.: Consiglio dei ministri; C.d.M.: Consiglio dei ministri
    rit. d'acc.: ritenuta d'acconto; dgn: diagnosi; usc. did.: uscita didattica; ferie res.: ferie residue
    no fumat.: no fumatori; senso alt.: senso alternato; spedz.: spedizione; cn: con; ke: che; kosa: cosa; cs: cosa
    csa: cosa; xk: perché; xkè: perché; xche: perché; pke: perché; perke: perché; perkè: perché; nnt: niente
    qnt: quanto; qnto: quanto; qlcs: qualcosa; qlcn: qualcuno; qlk: qualche; qlcuno: qualcuno; qndo: quando
    qsta: questa; qsto: questo; qste: queste; qsti: questi; qll: quello; qlla: quella; qllo: quello; dv: dove
    dp: dopo; dpo: dopo; pme: per me; scs: scusa; scst: scusate; msg: messaggio; mex: messaggio; msgs: messaggi
    rx: radiografia; gg: giorni; tel: telefono; tvtb: ti voglio tanto bene; tvtttb: ti voglio tantissimo bene
    bnv: benvenuto; sn: sono; smp: sempre; smpr: sempre; trp: troppo; tnt: tanto; tnto: tanto; mlt: molto; prg: prego
    prblm: problema; nmr: numero; dgt: digita; dmt: domattina; dmttn: domattina; stas: stasera; tts: tutti; tto: tutto
    tta: tutta; tti: tutti; ttp: tutto a posto; cvd: come volevasi dimostrare; cmnq: comunque; cmque: comunque
    comq: comunque; cqm: comunque; fcs: fai con calma; xfav: per favore; pls: per favore; plz: per favore; xò: però
    and./rit.: andata e ritorno; n. inv.: numero d'inventario; lett. firm.: lettera firmata; app.te: appellante
    ric.te: ricorrente; ogg.: oggetto; s.s.: spese di spedizione; d.f.f.m.: data fattura fine mese
    d.f.: data fattura; f.m.: fine mese
    v.d.f.: vista data fattura; RiBa: ricevuta bancaria; Ri.Ba.: ricevuta bancaria; odg: ordine del giorno
    o.d.g.: ordine del giorno; OdG: ordine del giorno; OdG.: ordine del giorno; ODG: ordine del giorno
    v.e.: varie ed eventuali; VV.EE.: varie ed eventuali; p.t.: piano terra; p.r.: piano rialzato; s.t.: stesso tempo
    SS.UU.: sezioni unite; S.U.: sezioni unite; Sez. Un.: sezioni unite; sez. un.: sezioni unite
    Cons. Stato: Consiglio di Stato; Cons. St.: Consiglio di Stato; C.d.S.: Consiglio di Stato
    CdA: consiglio di amministrazione; C.d.A.: consiglio di amministrazione; Corte Cost.: Corte costituzionale
    C. Cost.: Corte costituzionale; C. App.: Corte d'appello; G.U.: Gazzetta Ufficiale; GU: Gazzetta Ufficiale
    D.Lgs: decreto legislativo; avv. dif.: avvocato difensore; ud. prel.: udienza preliminare
    arresti dom.: arresti domiciliari; ric. rig.: ricorso rigettato; sez. lav.: sezione lavoro
    sez. pen.: sezione penale; sez. trib.: sezione tributaria; sez. fall.: sezione fallimentare
    acc. tecn.: accertamento tecnico; ass. str.: assemblea straordinaria; ass. ord.: assemblea ordinaria
    ass. tecn.: assistenza tecnica; ass. cond.: assemblea condominiale; imp. amm.: impiegato amministrativo
    resp. comm.: responsabile commerciale; rag. soc.: ragione sociale; cod. cl.: codice cliente
    cod. cliente: codice cliente; cod. fisc.: codice fiscale; cod. prom.: codice promozionale
    cod. art.: codice articolo; mat. en.: materia energia; spesa mat. en.: spesa materia energia
    auto az.: auto aziendale; tel. az.: telefono aziendale; rimb. sp.: rimborso spese
    racc. diff.: raccolta differenziata; sp. sped.: spese di spedizione; sp. di sped.: spese di spedizione
    s. sped.: spese di spedizione; ore past.: ore pasti; casa ind.: casa indipendente
    ris. term.: riscaldamento termoautonomo; risc. aut.: riscaldamento autonomo
    risc. centr.: riscaldamento centralizzato; cuc. ab.: cucina abitabile; ang. cott.: angolo cottura
    ang. cottura: angolo cottura; col. tot.: colesterolo totale; col.: colore; temp. amb.: temperatura ambiente
    tor. neg.: torace negativo; eco add.: eco addome; cord. sal.: cordiali saluti; dist. sal.: distinti saluti
    cord. saluti: cordiali saluti; c.c.n.l.: C C N L; t. ind: tempo indeterminato; giro vel.: giro veloce
    class. gen.: classifica generale; tempo eff.: tempo effettivo; dts: dopo i supplementari
    d.t.s.: dopo i tempi supplementari; dcr: dopo i calci di rigore; d.c.r.: dopo i calci di rigore; Gent.le: gentile
    Gent.li: gentili; gent.le: gentile; Spett.le: spettabile; comm.le: commerciale; comm.li: commerciali
    naz.le: nazionale; reg.le: regionale; prov.le: provinciale; gen.le: generale; soc.tà: società
    dip.to: dipartimento; pag.to: pagamento; uff.le: ufficiale; ins.te: insegnante; stud.te: studente
    on.le: onorevole; On.le: onorevole; ass.ne: associazione; amm.ne: amministrazione; comm.ne: commissione
    dir.ne: direzione; circ.ne: circonvallazione; fond.ta: fondamenta; sett.na: settimana; cont.to: contenuto
    appt.to: appuntamento; app.nto: appuntamento; pagam.to: pagamento; mitt.te: mittente; dest.rio: destinatario
    sig.re: signore; cap.le: capitale; sem.re: semestre; avv.to: avvocato; avv.ssa: avvocatessa; ing.ra: ingegnera
    prof.re: professore; cap.no: capitano; succ.: successivo; succ.vi: successivi; ss.gg.: seguenti; s.v.: senza voto
    sv: senza voto; n.c.: non classificato; n.g.: non giudicabile; f.c.: fuori concorso; i.c.: in corso
    c.v.: curriculum vitae; lav. a: lavaggio a
    """
)
