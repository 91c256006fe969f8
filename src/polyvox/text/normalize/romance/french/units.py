"""Units of French that science, medicine, energy and machines count in."""

from typing import Final

from polyvox.text.normalize.romance.measures.units import named

SPECIAL_UNITS: Final = named(
    """
    Kio: kibioctet, kibioctets; Mio: mébioctet, mébioctets; Gio: gibioctet, gibioctets; Tio: tébioctet, tébioctets
    Kib: kibibit, kibibits; Mib: mébibit, mébibits; Gib: gibibit, gibibits
    Go/s: gigaoctet par seconde, gigaoctets par seconde; Ko/s: kilo-octet par seconde, kilo-octets par seconde
    ko/s: kilo-octet par seconde, kilo-octets par seconde; req/s: requête par seconde, requêtes par seconde, f
    img/s: image par seconde, images par seconde, f; i/s: image par seconde, images par seconde, f
    Gb/s: gigabit par seconde, gigabits par seconde; kb/s: kilobit par seconde, kilobits par seconde
    Mpx: mégapixel, mégapixels; Mpix: mégapixel, mégapixels; MP: mégapixel, mégapixels
    al: année-lumière, années-lumière, f; a.-l.: année-lumière, années-lumière, f
    a.l.: année-lumière, années-lumière, f; kpc: kiloparsec, kiloparsecs; Mpc: mégaparsec, mégaparsecs
    Å: angström, angströms; fL: femtolitre, femtolitres; fl: femtolitre, femtolitres; nmol: nanomole, nanomoles, f
    pmol: picomole, picomoles, f; kmol: kilomole, kilomoles, f; Da: dalton, daltons; kDa: kilodalton, kilodaltons
    kpb: kilopaire de bases, kilopaires de bases, f; mM: millimolaire, millimolaires; µM: micromolaire, micromolaires
    nM: nanomolaire, nanomolaires; UFC: unité formant colonie, unités formant colonie, f
    µUI: microunité internationale, microunités internationales, f
    MUI: million d'unités internationales, millions d'unités internationales; mosm: milliosmole, milliosmoles, f
    cmH2O: centimètre d'eau, centimètres d'eau; Gy: gray, grays; mGy: milligray, milligrays; Sv: sievert, sieverts
    µSv: microsievert, microsieverts; Bq: becquerel, becquerels; kBq: kilobecquerel, kilobecquerels
    MBq: mégabecquerel, mégabecquerels; daN: décanewton, décanewtons; THz: térahertz, térahertz
    mHz: millihertz, millihertz; pF: picofarad, picofarads; nF: nanofarad, nanofarads; µF: microfarad, microfarads
    mF: millifarad, millifarads; mH: millihenry, millihenrys; µH: microhenry, microhenrys; mT: millitesla, milliteslas
    µT: microtesla, microteslas; GPa: gigapascal, gigapascals; MPa: mégapascal, mégapascals
    µA: microampère, microampères; kA: kiloampère, kiloampères; µV: microvolt, microvolts; mΩ: milliohm, milliohms
    µW: microwatt, microwatts; TW: térawatt, térawatts; tep: tonne équivalent pétrole, tonnes équivalent pétrole, f
    Mtep: million de tonnes équivalent pétrole, millions de tonnes équivalent pétrole
    Mt: million de tonnes, millions de tonnes; Gt: milliard de tonnes, milliards de tonnes
    kt: kilotonne, kilotonnes, f; dBA: décibel A, décibels A; dBm: décibel milliwatt, décibels milliwatt
    dB(A): décibel A, décibels A; J·s: joule seconde, joules seconde
    eV·s: électronvolt seconde, électronvolts seconde; N·m: newton mètre, newtons mètres
    N.m: newton mètre, newtons mètres; kN·m: kilonewton mètre, kilonewtons mètres
    Pa·s: pascal seconde, pascals seconde; kW·h: kilowattheure, kilowattheures
    Wh/km: wattheure par kilomètre, wattheures par kilomètre; GeV: gigaélectronvolt, gigaélectronvolts
    TeV: téraélectronvolt, téraélectronvolts; meV: milliélectronvolt, milliélectronvolts; mbars: millibar, millibars
    G/L: giga par litre, gigas par litre; T/L: téra par litre, téras par litre; ret: retard, retards
    él: élève, élèves; sdb: salle de bains, salles de bains, f; SdB: salle de bains, salles de bains, f
    SDB: salle de bains, salles de bains, f; sde: salle d'eau, salles d'eau, f; SDE: salle d'eau, salles d'eau, f
    chbres: chambre, chambres, f; épis: épisode, épisodes; sais: saison, saisons, f; vic: victoire, victoires, f
    déf: défaite, défaites, f; verr: verre, verres; cuill: cuillère, cuillères, f; bott: botte, bottes, f
    barq: barquette, barquettes, f
    """
)
