import { wordList, wordTable } from "../word-list.ts";

/**
 * USPS abbreviations (Publication 28, appendices B and C2, with the spellings that it lists as common): each line has
 * the abbreviation and its spellings.
 */
function table(lines: string): ReadonlyMap<string, string> {
  return new Map(wordTable(lines).flatMap((words) => words.map((word) => [word, words[0]!])));
}

/** Suffixes that rarely mean anything else after a name. */
const plainSuffixes = table(`
  ALY ALLEY ALLEE ALLY
  ARC ARCADE
  AVE AVENUE AV AVEN AVENU AVN AVNUE
  BLVD BOULEVARD BOUL BOULV BLV BVD
  BYP BYPASS BYPA BYPS
  CIR CIRCLE CIRC CIRCL CRCL CRCLE
  CSWY CAUSEWAY CAUSWA
  CT COURT CRT
  CTS COURTS
  CV COVE
  DR DRIVE DRIV DRV
  EXPY EXPRESSWAY EXP EXPR EXPRESS EXPW EXPWY
  FWY FREEWAY FREEWY FRWAY FRWY
  HWY HIGHWAY HIGHWY HIWAY HIWY HWAY
  LN LANE LANES LNE
  LOOP LOOPS
  MEWS
  MTWY MOTORWAY
  OPAS OVERPASS
  PASS PASSAGE
  PATH PATHS
  PIKE PIKES
  PKWY PARKWAY PARKWY PKWAY PKY PKWYS PARKWAYS PAKWAY
  PL PLACE PLC
  PLZ PLAZA PLZA
  RD ROAD RDS ROADS
  ROW
  RTE ROUTE
  RUN
  SKWY SKYWAY
  SQ SQUARE SQR SQRE SQU SQS
  ST STREET STR STRT STRE STS STREETS
  TER TERRACE TERR
  TPKE TURNPIKE TRNPK TURNPK TPK
  TRCE TRACE TRACES
  TRL TRAIL TRAILS TRLS TR
  WALK WALKS
  WAY WY WAYS
  XING CROSSING CRSSNG
`);

/** Suffixes that are as often part of a street's or a city's name: Cottage Grove, Palm Springs. */
const nameLikeSuffixes = table(`
  ANX ANNEX ANNX
  BCH BEACH
  BLF BLUFF BLUF
  BLFS BLUFFS
  BND BEND
  BR BRANCH BRNCH
  BRG BRIDGE BRDGE
  BRK BROOK
  BYU BAYOU
  CLB CLUB
  CLF CLIFF
  CLFS CLIFFS
  CMN COMMON
  CMNS COMMONS
  COR CORNER
  CORS CORNERS
  CP CAMP
  CPE CAPE
  CRES CRESCENT CRSENT CRSNT
  CRK CREEK
  CRST CREST
  CTR CENTER CENTRE CENT CENTR CNTER CNTR
  CTRS CENTERS
  CURV CURVE
  CYN CANYON CANYN CNYN
  DL DALE
  DM DAM
  EST ESTATE
  ESTS ESTATES
  EXT EXTENSION EXTN EXTNSN
  FLD FIELD
  FLDS FIELDS
  FLS FALLS
  FLT FLAT
  FLTS FLATS
  FRD FORD
  FRG FORGE
  FRK FORK
  FRKS FORKS
  FRST FOREST FORESTS
  FRY FERRY FRRY
  FT FORT FRT
  GDN GARDEN GARDN GRDEN GRDN
  GDNS GARDENS GRDNS
  GLN GLEN
  GRN GREEN
  GRV GROVE GROV
  GTWY GATEWAY GATEWY GATWAY GTWAY
  HBR HARBOR HARB HARBR HRBOR
  HL HILL
  HLS HILLS
  HOLW HOLLOW HLLW HOLLOWS
  HTS HEIGHTS
  HVN HAVEN
  INLT INLET
  IS ISLAND ISLND
  ISLE ISLES
  JCT JUNCTION JUNCTN JCTION
  KNL KNOLL
  KNLS KNOLLS
  LDG LODGE
  LGT LIGHT
  LK LAKE
  LKS LAKES
  LNDG LANDING LNDNG
  MALL
  MDW MEADOW
  MDWS MEADOWS MEDOWS
  ML MILL
  MLS MILLS
  MNR MANOR
  MNRS MANORS
  MSN MISSION MISSN
  MT MOUNT MNT
  MTN MOUNTAIN MNTN MNTAIN
  NCK NECK
  ORCH ORCHARD ORCHRD
  OVAL OVL
  PARK PARKS PRK
  PLN PLAIN
  PLNS PLAINS
  PNES PINES
  PR PRAIRIE PRR
  PRT PORT
  PT POINT
  PTS POINTS
  RAMP
  RDG RIDGE RDGE
  RDGS RIDGES
  RIV RIVER RVR RIVR
  RNCH RANCH RANCHES
  RPD RAPID
  RPDS RAPIDS
  RST REST
  SHLS SHOALS
  SHR SHORE
  SHRS SHORES
  SMT SUMMIT SUMIT
  SPG SPRING SPNG
  SPGS SPRINGS SPNGS
  SPUR SPURS
  STA STATION STATN STN
  STRA STRAVENUE
  STRM STREAM STREME
  TRAK TRACK TRACKS
  TUNL TUNNEL TUNNL
  UN UNION
  VIA VIADUCT
  VIS VISTA VIST
  VL VILLE
  VLG VILLAGE VILLAG VILLG
  VLY VALLEY VALLY
  VLYS VALLEYS
  VW VIEW
  VWS VIEWS
  WL WELL
  WLS WELLS
`);

