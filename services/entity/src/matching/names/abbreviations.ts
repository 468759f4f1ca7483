import { wordTable } from "../word-list.ts";

/**
 * Words, each with its abbreviations and other spellings. An abbreviation with several meanings is in several lines, the
 * preferred meaning first; names agree when any of the meanings does.
 */
const spellings = wordTable(`
  academy acad
  accounting acctg
  administration admin
  administrative admin
  advanced adv
  advertising adv
  agency agcy
  agriculture agri
  agricultural agri
  american amer
  america amer
  applied appl
  appliance appl
  architects arch
  architecture arch
  architectural arch
  assistance asst
  associates assoc assocs
  association asso assn assoc
  authority auth
  automotive auto
  automobile auto
  broadcasting brdcst
  brothers bros
  builders bldrs
  building bldg
  business bus
  capital cap
  center centre cntr ctr
  central cent
  chemical chem
  chemicals chem
  college coll
  communications comm comms
  commercial comm comml
  community cmty comm
  companies cos
  company co
  computer comp
  conference conf
  consulting cons consult
  construction cons const constr
  contractors contr
  contracting contr
  control ctrl
  cooperative coop
  corporation corp
  corporate corp
  county cty
  department dept
  development dev devel
  distribution dist distrib distr
  district dist
  distributors dist distrib distr
  division div
  education ed educ
  educational educ
  electric elec electr
  electrical elec
  electronics elec electr
  emergency emer
  engineering eng engr engrg
  engineers engrs
  enterprises enterp entpr
  environmental env envir environ
  equipment eqpt equip
  executive exec
  fabrication fab
  federal fed
  financial fin finl fncl
  fort ft
  foundation fdn fnd
  general gen
  government govt gov
  group gp grp
  health hlth
  heights hts
  highway hwy
  holding hldg
  holdings hldgs
  hospital hosp
  industries inds ind
  industrial ind
  information info
  institute inst
  instruments inst
  insurance ins
  international intl internatl intern
  investments inv invs
  junior jr
  labor labour
  laboratory lab
  laboratories lab labs
  library lib
  logistics log
  machine mach
  machinery mach
  maintenance maint
  management mgmt mgt
  manufacturer mfgr mfr
  manufacturers mfrs
  manufacturing mfg mnfg manuf
  market mkt
  marketing mktg
  medical med
  memorial mem
  metropolitan metro
  mount mt
  mountain mtn
  municipal mun
  national nat natl
  organization org organisation
  partners ptnrs ptrs
  pharmacy phar pharm
  pharmaceuticals pharm
  physical phys
  physicians phys
  products prod prods
  productions prod
  professional prof
  program prog programme
  property prop
  properties prop props
  public pub
  publishing pub
  rehabilitation rehab
  research res
  resources res
  restaurant rest
  road rd
  saint st
  school sch
  science sci
  scientific sci
  security sec
  senior sr
  services ser serv servs srv srvcs srvces srvs svcs svs
  service serv srv srvc svc
  society soc
  solutions sol solns
  station sta
  street st
  state st
  supply sup
  surgical surg
  systems sys syst
  system sys syst
  technology tech technol
  technologies tech techs technol
  technical tech
  telecommunications telecom
  telephone tel
  theater theatre
  township twp
  transportation trans transp
  transport trans
  university univ
  utilities util
  veterinary vet
  veterans vet
  warehouse whse
  wholesale whsl
  works wks
`);

/** Words that are also abbreviations, but only at the end of a name or before its legal form; elsewhere they are the word. */
const spellingsAtEnd = wordTable(`
  international int
  enterprises ent
  entertainment ent
  man man
  manufacturing man
`);

const expansions = expansionsIn(spellings);
const expansionsAtEnd = new Map([...expansions, ...expansionsIn(spellingsAtEnd)]);

const shortForms = new Map([...spellings, ...spellingsAtEnd].map(([word, ...forms]) => [word!, forms]));

function expansionsIn(table: readonly (readonly string[])[]): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const [word, ...shortForms] of table) {
    for (const short of shortForms) found.set(short, [...(found.get(short) ?? []), word!]);
  }
  return found;
}

/** The words that an abbreviation may stand for; any other word stands for itself. */
export function expand(word: string, isAtEnd = false): readonly string[] {
  return (isAtEnd ? expansionsAtEnd : expansions).get(word) ?? [word];
}

/** The abbreviations and other spellings of a word. */
export function spellingsOf(word: string): readonly string[] {
  return shortForms.get(word) ?? [];
}

/** True when one of two words is an abbreviation that may stand for the other. */
export function isAbbreviationOf(a: string, b: string): boolean {
  return a !== b && (expand(a, true).includes(b) || expand(b, true).includes(a));
}
