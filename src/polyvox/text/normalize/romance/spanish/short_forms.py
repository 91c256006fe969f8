"""The short forms of Spanish by their field: offices, medicine, law, school, kitchen, trade, homes and sport."""

import re
from typing import Final

from polyvox.text.normalize.romance.short_forms.lists import short_forms
from polyvox.text.normalize.romance.spanish.truncated import TRUNCATED

_OFFICE: Final = """
ác.: ácido; sulf.: sulfato; neg.: negativo; posit.: positivo; dim.: dimensiones; domic.: domicilio; lim.: límite;
subst.: sustituto; sust.: sustituto; subs.: subsidio; almuer.: almuerzo; forz.: forzados; aud.: audioguía; abst.:
abstenciones; temps.: temperaturas; at. cliente: atención al cliente; at. al cliente: atención al cliente; electr.:
electrónica; ant. pers.: antecedentes personales; ant. fam.: antecedentes familiares; antec. pers.: antecedentes
personales; reeval.: reevaluar; limp.: limpieza; estad.: estadística; Edo. Méx.: Estado de México; Edo. de Méx.:
Estado de México; Méx.: México; ofi.: oficina; perj.: perjuicios; prot.: protocolo; mens.: mensualidades; err.:
errores; ses.: sesiones; interl.: interlineado; pobl.: población; i/v: ida y vuelta; trauma.: traumatología; Cs. Nat.:
ciencias naturales; Cs. Soc.: ciencias sociales; Cs.: ciencias; CC. NN.: ciencias naturales; CC. SS.: ciencias
sociales; ingr.: ingredientes; ingreds.: ingredientes; c.n.: cantidad necesaria; cat.: categoría; colegs.: colegiados;
resols.: resoluciones; fest.: festivos; qna.: quincena; nóm.: nómina; nóms.: nóminas; dbl.: doble; indiv.: individual;
pres.: presentación; pzca.: pizca; gral.: general; tur.: turística; sup. útil: superficie útil; hna.: hermana; lleg.:
llegada; T.ª: temperatura; expens.: expensas; s.e.: salvo error; presc.: prescripción; admvo.: administrativo; admva.:
administrativa; admtvo.: administrativo; admtva.: administrativa; advo.: administrativo; adm.: administración; aux.:
auxiliar; auxs.: auxiliares; adjto.: adjunto; adjta.: adjunta; adj.: adjunto; asist.: asistente; expte.: expediente;
exptes.: expedientes; exped.: expediente; exp.: experiencia; solic.: solicitud; solics.: solicitudes; doc.: documento;
docs.: documentos; docum.: documentación; gcia.: gerencia; gte.: gerente; subgte.: subgerente; coord.: coordinador;
coordin.: coordinación; sria.: secretaria; srio.: secretario; vicepdte.: vicepresidente; ofc.: oficina; reg.:
registro; regto.: reglamento; reglam.: reglamento; resol.: resolución; circ.: circular; memo.: memorando; trám.:
trámite; nac.: nacional; natl.: nacional; intl.: internacional; internac.: internacional; mpal.: municipal; munic.:
municipal; estat.: estatal; autón.: autónoma; dir. gral.: dirección general; sec. gral.: secretaría general; subdir.:
subdirector; unid.: unidad; div.: división; fol.: folio; fs.: fojas; fjs.: fojas; orig.: original; dupl.: duplicado;
dest.: destinatario; remit.: remitente; destin.: destinatario; atn.: a la atención de; A/A: a la atención de; att.:
atentamente; at.te: atentamente; c.c.p.: con copia para; p.a.: por autorización; p.p.: por poder; s. e. u o.: salvo
error u omisión; s.e.u.o.: salvo error u omisión; S.E.U.O.: salvo error u omisión; N.B.: nota bene; s. f.: sin fecha;
s/f: sin fecha; s/ref: su referencia; n/ref: nuestra referencia; m.n.: moneda nacional; M.N.: moneda nacional; vcto.:
vencimiento; vnto.: vencimiento; venc.: vencimiento; imp.: importe; impte.: importe; imps.: impuestos; líq.: líquido;
liq.: liquidación; fact.: factura; facts.: facturas; fac.: factura; rbo.: recibo; comprob.: comprobante; cpte.:
comprobante; transf.: transferencia; bco.: banco; suc.: sucursal; lect.: lectura; últ.: último; ult.: último; prom.:
promedio; tot.: total; subt.: subtotal; dif.: diferencia; bonif.: bonificación; desc.: descuento; pags.: páginas;
excl.: excluido; exc.: excepto; opc.: opcional; oblig.: obligatorio; jorn.: jornada; horar.: horario; contrat.:
contrato; dispon.: disponible; incorp.: incorporación; inmed.: inmediata; req.: requisito; reqs.: requisitos; requis.:
requisitos; form.: formación; conoc.: conocimientos; conocim.: conocimientos; idiom.: idiomas; vehíc.: vehículo;
depart.: departamento; deptos.: departamentos; dptos.: departamentos; ppto.: presupuesto; presup.: presupuesto; proy.:
proyecto; proyect.: proyecto; reun.: reunión; obj.: objetivo; objs.: objetivos; resps.: responsables; seguim.:
seguimiento; mant.: mantenimiento; manten.: mantenimiento; serv.: servicio; servs.: servicios; svcio.: servicio;
transp.: transporte; téc.: técnico; téc. sup.: técnico superior; tco.: técnico; tec.: técnico; ing. téc.: ingeniero
técnico; ayte.: ayudante; ayud.: ayudante; enc.: encargado; encarg.: encargado; oper.: operario; inspec.: inspector;
comis.: comisión; cons.: consejo; consej.: consejero; asoc.: asociación; fund.: fundación; org.: organización; orgs.:
organizaciones; soc.: sociedad; sdad.: sociedad; cte.: corriente; ctte.: corriente; ctas.: cuentas; n/cta.: nuestra
cuenta; ptje.: puntaje; porc.: porcentaje; aut.: autorización; autoriz.: autorización; cód. post.: código postal;
nom.: nómina; s.s.: seguridad social; S/R: sin respuesta; sgte.: siguiente; sgtes.: siguientes; subsgtes.:
subsiguientes; ppio.: principio; ppios.: principios; princ.: principal; espec.: especialidad; esp.: especialmente;
gralm.: generalmente; const.: constitución
"""
_MEDICINE: Final = """
pcte.: paciente; pctes.: pacientes; pac.: paciente; pacs.: pacientes; tto: tratamiento; tx: tratamiento; tx.:
tratamiento; trat.: tratamiento; dx: diagnóstico; dx.: diagnóstico; dco.: diagnóstico; diag.: diagnóstico; rx:
radiografía; rx.: radiografía; RX: radiografía; susp.: suspensión; jbe.: jarabe; jar.: jarabe; iny.: inyección;
inyect.: inyectable; gtt.: gotas; inh.: inhalaciones; inhal.: inhalaciones; crem.: crema; pom.: pomada; ungü.:
ungüento; grag.: grageas; past.: pastillas; hosp.: hospital; urg.: urgencias; urgs.: urgencias; i.v.: intravenosa;
e.v.: endovenosa; s.l.: sublingual; c.s.p.: cantidad suficiente para; c.s.: cantidad suficiente; antec.: antecedentes;
alerg.: alergias; frec.: frecuencia; frec. card.: frecuencia cardiaca; frec. resp.: frecuencia respiratoria; cardiol.:
cardiología; traumat.: traumatología; ginec.: ginecología; pediat.: pediatría; oftalm.: oftalmología; derm.:
dermatología; dermat.: dermatología; odont.: odontología; neurol.: neurología; psiq.: psiquiatría; radiol.:
radiología; gastro.: gastroenterología; otorr.: otorrinolaringología; urol.: urología; reumat.: reumatología; endocr.:
endocrinología; analít.: analítica; hemogr.: hemograma; gluc.: glucosa; colest.: colesterol; triglic.: triglicéridos;
trigl.: triglicéridos; creat.: creatinina; leuc.: leucocitos; plaq.: plaquetas; masc.: masculino; fem.: femenino;
izqdo.: izquierdo; bilat.: bilateral; abd.: abdominal; desay.: desayuno; enf.: enfermera; enferm.: enfermería; méd.:
médico; med.: medicina; fisiot.: fisioterapia; rehab.: rehabilitación; quir.: quirófano; anest.: anestesia; vac.:
vacuna; obs.: observaciones; evol.: evolución; pron.: pronóstico; rev.: revisión; revis.: revisión; rec. méd.: receta
médica; conf.: conforme
"""
_LAW: Final = """
juzg.: juzgado; jdo.: juzgado; jzdo.: juzgado; trib.: tribunal; instr.: instrucción; mag.: magistrado; magdo.:
magistrado; mgdo.: magistrado; mgda.: magistrada; fisc.: fiscalía; procur.: procurador; dte.: demandante; dda.:
demandada; ddo.: demandado; ddte.: demandante; recte.: recurrente; apte.: apelante; acdo.: acuerdo; cláus.: cláusula;
arrend.: arrendatario; vgr.: verbigracia; v. gr.: verbigracia; v.gr.: verbigracia; v.g.: verbigracia; íd.: ídem; loc.
cit.: lugar citado; et al.: et al; disp. trans.: disposición transitoria; disp. adic.: disposición adicional; disp.
final: disposición final; disp. derog.: disposición derogatoria; disp.: disponible; disps.: disponibles; cód. civ.:
código civil; cód. pen.: código penal; C. Civ.: código civil; C. Pen.: código penal; cód. com.: código de comercio;
sents.: sentencias; jurisp.: jurisprudencia; leg.: legal; legisl.: legislación; proced.: procedimiento; procto.:
procedimiento; notif.: notificación; citac.: citación; prescr.: prescripción; indemn.: indemnización; impug.:
impugnación; aptdos.: apartados; nums.: números; párrs.: párrafos; incs.: incisos; lit.: literal; esc. públ.:
escritura pública; LECrim: lecrim; cit.: citado; ref.ª: referencia; h.p.: hacienda pública
"""
_SCHOOL: Final = """
asig.: asignatura; asigs.: asignaturas; mat.: matemáticas; fís.: física; quím.: química; biol.: biología; geog.:
geografía; geogr.: geografía; hist.: historia; lit.: literatura; leng.: lengua; ed. fís.: educación física; educ.
fís.: educación física; ed. inf.: educación infantil; educ.: educación; filos.: filosofía; tecnol.: tecnología; eval.:
evaluación; evals.: evaluaciones; ex.: examen; exám.: examen; exs.: exámenes; calif.: calificación; califs.:
calificaciones; trim.: trimestre; cuatrim.: cuatrimestre; bim.: bimestre; sem.: semana; preg.: pregunta; pregs.:
preguntas; aprob.: aprobado; prim.: primaria; secund.: secundaria; sec.: secundaria; bachill.: bachillerato; alumn.:
alumnos; introd.: introducción; def.: definición; defs.: definiciones; teor.: teorema; ec.: ecuación; ecs.:
ecuaciones; fórm.: fórmula; gráf.: gráfico; gráfs.: gráficos; trad.: traducción; coords.: coordinadores; edit.:
editorial; comp. lect.: comprensión lectora; ejercs.: ejercicios; probls.: problemas; resum.: resumen; apunt.:
apuntes; lab.: laboratorio; labor.: laboratorio; tut.: tutoría; bibliogr.: bibliografía; bibl.: biblioteca; fac.:
facultad; matric.: matrícula; cred.: créditos; créds.: créditos; punt.: puntuación; recup.: recuperación; extraord.:
extraordinaria; ord.: ordinaria; conv.: convocatoria; opt.: optativa; tít.: título
"""
_TRADE: Final = """
p/u: por unidad; p.u.: precio unitario; p. u.: precio unitario; u/m: unidad de medida; unids.: unidades; unid: unidad;
cod.: código; mod.: modelo; tam.: tamaño; tmño.: tamaño; env.: envío; envs.: envíos; grat.: gratis; gtía.: garantía;
garant.: garantía; fab.: fabricación; cad.: caducidad; f. cad.: fecha de caducidad; fec. cad.: fecha de caducidad; f.
venc.: fecha de vencimiento; fec.: fecha; f. nac.: fecha de nacimiento; fec. nac.: fecha de nacimiento; prod.:
producto; prods.: productos; prov.: proveedor; distrib.: distribuidor; dist.: distancia; instal.: instalación; rep.:
reparación; repar.: reparación; mcía.: mercancía; merc.: mercancía; alm.: almacén; pqte.: paquete; pqtes.: paquetes;
paqs.: paquetes; btos.: bultos; bto.: bulto; dcto.: descuento; dctos.: descuentos; dscto.: descuento; promo.:
promoción; efect.: efectivo; efvo.: efectivo; créd.: crédito; déb.: débito; tarj. créd.: tarjeta de crédito; cuot.:
cuotas; s/int.: sin interés; s/ int.: sin interés; desp.: despacho; desc. máx.: descuento máximo; pers.: personas;
adic.: adicional; lta.: lata; bca.: blanca; bco. y neg.: blanco y negro; usad.: usado; nvo.: nuevo; nva.: nueva;
seminvo.: seminuevo; elect.: eléctrico; eléctr.: eléctrico; electrod.: electrodomésticos; inox.: inoxidable; alum.:
aluminio; plást.: plástico
"""
_HOME: Final = """
coc.: cocina; asc.: ascensor; calef.: calefacción; a/a: aire acondicionado; a/c: aire acondicionado; A/C: aire
acondicionado; amuebl.: amueblado; amueb.: amueblado; amobl.: amoblado; reform.: reformado; lum.: luminoso; constr.:
construidos; trast.: trastero; comun.: comunidad; fza.: fianza; vta.: venta; c/ext.: exterior; terr.: terraza;
terraz.: terraza; jdín.: jardín; jard.: jardín; pisc.: piscina; exter.: exterior; orient.: orientación; céntr.:
céntrico; cént.: céntrico; urbaniz.: urbanización; parc.: parcela; gje.: garaje; plza. gar.: plaza de garaje; pza.
gar.: plaza de garaje; coch.: cochera; estac.: estacionamiento; edifs.: edificios; deptos: departamentos; bño.: baño;
bños.: baños; s/ascensor: sin ascensor; cert. energ.: certificado energético; efic. energ.: eficiencia energética;
consum.: consumo; pot.: potencia; pot. máx.: potencia máxima; temp. máx.: temperatura máxima; lavad.: lavadora; elec.:
electricidad; electric.: electricidad; inm.: inmobiliaria; inmob.: inmobiliaria; p. baja: planta baja; pl. baja:
planta baja
"""
_SPORT: Final = """
prórr.: prórroga; pen.: penaltis; sel.: selección; selecc.: selección; campto.: campeonato; clasif.: clasificación;
elim.: eliminatoria; etap.: etapa; dif. gol.: diferencia de goles; gol. dif.: diferencia de goles; entren.:
entrenador; temp. reg.: temporada regular; árb.: árbitro; asists.: asistencias; amar.: amarilla; amars.: amarillas;
expuls.: expulsión; tarj. am.: tarjeta amarilla; tarj. roja: tarjeta roja; vict.: victorias; derr.: derrotas; emp.:
empates; mto.: minuto
"""
FIELDS: Final = TRUNCATED | short_forms(_OFFICE, _MEDICINE, _LAW, _SCHOOL, _TRADE, _HOME, _SPORT)
FIELDS_BEFORE_FIGURES: Final = short_forms(
    """
    cuot.: cuota; alb.: albarán; ped.: pedido; vta.: vuelta; plat.: plataforma; and.: andén; mag.: magnitud; term.:
    terminal; emb.: embarque; res.: resolución; cat.: categoría; exp.: expediente; expte: expediente; fol.: folio;
    fs.: fojas; asig.: asignatura; ex.: examen; lit.: literal; circ.: circular; versíc.: versículo; vers.: versión;
    unid.: unidad; ud.: unidad; sem.: semana; mza.: manzana; mz.: manzana; kilóm.: kilómetro; púb.: público; partic.:
    participación; ext.: extensión; grup.: grupo; gpo.: grupo; gdo.: grado; gr.: grado; div.: división; ejs.:
    ejercicios; pregs.: preguntas; preg.: pregunta; rad.: radicado; mat.: matrícula; reg.: registro; trans.:
    transitoria; cláus.: cláusula; mod.: modelo; tom.: tomo; doc.: documento; tel: teléfono; lab.: laboratorio; ep:
    episodio; art: artículo; tabl.: tabla; mín.: mínimo; dist.: distrito; sub.: subparcela; parc.: parcela; pol.:
    polígono; cub.: cubículo; cons.: consultorio; exps.: expedientes; ag.: agencia; suc.: sucursal; lib.: libro;
    epíg.: epígrafe; anex.: anexo; jorn.: jornada; min.: minuto
    """
)
_FEMININE_FORM: Final = r"(?:exp|cant|pot|sup|alt|long|frec|dist|puntuac|calif|presión|edad|hum|nota)\.?"
FIELD_RULES: Final = (
    ("nat.", re.compile(r"(?<=gas )nat\.(?!\w)"), "natural"),
    ("nac.", re.compile(r"(?<=[Ff]echa )(?:de )?nac\."), "de nacimiento"),
    ("final", re.compile(r"4\.?[ºt]?os(?= de final)"), "cuartos"),
    ("final", re.compile(r"8\.?[ºv]?os(?= de final)"), "octavos"),
    ("MX", re.compile(r"(?<=Liga )MX(?!\w)"), "M X"),
    ("º º.", re.compile(r"(\b(?:sen|cos|tan|tg|a|ángulo de|girar|gira) \d\d)º(?=[.,;:)]| [=,]|$)"), r"\1°"),
    ("ciclos habitantes", re.compile(r"/(?=100 (?:ciclos|habitantes))"), " por "),
    ("a/", re.compile(r"(?<!\w)a/c(?= del? )"), "al cuidado"),
    (
        "duró dura durante durará demoró demora tardó tarda tardan reposar cocer hornear marinar unas casi "
        "tras faltan llevó lleva",
        re.compile(
            r"(\b(?:dur[óae]|durante|durará|demor[óa]|tard[óa]|tardan|reposar|cocer|hornear|marinar"
            r"|unas|casi|tras|faltan"
            r"|llev[óa]) )(\d{1,2}) ?h ?(\d\d)(?!\w| ?min|['’′])"
        ),
        r"\1\2 h \3 min",
    ),
    (
        "coche auto carro viaje vuelo tren duración retraso espera ruta clase barco descanso reposo horno siesta "
        "marcha charla reunión película",
        re.compile(
            r"(\d{1,2}) ?h ?(\d\d)(?= de (?:coche|auto|carro|viaje|vuelo|tren|duración|retraso|espera"
            r"|ruta|clase|barco|descanso|reposo|horno|siesta|marcha|charla|reunión|película))"
        ),
        r"\1 h \2 min",
    ),
    ("rel.", re.compile(r"(?<=reposo )rel\.(?!\w)"), "relativo"),
    ("prog.", re.compile(r"(?<!\w)[Pp]rog\.(?= (?:de|del|rápido|corto|largo|eco|\d))"), "programa"),
    ("a.", re.compile(r"(?<=\d )a\.(?=:)"), "años"),
    ("mod.", re.compile(r"(?<=nivel )mod\.(?!\w)"), "moderado"),
    ("int.", re.compile(r"((?:inglés|francés|nivel) )int\.(?!\w)"), r"\1intermedio"),
    ("prof. Prof.", re.compile(r"(?<=m de )prof\.(?!\w)"), "profundidad"),
    ("cap.", re.compile(r"(\b(?:su|la|de|con) )cap\.(?! ?\d| [IVX])"), r"\1capacidad"),
    ("sem.", re.compile(r"(?:(?<=º )|(?<=er )|(?<=do ))sem\.(?!\w)"), "semestre"),
    ("a.", re.compile(r"(?<=\d )a\.(?= y )"), "años"),
    ("m.", re.compile(r"(?<=\d )m\.(?= de )|(?<=plazo \d )m\.|(?<=plazo \d\d )m\.|(?<=a \d\d )m\.(?= al )"), "meses"),
    ("int.", re.compile(r"(?<!\w)int\.(?= (?:liq|anual|mens|var|fijo|mor))|(?<=sin )int\.(?! ?\d)"), "interés"),
    ("red.", re.compile(r"(?<!\w)red\.(?= \d+(?:[.,]\d+)? ?€)"), "reducida"),
    ("sal. Sal.", re.compile(r"(?<!\w)[Ss]al\.(?= \d{1,3}(?![\d,]| ?[gGkK]))"), "salida"),
    (
        "p/",
        re.compile(r"(?<!\w)p/ ?(?=(?:trayecto|persona|noche|día|mes|hora|unidad|kilo|litro|metro|pers|semana)(?!\w))"),
        "por ",
    ),
    ("Org. org.", re.compile(r"(?<=[Qq]uím\. )[Oo]rg\.(?!\w)"), "orgánica"),
    ("Inorg. inorg.", re.compile(r"(?<=[Qq]uím\. )[Ii]norg\.(?!\w)"), "inorgánica"),
    ("Rev.", re.compile(r"(?<!\w)Rev\.(?= (?:Francesa|Industrial|Rusa|Mexicana|Cubana|de Mayo))"), "Revolución"),
    ("preg.", re.compile(r"(?<=\d )(?<!\b1 )preg\.(?!\w)"), "preguntas"),
    ("asist. Asist.", re.compile(r"(?<!\w)[Aa]sist\. oblig\.(?!\w)"), "asistencia obligatoria"),
    ("Vac. vac.", re.compile(r"(?<!\w)[Vv]ac\.(?= (?:del?|anual|pend|verano|Navidad)(?!\w))"), "vacaciones"),
    ("d.", re.compile(r"(?<=\d )d\. (?=(?:háb|nat|lab)\.?(?!\w))"), "días "),
    ("mg.", re.compile(r"(?<!\w)mg\.(?= (?:bruto|neto|oper))"), "margen"),
    ("hrs hrs. hs hs.", re.compile(r"(?<=\d:\d\d )hr?s\.?(?!\w)"), "h"),
    ("cons.", re.compile(r"(?<!\w)[Cc]ons\.(?= [\d.,]+ ?(?:kWh|W|l|L|m))"), "consumo"),
    ("S.", re.compile(r"(?<=\b[A-Z]\. )S\.(?= [A-Z])"), "S"),
    ("c/", re.compile(r"(?<!\w)c/n(?!\w)"), "cantidad necesaria"),
    (
        "ene ENE Ene ene. feb FEB Feb feb. mar MAR Mar mar. abr ABR Abr abr. may MAY May may. jun JUN Jun jun. "
        "jul JUL Jul jul. ago AGO Ago ago. sep SEP Sep sep. sept SEPT Sept sept. oct OCT Oct oct. nov NOV Nov nov. "
        "dic DIC Dic dic.",
        re.compile(
            r"(?<![\w/.,-])(\d{1,2})[/-](ene|feb|mar|abr|may|jun|jul|ago|sept?|oct|nov|dic)(?=\.?(?![\w/-]))",
            re.IGNORECASE,
        ),
        r"\1 \2",
    ),
    (
        "c/",
        re.compile(
            r"(?<!\w)c/ ?(?=(?:ojo|comida|noche|lado|brazo|dosis|toma|fosa|oído|zona|persona|niño|pierna)(?!\w))"
        ),
        "cada ",
    ),
    ("c/", re.compile(r"(?<!\w)c/ (?=[\d½¼]+ (?!(?:hs?|hrs|horas|d|días|sem|min|meses)(?!\w)))"), "con "),
    ("v v. v/", re.compile(r"(?<=\d )v\.?(?=/(?:día|d|sem))"), "veces"),
    ("m.", re.compile(r"(?<=\d )m\.(?=[,;)])"), "meses"),
    ("m m.", re.compile(r"(?<=\b[Aa] los \d )m(?=[ .,;]|$)|(?<=\b[Aa] los \d\d )m(?=[ .,;]|$)"), "meses"),
    ("Cont. cont.", re.compile(r"(?<!\w)[Cc]ont\.-? ?[Aa]dm\.(?!\w)"), "contencioso administrativo"),
    ("rec. Rec.", re.compile(r"(?<!\w)[Rr]ec\.(?= n)"), "recurso"),
    ("col. Col.", re.compile(r"(?<!\w)[Cc]ol\.(?= n)"), "colegiado"),
    ("resp. Resp.", re.compile(r"(?<!\w)[Rr]esp\.(?= (?:las|los|el|la|a) )"), "responder"),
    ("ev. Ev.", re.compile(r"(?<=ª )[Ee]v\.(?!\w)"), "evaluación"),
    ("d.", re.compile(r"(?<=\d )d\.(?= de ajo)"), "dientes"),
    ("f.", re.compile(r"(?<!\w)f\.(?= (?:medio|lento|alto|bajo|fuerte|suave)(?!\w))"), "fuego"),
    ("ago. Ago.", re.compile(r"(?:(?<=\b[Ee]n )|(?<=\bde ))ago\.(?!\w)"), "agosto"),
    (
        "ene ENE Ene feb FEB Feb mar MAR Mar abr ABR Abr may MAY May jun JUN Jun jul JUL Jul ago AGO Ago sep SEP "
        "Sep sept SEPT Sept oct OCT Oct nov NOV Nov dic DIC Dic",
        re.compile(
            r"(?<![\w/.,])(\d{1,2})([ /-])(ene|feb|mar|abr|may|jun|jul|ago|sept?|oct|nov"
            r"|dic)\.?\2(?:20)?(\d\d)(?![\w/:]|[.,]\d| ?[%€])",
            re.IGNORECASE,
        ),
        r"\1 \3 20\4",
    ),
    ("exp. Exp.", re.compile(r"(?<!\w)[Ee]xp\.(?= ?(?:MX)?\$)"), "expensas"),
    ("s/", re.compile(r"(?<!\w)s/ ?int\.(?! ?\d)"), "sin interés"),
    ("gar.", re.compile(r"(?<!\w)gar\.(?= (?:banc|prop))"), "garantía"),
    ("p/", re.compile(r"(?<!\w)p/ ?esc\.(?! ?\d)"), "por escalera"),
    ("p/", re.compile(r"(?<!\w)p/ ?(?=[a-zà-ÿ]{2}|\d)"), "para "),
    (
        "c/",
        re.compile(r"(?<!\w)c/ (?=[a-z])(?!(?:de|del|la|las|los|el|san|santa|mes|día|semana|año|hora|un[oa]?)(?!\w))"),
        "con ",
    ),
    ("coc.", re.compile(r"(?<=coc\. )am(?:uebl?|obl)\.(?!\w)"), "amueblada"),
    ("a.", re.compile(r"(?<=\d )a\.(?=[,;)])"), "años"),
    ("VO VO.", re.compile(r"(?<=[\dhlg] )VO(?!\w)"), "vía oral"),
    ("próx. Próx.", re.compile(r"(?<!\w)(P|p)róx\.(?= [a-zà-ÿ]+(?:a|as|ión|dad|iones)(?!\w))"), r"\1róxima"),
    ("últ. Últ.", re.compile(r"(?<!\w)(Ú|ú)lt\.(?= [a-zà-ÿ]+(?:a|ión|dad)(?!\w))"), r"\1ltima"),
    ("desc. Desc.", re.compile(r"(?<=\bal )[Dd]esc\.(?! ?\d)"), "descanso"),
    ("J. J", re.compile(r"(?<=\bla )J\. ?(?=\d)"), "jornada "),
    ("sal. Sal.", re.compile(r"(?<!\w)[Ss]al\.(?= \d{1,2}[:.h]\d\d)"), "salida"),
    ("pta.", re.compile(r"(?<!\w)pta\.(?= ?[A-Z]\d)"), "puerta"),
    (
        "hab. Hab.",
        re.compile(
            r"(?<!\w)(?<![2-9] )[Hh]ab\.(?= (?:(?:dbl|doble|ind|sencilla|triple|matrim|con|ext|int)[a-zà-ÿ]*(?!\w)|c/))"
        ),
        "habitación",
    ),
    ("imp.", re.compile(r"(?<=[Bb]ase )imp\.(?!\w)"), "imponible"),
    ("t. T.", re.compile(r"(?<!\w)[Tt]\.(?= (?:X{0,3}[SL]|M)(?!\w))"), "talla"),
    ("inc. Inc. incorp.", re.compile(r"(?<!\w)[Ii]nc\.(?= inmed)"), "incorporación"),
    ("dto. Dto.", re.compile(r"(?<!\w)[Dd]to\.(?= ?-?\d+(?:[.,]\d+)? ?%)"), "descuento"),
    ("dir. Dir.", re.compile(r"(?<!\w)[Dd]ir\. [Cc]om\.(?!\w)"), "dirección comercial"),
    ("resp. Resp.", re.compile(r"(?<!\w)[Rr]esp\.(?=: ?(?:[-\d]|[a-zA-Z]['’]* ?=|[a-e]\)))"), "respuesta"),
    ("col.", re.compile(r"(?<=\bla )col\.(?= [A-ZÀ-Ý])|(?<=\ben )col\.(?= [A-ZÀ-Ý])"), "colonia"),
    ("mín mín.", re.compile(rf"(\b{_FEMININE_FORM} (?:[a-z]{{1,3}} )?)mín\.?(?!\w)", re.IGNORECASE), r"\1mínima"),
    ("máx máx.", re.compile(rf"(\b{_FEMININE_FORM} (?:[a-z]{{1,3}} )?)máx\.?(?!\w)", re.IGNORECASE), r"\1máxima"),
    (
        "mín mín.",
        re.compile(r"((?!para|hasta|era|día|problema|programa|sistema|ahora|nada|cada)\b[a-zà-ÿ]{3,}a )mín\.?(?!\w)"),
        r"\1mínima",
    ),
    (
        "máx máx.",
        re.compile(r"((?!para|hasta|era|día|problema|programa|sistema|ahora|nada|cada)\b[a-zà-ÿ]{3,}a )máx\.?(?!\w)"),
        r"\1máxima",
    ),
    ("máx máx.", re.compile(r"((?:os|es) )máx\.(?!\w)"), r"\1máximos"),
    ("sol. Sol.", re.compile(r"(?<!\w)[Ss]ol\.(?= (?:oral|inyect|fisio|salina|oft|nasal|acuosa))"), "solución"),
    ("vía Vía", re.compile(r"(?<=[Vv]ía )(?:i\. ?m\.|IM)(?!\w)"), "intramuscular"),
    ("VO", re.compile(r"(?:(?<= )|(?<=\A))VO(?=[ ,.;)]|$)"), "vía oral"),
    ("IM IM.", re.compile(r"(?<=m[lgL] )IM(?!\w)"), "intramuscular"),
    ("IV EV IV. EV.", re.compile(r"(?<=m[lgL] )(?:IV|EV)(?!\w)"), "intravenosa"),
    ("SC SC.", re.compile(r"(?<=m[lgL] )SC(?!\w)|(?<=UI )SC(?!\w)|(?<=vía )SC(?!\w)"), "subcutánea"),
    ("Inst. inst.", re.compile(r"(?<=ª )[Ii]nst\.(?!\w)"), "instancia"),
    ("nac.", re.compile(r"(?<!\w)nac\.(?= (?:el|en) )"), "nacido"),
    (
        "dom. Dom.",
        re.compile(r"(?<!\w)[Dd]om\.(?= (?:en|social|fiscal|real|legal|conocido|particular)(?!\w))"),
        "domicilio",
    ),
    ("amb amb.", re.compile(r"(?<=[2-9] )amb\.?(?!\w)"), "ambientes"),
    ("rec rec.", re.compile(r"(?<=[2-9] )rec\.?(?= |,|;|/)(?! \d)"), "recámaras"),
    ("asist asist.", re.compile(r"(?<=\d )asist\.?(?!\w)"), "asistencias"),
    ("inf.", re.compile(r"(?<=[Ee]d\. )inf\.(?!\w)"), "infantil"),
    ("ext.", re.compile(r"(?<!\w)ext\.(?! ?\d| ?:)"), "exterior"),
    ("cons.", re.compile(r"(?<!\w)cons\.(?= ext)"), "consultas"),
    ("aut.", re.compile(r"(?<=[Cc]om\. )aut\.(?!\w)"), "autónoma"),
    ("T", re.compile(r"(?<=[123]\.º )T(?!\w)|(?<=[123]º )T(?!\w)"), "tiempo"),
    ("Juzg. Jdo.", re.compile(r"(?<!\w)(?:Juzg|Jdo)\.(?= (?:de|n))"), "juzgado"),
    ("sem sem.", re.compile(r"(?<=\d )(?<!\b1 )sem\.?(?!\w)"), "semanas"),
    ("trim.", re.compile(r"(?<=[2-9] )trim\.(?!\w)"), "trimestres"),
    ("med.", re.compile(r"(?<=nota )med\.(?!\w)"), "media"),
    ("gral. Gral.", re.compile(r"(?<=[Dd]ir\. )[Gg]ral\.(?!\w)"), "general"),
)