const directionNames = table(`
  N NORTH NO
  S SOUTH SO
  E EAST
  W WEST
  NE NORTHEAST
  NW NORTHWEST
  SE SOUTHEAST
  SW SOUTHWEST
`);

/** Secondary units (appendix C2). */
const units = table(`
  APT APARTMENT APPT FLAT
  BLDG BUILDING BLD BLG
  DEPT DEPARTMENT
  FL FLOOR FLR
  HNGR HANGAR
  LOT
  MS MAILSTOP MSC
  OFC OFFICE
  PIER
  PMB
  RM ROOM
  SLIP
  SPC SPACE
  STE SUITE SUITES STES
  STOP
  TRLR TRAILER
  UNIT
  WING
  TOWER TWR
  LEVEL LVL
  BIN
  BSMT BASEMENT
  CODE
  CONDO CONDOMINIUM
  FILE
  MAILBOX
  MC MAILCODE
  FRNT FRONT
  LBBY LOBBY
  LOWR LOWER
  PH PENTHOUSE
  REAR
  SIDE
  UPPR UPPER
`);

/** Abbreviations in names of cities. */
const cityWords = table(`
  ST SAINT
  STE SAINTE
  CO COUNTY
  TWP TOWNSHIP
`);

const cardinals = wordList("ONE TWO THREE FOUR FIVE SIX SEVEN EIGHT NINE TEN");
const ordinals = wordList(`
  FIRST SECOND THIRD FOURTH FIFTH SIXTH SEVENTH EIGHTH NINTH TENTH ELEVENTH TWELFTH THIRTEENTH FOURTEENTH FIFTEENTH
  SIXTEENTH SEVENTEENTH EIGHTEENTH NINETEENTH
`);
const tens = wordList("TWENTY THIRTY FORTY FIFTY SIXTY SEVENTY EIGHTY NINETY");

const numberWords = new Map<string, string>([
  ...cardinals.map((word, index) => [word, String(index + 1)] as const),
  ...ordinals.map((word, index) => [word, ordinal(index + 1)] as const),
  ...tens.map((word, index) => [word.replace(/Y$/, "IETH"), ordinal(20 + index * 10)] as const),
]);

function ordinal(value: number): string {
  const teen = value % 100 > 10 && value % 100 < 20;
  return `${value}${(!teen && ["TH", "ST", "ND", "RD"][value % 10]) || "TH"}`;
}

/** A street suffix in USPS form; undefined for any other word. All words of this file are upper case. */
export function suffixOf(word: string): string | undefined {
  return plainSuffixes.get(word) ?? nameLikeSuffixes.get(word);
}

/** True for a suffix that is rarely part of a name. */
export function isPlainSuffix(word: string): boolean {
  return plainSuffixes.has(word);
}

/** A direction in USPS form (`N`, `SW`). */
export function directionOf(word: string): string | undefined {
  return directionNames.get(word);
}

/** A unit designator in USPS form. */
export function unitOf(word: string): string | undefined {
  return units.get(word);
}

/** "1ST" for FIRST, "7" for SEVEN, "21ST" for TWENTY before FIRST; undefined for other words. */
export function numberOf(word: string, next?: string): { digits: string; length: number } | undefined {
  const ten = tens.indexOf(word);
  const unit = next === undefined ? -1 : ordinals.slice(0, 9).indexOf(next);
  if (ten >= 0 && unit >= 0) return { digits: ordinal((ten + 2) * 10 + unit + 1), length: 2 };
  const digits = numberWords.get(word);
  return digits === undefined ? undefined : { digits, length: 1 };
}

/** A word in USPS form; "" for "No." and "Number". */
function uspsWord(word: string): string {
  if (word === "NUMBER" || word === "NO") return "";
  return directionOf(word) ?? suffixOf(word) ?? unitOf(word) ?? cityWords.get(word) ?? word;
}

/**
 * Words in USPS form: suffixes, directions and units abbreviated, FIRST as 1ST, `37-28` as `3728`, without number signs.
 */
export function uspsWords(words: readonly string[]): string[] {
  const found: string[] = [];
  for (let at = 0; at < words.length; ) {
    const word = words[at]!;
    const number = numberOf(word, words[at + 1]);
    const form = number?.digits ?? (word === "#" ? "" : uspsWord(word.replaceAll("-", "")));
    if (form !== "") found.push(form);
    at += number?.length ?? 1;
  }
  return found;
}
