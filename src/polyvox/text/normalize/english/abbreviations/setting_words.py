"""Words of a setting by their short forms, in small letters."""

from typing import Final


def _table(*lines: str) -> dict[str, str]:
    return dict(entry.split(" ", 1) for line in lines for entry in line.split(","))


CHART_BARE: Final = _table(
    "pts patients",
    "neg negative,susp suspension,bilat bilateral,abd abdomen,inj injection,soln solution,oint ointment,ung ointment",
    "supp suppository,subcut subcutaneous,subq subcutaneous,incr increased,decr decreased,noncontrib noncontributory",
    "prn P.R.N,dx diagnosis,tx treatment,sx symptoms,fx fracture,bx biopsy,dz disease,hosp hospital,nebs nebulizers",
    "trop troponin,trops troponins,wnl within normal limits,nad no acute distress",
    "ctab clear to auscultation bilaterally",
    "rrr regular rate and rhythm,yo year old",
    "cx culture,wt weight,tol tolerated,preg pregnant,postop post op,preop pre op,resps respirations,sats saturations",
)
CHART: Final = CHART_BARE | _table(
    "pos positive,neb nebulizer,elix elixir,disp dispense,ext extremities,extrem extremities,amp ampule,amps ampules",
    "sol solution,tab tablet,tabs tablets,cap capsule,caps capsules,ant anterior,lat lateral,post posterior",
    "inf inferior,sup superior,med medication,meds medications,temp temperature,rec recommend,recs recommendations",
    "eval evaluation,amb ambulatory,gen general,surg surgery,ped pediatric,peds pediatrics,derm dermatology",
    "ins insurance,rehab rehabilitation,abx antibiotics,amox amoxicillin,pulm pulmonary,neuro neurology",
    "ortho orthopedics",
    "onc oncology,cardio cardiology,fam family,hist history,sev severe,mod moderate,chr chronic,freq frequent",
    "cath catheter,vent ventilator,sat saturation,refrig refrigerate,mult multiple,occ occasional,resp respirations",
    "adm admitted,imm immunizations,vacc vaccine,approp appropriate,poss possible,prob probable,diff difficult",
    "def deficiency,abn abnormal,norm normal,max maximum,min minimum,cont continue,reg regular,infl inflammation",
)
FILE: Final = _table(
    "def defendant,defs defendants,pl plaintiff,mot motion,mots motions,resp response,opp opposition,ct court",
    "cts counts,dep deposition,depo deposition,aff affidavit,decl declaration,br brief,mem memorandum,civ civil",
    "crim criminal,proc procedure,evid evidence,compl complaint,jud judicial,stip stipulation,subp subpoena",
    "viol violation,misd misdemeanor,fel felony,ann annotated,tit title,regs regulations,subd subdivision",
    "pls plaintiffs,inj injunction,tr transcript,stmt statement,ord order,op opinion,amend amendment,ex exhibit",
    "doc document,docs documents,reg regulation,mag magistrate,lim limited,addl additional",
    "prob probation,indict indictment,supp supplemental,disc discovery,interrog interrogatory,exh exhibit",
    "sup supreme",
    "super superior,app appeals,cal California,bankr bankruptcy,pet petitioner,govt government,stat statute",
    "dist district",
    "trib tribunal,arb arbitration,litig litigation,pros prosecution,wit witness,jgmt judgment,judg judgment",
    "jur jury",
)
LISTING_BARE: Final = _table(
    "fp fireplace,fpl fireplace,sf square feet,obo or best offer",
    "nr near,lg large,sm small,rm room,apt apartment,apts apartments,util utilities,utils utilities",
    "avail available,furn furnished,unfurn unfurnished,unfin unfinished,gar garage,appl appliances",
    "appls appliances",
    "yd yard,immed immediate,immac immaculate,cond condition,exc excellent,xlnt excellent",
    "elec electricity,wtr water,gdn garden,grnd ground,terr terraced,recep reception,recept reception",
    "gch gas central heating",
    "pkng parking,prkg parking,balc balcony,renov renovated,remod remodeled,blt built,upst upstairs,dnst downstairs",
    "frig refrigerator,ldry laundry,priv private,spac spacious,beaut beautiful,wkly weekly,mths months",
    "vw view,vws views,ocn ocean,gd good,dwshr dishwasher,dryr dryer,nbrhd neighborhood",
)
LISTING: Final = LISTING_BARE | _table(
    "wd wood,cam camera,own owner,neut neutered,vacc vaccinated,vgd very good,hm home,cush cushions",
    "ins insurance,orig original,incld included,kg king,qn queen",
    "lr living room,mbr master bedroom,flr floor",
    "semi semi-detached",
    "bd bedroom,bds bedrooms,ba bath,kit kitchen,fin finished",
    "ent entrance,hw hot water,ht heat",
    "refs references,occ occupancy,neg negotiable,nego negotiable",
    "sec security,dep deposit,loc location,fam family,liv living,din dining,stor storage,elev elevator",
    "mod modern,vic vicinity,eff efficiency,att attached,det detached",
    "trans transportation,ac acres,acs acres,refrig refrigerator",
    "wash washer,ste suite,cpt carpet,ext exterior,int interior,bal balcony",
    "conv convertible,appr approval",
    "auto automatic,acc accident,sep separate,cent central,pref preferred,resp responsible",
    "prof professional",
    "gorg gorgeous,hist historic,comm community,pty party",
)
RECIPE: Final = _table(
    "chop chopped,refrig refrigerate,parm Parmesan,marg margarine,veg vegetable,choc chocolate,env envelope",
    "tom tomato,temp temperature,evap evaporated,cond condensed,unsalt unsalted,sweet sweetened,bkg baking",
    "pwd powder,pwdr powder",
    "cinn cinnamon,van vanilla,mozz mozzarella,mayo mayo,ingred ingredients,serv servings,cont container,sl sliced",
    "conf confectioners,cr cream,gr ground,br brown,toms tomatoes,cov covered,unsw unsweetened,lt light,dk dark",
)
JOB: Final = _table(
    "emp employees,emps employees,pref preferred,exp experience,dir director,supv supervisor,sched schedule",
    "quals qualifications,sal salary,comm commission,ops operations,refs references,admin administrative,bene benefits",
    "nec necessary,cert certified,lic license,bkgd background,pos position,exec executive,sr senior,jr junior",
    "eng engineer,engs engineers,dev developer,devs developers,tech technician",
    "dipl diploma,alt alternate,allow allowance,certs certifications,reqd required,reqs requirements",
    "flex flexible,ins insurance,vac vacation,hol holiday,hols holidays,neg negotiable",
    "eves evenings,appl applicants,bilng bilingual,bil bilingual,trans transportation,immed immediate,perm permanent",
)
SCHOOL: Final = _table(
    "alg algebra,anat anatomy,anth anthropology,anthro anthropology,astr astronomy,astron astronomy,bio biology",
    "biol biology,bot botany,calc calculus,chem chemistry,comm communications,econ economics,eng English,engl English",
    "geog geography,geol geology,geom geometry,ger German,hist history,ital Italian,lat Latin,ling linguistics",
    "lit literature,mus music,phil philosophy,philos philosophy,phys physics,physiol physiology,psych psychology",
    "psychol psychology,sci science,soc sociology,sociol sociology,span Spanish,stat statistics,stats statistics",
    "tu Tuesday,th Thursday,soph sophomore,sophs sophomores",
    "cand candidate,diss dissertation,theol theology,trig trigonometry,zool zoology,lang language",
    "elem elementary,sec secondary,prin principal",
    "semr seminar,sem seminar,lect lecture,lects lectures,assgn assignment,hmwk homework,ques question",
    "undergrad undergraduate",
)
# Words of their own elsewhere: short only where the sentence goes on behind the stop.
WORDS_TOO: Final = frozenset(
    (
        "own cam wd allow amend ex op doc docs mag lang elem alt flex semi neuro ortho rehab ins hol vac th bio "
        "lit phil stat span ger soc lat dev tech sem admin amp amps ant app att auto bal br cal cap caps car "
        "cath cent chop comm cond conf cont conv cov cr diff "
        "disc div dk dz elev ent env eves exec ext fam fin gen gr hist inf int kit lat lic loc lt max med meds min "
        "mod mult nec norm ops ord party perm pet pos post prob prof pros quiet rec recs reg rent sal sat sec sep "
        "serv sol spec sub sup super surg sweet tab tabs temp tit tot trans van vent wash wit yd"
    ).split()
)
SHORT: Final = frozenset((*CHART, *FILE, *LISTING, *RECIPE, *JOB, *SCHOOL)) - WORDS_TOO
"""Those that are never a word of their own."""
