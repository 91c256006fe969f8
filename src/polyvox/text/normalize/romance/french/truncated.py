"""Words of French that are cut short with a full stop, and the short forms of chats and advertisements without one."""

from typing import Final

from polyvox.text.normalize.romance.short_forms.truncated import pairs, truncated

TRUNCATED: Final = truncated(
    """
    aff|aire const|itutionnel rediff|usion uniq|uement épr|euve sinc|èrement bag|age acq|uéreur pén||alité abst|entions
    rattr|apage relég|ué résil|iation fonc|ière mensual|isation anim|al recrut|ement budg|et
    mut||uelle réact|ion lum|ière lect|ure contrad|ictoire séch|age résol|ution vig|ilance pert|urbé couv||erture
    céréb|ral abdo|minal ablat|ion buv|able glyc|émie act||ion abonn|ement accus|é acc|ès activ|ité add|ition
    adh|érent admin|istratif adm|inistration adr|esse aérop|ort agric|ulture alim|entation ambul|ance amél|ioration
    améric|ain amox|icilline anc|ien angl|ais annul|ation antib|iotique appr||endre apprent|issage approx|imatif
    arch|itecte arrond|issement art|icle assist|ant assoc|iation att|ention augm|entation auth|entification
    autor|isation balc|on bibl|iothèque biol|ogie bouch|on brev|et bur|eau calc|ul cand|idat capac|ité caract|ère
    cardiol|ogie catég|orie cat|égorie cath|édrale caut|ion célib|ataire cert|ificat chauf|fage chauss|ures chât|eau
    chim|ie chir|urgie chirurg|ical circ|ulation clim|atisation collab|orateur comm||une commod|ités compét|ition
    compl|ément compt|abilité concl|usion cond|itions conf|érence confirm|ation congél|ateur conj|oint conn|exion
    conso|mmation consomm|ation constr|uction consult|ation contrib|ution conv|ention coord|onnées corr|igé
    cot|isation crit|ère cuill|ère cuis|ine cuiss|on cult|ure décl|aration décr|et déf|inition délib|éré dem|ande
    dépl|acement dern|ier dest||inataire dét|ail diag|nostic diff|érence diffic|ile diffus|ion dipl|ôme distr|ibution
    dispon|ible docum|entation doc|ument dom|icile éch|éance écol|ogie écon|omie éduc|ation élasth|anne élec|trique
    élém||entaire élim|ination emb|arquement emball|age empl|acement empr|unt encycl|opédie endocr|inologie enf||ants
    enr|egistrement enreg|istrement ens|emble ent|rée entr|ée entrepr|ise entret|ien épaiss|eur épic|entre épid|émie
    équip|ée équiv|alent éq|uipée err|eur esp|èces espag|nol établ|issement étab|lissement étr|anger étud|iant
    éval|uation événem|ent év|énement except|ionnel exc|eption excl|u exempl|aire expéd|ition expl|ication ext|érieur
    extr|ait fact|ure fam|ille far|ine fém|inin ferm|eture févr|ier fidél|ité fig|ure form||ation formul|aire
    fourn|isseur franç|ais fréq|uence gén|éral géogr|aphie gest|ion grat|uit gouv|ernement gr|oupe gymn|astique
    hist|oire homol|ogation honor|aires hon|oraires hor|aires hosp|italisation hosp|italier hypoth|èque ident|ifiant
    imméd|iat immob|ilier impr|imante impér|atif incorp|orer ind|ice indem|nité indép|endant indisp|onible indiv|iduel
    inflat|ion informat|ique infirm|ière inject|ion inj|ection innoc|ent inspect|eur inst|allation insuff|isant
    int|érieur interv|ention intox|ication invit|ation isol|ation ital|ien jard|in journ|ée judic|iaire jud|iciaire
    jurispr|udence justif|icatif labor|atoire laiss|er larg|eur lav|age législ|atif légis|latif licenc|iement lim|ite
    litt|érature livr|aison logem|ent mag|asin maj|oration manif|estation manut|ention masc|ulin matern|elle
    math|ématiques mécan|ique méd|ecin médic|ament mél|anger mess|age mil|itaire minist|ère montagn|e mun|icipal
    mutat|ion nat||ional natat|ion naut|ique néc|essaire nég|atif norm|al notif|ication nouv|eau num|éro obj|et
    oblig|atoire occas|ion occ|asion offic|iel opérat|ion opér|ation opt|ion ord|onnance ordin|aire orig|inal
    ortho|graphe ouv|ert parl|ement partic|ulier particip|ation pathol|ogie pens|ion perf|ormance perm|is pers|onnes
    pharm|acie philos|ophie phys|ique plaq|uettes possib|ilité poss|ible popul|ation pos|itif posol|ogie pourc|entage
    précéd|ent préc|édent prél|èvement prép|aration prescr|iption press|ion prest|ation prév|u princ|ipal prob|lème
    procéd|ure proc|édure proch|ain prod|uit progr|amme prol|ongation prolong|ation propr|iété prot|ection prov|enance
    prox|imité prud|hommes publ|ic puiss|ance qual|ité qualif|ication quest|ion quot|idien raf|ales rapp|el
    rattrap|age réal|isation réc|eption récl|amation recom|mandé réduct|ion réd|uction réf|érence rég|ion règl|ement
    régl|ement relat|ion rel|evé remb|oursement remplac|ement renouv|eler renseign|ements rép|onse répar|ation
    reprod|uctible représ|entant req|uête réserv|ation respons|able restaur|ant rest|aurant résult|at retr|ait
    réun|ion réu|nion rév|ision sal|aire salair|e sanit|aire sch|éma scient|ifique scol|aire secr|étariat séc|urité
    sécur|ité séj|our sélect|ion semest|re serv|ice sign|ature simpl|e sit|uation soc|iété spéc|ial stat|istiques
    stérilis|ation struct|ure subv|ention succ|ession suppl|ément susp||ension symp|tômes synd|icat syst|ème
    techn|ique tempor|aire term|inal terr|ain terrass|e théor|ique tit|ulaire tot|al tourn|oi transf|ert transp|ort
    transm|ission trav|aux trib||unal typ|e ult|érieur unit|aire univ||ersité urg|ent util|isation utilis|ation
    vac|ances valid|ité var|iable véh|icule ventil|ation vérif|ication vétér|inaire vict|oire visib|ilité vitr|age
    musc|ade abatt|ement hémoc|ultures eng||agement choc|olat légum|es frig|o réfrig|érateur congel|ateur
    assais|onnement accompagn||ement blanch|ir surg|elé écr|émé demi-écr|émé proté|ines gluc|ides lip|ides thermost|at
    mélang|er poiv|re vinaigr|e tempér|ature nuag|eux ensol|eillé brouill|ard neig|e tempêt|e dividend|e oblig|ation
    bén|éfice marg|e crois|sance investis|sement rendem|ent tréso|rerie circonscr|iption sénat|eur cons|eil
    parlem|entaire amend|ement hémogl|obine leuc|ocytes plaq|uettes coron|arographie scint|igraphie écho||graphie
    radio||graphie ophtalm|ologie dermato||logie gynéco||logie pédiatr|ie neuro||logie rhumat|ologie
    gastro||entérologie onco||logie consul|tation ordonn|ance effic|acité diagn|ostic contrav|ention assign|ation
    juridict|ion trib|unal tribun|al juris|prudence dispos|ition artic|le kilom|étrage carross|erie immatric|ulation
    carb|urant pneum|atiques garant|ie révis|ion superf|icie terras|se copro|priété imm|euble appart|ement loy|er
    élèv|e prof||esseur trimest|re géom|étrie compos|ition rédact|ion exerc|ice champ|ionnat qualif|ications
    éliminat|oires finalist|e entraîn|eur attaq|uant remplaç|ant bagag|es escal|e embarq|uement réserv|ation
    itin|éraire corresp|ondance versem|ent acompt|e échéanc|ier échéanc|e cotis|ation plaf|ond rembours|ement créd|it
    déb||it autom|atique automatiq|ue probab|ilité ret|our échant|illon embal|lage biblioth|èque directr|ice
    stag|iaire commerc|ial technic|ien ingén|ieur cherc|heur profess|eur disp|onible négoc|iable meub|lé lumin|eux
    dépendanc|es huiss|erie électric|ité carrel|age parq|uet climatis|ation radiat|eur convect|eur lave-vaiss|elle
    réfr|igérateur réfrigérat|eur aspir|ateur ordinat|eur télév|ision télép|hone batter|ie charg|eur écout||eurs
    casq|ue accessoir|es immat|riculation immatriculat|ion distribut|ion courr|oie embr|ayage amort|isseurs
    pneumatiq|ues rétr|oviseur rétrovis|eur hybr||ide électriq|ue cyl|indrée cylindr|ée presc|ription suppos|itoire
    pomm|ade perfus|ion vacc|in antibiotiq|ue antalg|ique anti-infl|ammatoire anti-inflammat|oire antic|oagulant
    anticoagul|ant traitem|ent allerg|ie antéc|édents doul|eur thorac|ique lomb|aire cerv|icale chev|ille fract|ure
    anest|hésie hospitalis|ation réan|imation réanimat|ion urgenc|es péd|iatrie derm|atologue dermatol|ogue
    opht|almologue ophtalmolog|ue gyn|écologue gynécol|ogue radiol|ogue rhumatolog|ue neur|ologue neurolog|ue
    psyc|hiatre psychiat|re kinés|ithérapeute kinésithér|apeute hémog|lobine leucocyt|es plaquett|es chol|estérol
    cholestér|ol trig|lycérides triglycér|ides créatin|ine ferr|itine sod|ium potass|ium satur|ation tens|ion
    artér|ielle diab|ète hyp||ertension hypert|ension rén||ale respir|atoire jug|ement préav|is avoc|at greff|ier
    procur|eur détent|ion empris|onnement emprisonnem|ent condamn|ation pourv|oi cassat|ion responsabil|ité préj|udice
    domm|ages dél|ibéré exéc|ution notificat|ion signif|ication significat|ion lég|islation jur|isprudence doct|rine
    alin|éa parag|raphe abr|ogé sén|ateur présid|ent conseill|er municip|al départem||ental scr|utin suff|rages
    gouvernem|ent opp|osition opposit|ion commiss|ion assemb|lée entrep|rise chiff|re divid|ende actionn|aire
    obl|igation volat||ilité capit|al prélèvem|ent virem|ent plac|ement désign|ation promot|ion paiem|ent chèq|ue
    kilow|attheure kilowatth|eure facturat|ion estim|ation arriv|ée destinat|ion passag|er aér|oport hôt|el chamb|re
    petit-déjeun|er échang|eur carref|our kilomèt|res randonn|ée dén|ivelé altit|ude championn|at qualificat|ion
    remp|laçant défens|eur classem|ent transform|ation disq|ualifié disqualif|ié aband|on médail|le athl|étisme
    cycl|isme gymnastiq|ue équit|ation escr|ime halt|érophilie haltérop|hilie mathémat|iques géog|raphie littérat|ure
    allem|and dissertat|ion coeffic|ient appréc|iation ratt|rapage insc|ription inscript|ion sout|enance mém|oire
    moléc|ule solut|ion conc|entration concentr|ation expér|ience observ|ation hypot|hèse dens|ité naiss|ance
    espér|ance ingr|édients préparat|ion vanil|le fraîc|he champign||ons échal|otes tomat|es carott|es citr|on
    préch|auffer préchauff|er mij|oter égoutt|er précip|itations précipitat||ions avers|es orag|es brouil|lard
    enn|eigement enneigem|ent avalanc|he minim||ale ress||entie humid|ité présentat|ion validat|ion bâtim|ent
    interp|hone digic|ode résid|ence lotiss|ement boulev|ard sièc|le révol|ution répub|lique dyn|astie guer|re
    batail|le traduct|ion intr|oduction introduct|ion postf|ace chapit|re illust|ration photog|raphie photograph|ie
    manusc|rit bibliog|raphie bibliograph|ie symph|onie orch|estre mouvem|ent philh|armonique philharmon|ique sopr|ano
    violonc|elle recr|utement souh||aitée rém|unération rémunér|ation fér|iés nav|igateur navigat|eur applic|ation
    configur|ation param|ètres authentif|ication authentificat|ion dév|eloppeur développ|eur développem|ent
    envir||onnement environn|ement déploiem|ent maint|enance incid|ent documentat|ion facult|atif exceptionn|el
    illim|ité natur|el internation|al amér|icain britann|ique nomb|reux
    """
)
CHAT: Final = pairs(
    """
    ap.-midi: après-midi; pdj: petit-déjeuner; PDJ: petit-déjeuner; pt-dej: petit-déjeuner; ptit dej: petit-déjeuner
    W-E: week-end; dépts: départements; dpts: départements; depts: départements
    phys.-chim.: physique-chimie; phys.-ch.: physique-chimie; phys-chim: physique-chimie; éd. civ.: éducation civique
    éd. mus.: éducation musicale; éd. phys.: éducation physique; sc. éco.: sciences économiques
    éco.-gest.: économie-gestion; arts pla: arts plastiques; arts plast.: arts plastiques
    Cons. const.: Conseil constitutionnel; ctre: centre; ch. acq.: charge acquéreur; ch. vend.: charge vendeur
    biz: bises; bizz: bises; kiss: bises; ntre: notre; vtre: votre; jms: jamais; nn: non; ui: oui; pq: pourquoi
    cb: combien; ri1: rien; bi1: bien; 2m1: demain; jte: je te; jme: je me; jle: je le; jtrouve: je trouve
    jpense: je pense; jdois: je dois; jsais: je sais; jsuis: je suis; jarrive: j'arrive; jcomprends: je comprends
    keske: qu'est-ce que; kestufé: qu'est-ce que tu fais; compri: compris; tfk: tu fais quoi; qd mm: quand même
    pcke: parce que; pasq: parce que; tjours: toujours; bcq: beaucoup; ptit: petit; ptite: petite; ptits: petits
    ptites: petites; ptet: peut-être; ptèt: peut-être; chépa: je sais pas; jcomprend: je comprends; svc: service
    infos: infos; ac: avec; avk: avec; aujd: aujourd'hui; aujh: aujourd'hui; ass. plén.: assemblée plénière
    c.-à-d: c'est-à-dire; ch. d'acc.: chambre d'accusation; pan.: pansement; std: standard; nvelle: nouvelle
    nvelles: nouvelles; nveau: nouveau; M.O.: main-d'œuvre; Ass. Nat.: Assemblée nationale
    Ass. nat.: Assemblée nationale; C. cass.: Cour de cassation; C. Cass.: Cour de cassation
    ch. crim.: chambre criminelle; ch. soc.: chambre sociale; ch. civ.: chambre civile; ch. com.: chambre commerciale
    ch. mixte: chambre mixte; int. lég.: intérêt légal; élect. lég.: élections législatives
    élect. mun.: élections municipales; élect. prés.: élection présidentielle; jugt: jugement
    arr. préf.: arrêté préfectoral; arr. mun.: arrêté municipal; dt: dont; cord.: cordialement
    conv. tél.: conversation téléphonique; sol. buv.: solution buvable; ravalt: ravalement; Atcd: antécédents
    M°: métro; moy. gén.: moyenne générale; infl.: inflation; ODJ: ordre du jour; odj: ordre du jour; rev.: révision
    abo.: abonnement; dvt: devant; avt: avant; jspr: j'espère; jsuis: je suis; jvais: je vais; jpp: j'en peux plus
    jpeux: je peux; jcrois: je crois; jveux: je veux; jfais: je fais; jai: j'ai; chui: je suis; chuis: je suis
    tfq: tu fais quoi; ptdr: pété de rire; mdrr: mort de rire; xptdr: pété de rire; osef: on s'en fout; bne: bonne
    bnne: bonne; bsx: bisous; bzx: bisous; mci: merci; mrc: merci; merc: merci; rtd: retard; pr: pour; prq: pourquoi
    pck: parce que; psk: parce que; pske: parce que; psq: parce que; qq1: quelqu'un; qqs: quelques
    qqfois: quelquefois; qlq: quelque; qlqs: quelques; qlqn: quelqu'un; qch: quelque chose; ns: nous; tps: temps
    tjr: toujours; tjrs: toujours; ttjs: toujours; mtn: maintenant; mnt: maintenant; dps: depuis; dcp: du coup
    kdo: cadeau; jtm: je t'aime; dak: d'accord; dac: d'accord; stv: si tu veux; cmt: comment; cmnt: comment
    grv: grave; vrmt: vraiment; vrm: vraiment; vmt: vraiment; tlm: tout le monde; nrv: énervé; msg: message
    we: week-end; wk: week-end; wkd: week-end; ap-dem: après-demain; aprem: après-midi; aprèm: après-midi
    a.-m.: après-midi; ap.-m.: après-midi; ap-m: après-midi; a-m: après-midi; chq: chaque; tte: toute; tts: tous
    svt: souvent; lgtps: longtemps; lgtmps: longtemps; lgt: logement; lgts: logements; cpte: compte; cptes: comptes
    cde: commande; cdes: commandes; nb: nombre; nbr: nombre; nbre: nombre; nbx: nombreux; nvx: nouveaux; gd: grand
    gde: grande; gds: grands; gdes: grandes; dble: double; dbl: double; gge: garage; chbr: chambre; chbres: chambres
    rdj: rez-de-jardin; ss-sol: sous-sol; s/sol: sous-sol; s.d.b.: salle de bains; s.d.e.: salle d'eau
    r.d.c.: rez-de-chaussée; vd: vends; tvx: travaux; trx: travaux; jgt: jugement; clt: classement; clst: classement
    mi-tps: mi-temps; intern.: international; bcps: beaucoup; bcoup: beaucoup; urgt: urgent; rens: renseignements
    trt: traitement; ttt: traitement; ATCD: antécédents; RAS: rien à signaler; p.-déj.: petit-déjeuner
    p'tit-déj.: petit-déjeuner; pt déj: petit-déjeuner; pt-déj: petit-déjeuner; a.p.: après prolongation
    t.a.b.: tirs au but; t.a.b: tirs au but; s.-l.: sèche-linge; l.-v.: lave-vaisselle; l.-l.: lave-linge
    ex-æquo: ex aequo; TBE: très bon état; Tle: terminale; Tles: terminales; gdr: gendarmerie; qté: quantité
    qtés: quantités; ds: dans; tjs: toujours; dsl: désolé; pqt: paquet; pqts: paquets; spé: spécialité; cpt: compte
    hrs: heures; apm: après-midi; h. loc.: heure locale; h. locale: heure locale; dép. gar.: dépôt de garantie
    dép. de gar.: dépôt de garantie; hon. loc.: honoraires de location; gaz coll.: gaz collectif
    chauf. coll.: chauffage collectif; chauff. coll.: chauffage collectif; chauf. indiv.: chauffage individuel
    sèche-l.: sèche-linge; lave-l.: lave-linge; lave-v.: lave-vaisselle; ord. réf.: ordonnance de référé
    hist.-géo: histoire-géo; hist.-géo.: histoire-géographie; mi-temps th.: mi-temps thérapeutique
    q.s.p.: quantité suffisante pour; QSP: quantité suffisante pour; qsp: quantité suffisante pour
    qs: quantité suffisante; m.t.: même temps; n.p.: non payé; c.c.: charges comprises; h.c.: hors charges
    f.a.i.: frais d'agence inclus; ex-pdt: ex-président; vice-pdt: vice-président; pdte: présidente; ccl: conclusion
    càd: c'est-à-dire; stpl: s'il te plaît; svpl: s'il vous plaît; bjs: bisous; cdt: cordialement; cdlt: cordialement
    cdlmt: cordialement; crdlt: cordialement; bav: bien à vous; tlp: téléphone; pls: plusieurs; plsrs: plusieurs
    mvt: mouvement; mvts: mouvements; dvpt: développement; dvlpt: développement; fct: fonction; fcts: fonctions
    ccial: commercial; cciaux: commerciaux; gvt: gouvernement; gouvt: gouvernement; pvoir: pouvoir; rmq: remarque
    rq: remarque; pbs: problèmes; pblm: problème; pblms: problèmes; intro: introduction; dpt: département
    qtité: quantité; consos: consommations; tél: téléphone; poss: possible; dispo: disponible; ttes: toutes
    """
)
