"""Units of Italian that science, medicine, energy and machines count in, and people count with."""

from typing import Final

from polyvox.text.normalize.romance.measures.units import named

SPECIAL_UNITS: Final = named(
    """
    KiB: kibibyte, kibibyte; MiB: mebibyte, mebibyte; GiB: gibibyte, gibibyte; TiB: tebibyte, tebibyte
    PB: petabyte, petabyte; req/s: richiesta al secondo, richieste al secondo, f
    Gb/s: gigabit al secondo, gigabit al secondo; kb/s: kilobit al secondo, kilobit al secondo
    Mpx: megapixel, megapixel; MP: megapixel, megapixel; kpc: kiloparsec, kiloparsec; Mpc: megaparsec, megaparsec
    Å: angstrom, angstrom; fL: femtolitro, femtolitri; nmol: nanomole, nanomoli, f; pmol: picomole, picomoli, f
    kmol: chilomole, chilomoli, f; Da: dalton, dalton; kDa: chilodalton, chilodalton; bp: paio di basi, paia di basi
    mM: millimolare, millimolare; µM: micromolare, micromolare; nM: nanomolare, nanomolare
    UFC: unità formante colonia, unità formanti colonia, f
    µUI: microunità internazionale, microunità internazionali, f
    μUI: microunità internazionale, microunità internazionali, f; mU: milliunità, milliunità, f
    µU: microunità, microunità, f; μU: microunità, microunità, f; mUI: milliunità, milliunità, f
    cmH2O: centimetro d'acqua, centimetri d'acqua; Gy: gray, gray; mGy: milligray, milligray; Sv: sievert, sievert
    µSv: microsievert, microsievert; Bq: becquerel, becquerel; kBq: chilobecquerel, chilobecquerel
    MBq: megabecquerel, megabecquerel; daN: decanewton, decanewton; THz: terahertz, terahertz
    pF: picofarad, picofarad; nF: nanofarad, nanofarad; µF: microfarad, microfarad; mF: millifarad, millifarad
    mT: millitesla, millitesla; µT: microtesla, microtesla; GPa: gigapascal, gigapascal; MPa: megapascal, megapascal
    µA: microampere, microampere; kA: chiloampere, chiloampere; µV: microvolt, microvolt; mΩ: milliohm, milliohm
    µW: microwatt, microwatt; TW: terawatt, terawatt
    tep: tonnellata equivalente di petrolio, tonnellate equivalenti di petrolio, f
    Mtep: milione di tonnellate equivalenti di petrolio, milioni di tonnellate equivalenti di petrolio
    Mt: milione di tonnellate, milioni di tonnellate; Gt: miliardo di tonnellate, miliardi di tonnellate
    dBA: decibel A, decibel A; dB(A): decibel A, decibel A; dBm: decibel milliwatt, decibel milliwatt
    J·s: joule per secondo, joule per secondo; eV·s: elettronvolt per secondo, elettronvolt per secondo
    N·m: newton metro, newton metro; N.m: newton metro, newton metro; kN·m: chilonewton metro, chilonewton metro
    Pa·s: pascal secondo, pascal secondo; GeV: gigaelettronvolt, gigaelettronvolt
    TeV: teraelettronvolt, teraelettronvolt; kgCO2: chilo di C O due, chili di C O due; stag: stagione, stagioni, f
    ast: astenuto, astenuti; emend: emendamento, emendamenti; vitt: vittoria, vittorie, f
    sconf: sconfitta, sconfitte, f; pareg: pareggio, pareggi; compr: compressa, compresse, f; spr: spruzzo, spruzzi
    nebul: nebulizzazione, nebulizzazioni, f; mest: mestolo, mestoli; tazz: tazza, tazze, f
    vasch: vaschetta, vaschette, f; bamb: bambino, bambini; osp: ospite, ospiti; nott: notte, notti, f
    abb: abbonato, abbonati; visual: visualizzazione, visualizzazioni, f; cucch.ni: cucchiaino, cucchiaini
    cucch.no: cucchiaino, cucchiaini; all: allegato, allegati; reg: regione, regioni, f; prov: provincia, province, f
    com: comune, comuni; req: richiesta, richieste, f; tent: tentativo, tentativi; doc: documento, documenti
    ad: adulto, adulti; cop: coperto, coperti
    rec: recensione, recensioni, f; add: addetto, addetti; rit: ritardo, ritardi
    kcal/h: chilocaloria all'ora, chilocalorie all'ora, f; vol/h: volume all'ora, volumi all'ora
    """
)
