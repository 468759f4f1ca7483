import { wordList } from "../word-list.ts";

/**
 * Legal forms and their spellings in normalized words (lower case, initials joined, accents off). Several words before
 * the colon are several forms. US forms come first, then the foreign ones most frequent in US registries and their lists.
 * Their words are also written short (`shortWords`). Forms in other scripts are in `native-forms.ts`. `spa` is left out:
 * in US names it is a spa.
 */
const lines = `
  inc: inc, incorporated, incorporation, incorp
  corp: corp, corporation, corporations, corpn
  co: co, company, comp
  llc: llc, lc, limited liability company
  llp: llp, limited liability partnership
  lllp: lllp, limited liability limited partnership
  lp: lp, limited partnership
  gp: general partnership
  ltd: ltd, limited, limited liability, lmtd, ltd sti, limited sirketi
  pc: pc, professional corporation
  pa: pa, professional association
  pllc: pllc, professional limited liability company, professional llc
  na: na, national association
  nfp: nfp, not for profit
  plc: plc, public limited company, public limited, public company limited, pcl
  pty: pty, proprietary
  pvt ltd: pvt limited, private limited
  pvt: pvt
  pte: pte
  gmbh: gmbh, mbh, gesellschaft mit beschrankter haftung, gesellschaft mit beschraenkter haftung
  ag: ag, aktiengesellschaft, aktiengeselschaft
  kg: kg, kommanditgesellschaft
  kgaa: kgaa, kommanditgesellschaft auf aktien
  ohg: ohg, offene handelsgesellschaft
  eg: eingetragene genossenschaft
  ev: eingetragener verein
  se: se, societas europaea
  sa: sa, societe anonyme, sociedad anonima, sociedade anonima, spolka akcyjna, anonim sirketi
  sa cv: sa de cv, sacv, sociedad anonima de capital variable
  srl cv: s de rl de cv, sociedad de responsabilidad limitada de capital variable
  sas: sas, societe par actions simplifiee, sociedad por acciones simplificada
  sarl: sarl, societe a responsabilite limitee, eurl
  srl: srl, societa a responsabilita limitata, sociedad de responsabilidad limitada, societatea cu raspundere limitata
  spa: societa per azioni
  sl: sl, slu, sociedad limitada
  ltda: ltda, lda, limitada, sociedade limitada
  bv: bv, besloten vennootschap, besloten vennootschap met beperkte aansprakelijkheid
  nv: nv, naamloze vennootschap
  bvba: bvba, sprl, societe privee a responsabilite limitee
  ab: ab, abp, aktiebolag, aktiebolaget
  as: as, aksjeselskap, aktieselskab, aktieselskabet, akciova spolecnost
  asa: asa, allmennaksjeselskap
  aps: aps, anpartsselskab
  oy: oy, osakeyhtio
  oyj: oyj, julkinen osakeyhtio
  kk: kk, kabushiki kaisha, kabushiki gaisha
  gk: godo kaisha
  sdn bhd: sdn bhd, sendirian berhad
  bhd: bhd, berhad
  tbk: tbk
  persero: persero
  ooo: ooo, obshchestvo s ogranichennoy otvetstvennostyu, tovarystvo z obmezhenoyu vidpovidalnistyu
  zao: zao, cjsc, closed joint stock company, zakrytoe aktsionernoe obshchestvo
  oao: oao, ojsc, open joint stock company, otkrytoe aktsionernoe obshchestvo
  pao: pao, pjsc, public joint stock company, publichnoe aktsionernoe obshchestvo
  jsc: jsc, joint stock company, aktsionernoe obshchestvo, aktsionerne tovarystvo
  uab: uab, uzdaroji akcine bendrove
  sia: sia, sabiedriba ar ierobezotu atbildibu
  ou: ou, osauhing
  spzoo: sp zoo, sp z oo, spolka zoo, spolka z oo, spolka z ograniczona odpowiedzialnoscia
  sro: sro, spolecnost s rucenim omezenym, spol sro, spol s ro
  doo: doo, drustvo s ogranicenom odgovornoscu
  ood: ood, eood
  kft: kft, korlatolt felelossegu tarsasag
  zrt: zrt, nyrt, reszvenytarsasag
  fze: fze, fzco, fzc, free zone establishment, free zone company
  wll: wll
  snc: snc
`;

/** Phrases that come before the name, whatever comes after it. */
const leadingLines = `
  tnhh: cong ty tnhh, cong ty tnhh mtv, cong ty tnhh mot thanh vien, cong ty trach nhiem huu han
  jsc: cong ty co phan, cong ty cp, ctcp
  co: cong ty
  persero: perusahaan perseroan persero pt, perusahaan perseroan persero, perusahaan perseroan pt
`;

/** Words that are a legal form before a name with one of these forms at its end ("S.C. Lorwin S.R.L."). */
export const formsAround: Readonly<Record<string, readonly string[]>> = {
  sc: wordList("srl sa snc"),
  pt: wordList("tbk persero"),
  oy: wordList("ab"),
};

/** Several forms that are one: without one of them they are the form of another company. */
export const compoundForms: ReadonlySet<string> = new Set(
  `co kg, gmbh co kg, ag co kg, co kgaa, gmbh co kgaa, ag co kgaa, se co kgaa, co ohg, gmbh co ohg, pty ltd, pvt ltd, pte ltd,
  ltd co, sdn bhd, sa cv, srl cv, sa nv, nv sa, oy ab, persero tbk`.split(/,\s+/),
);

type Spellings = readonly (readonly [forms: string, spellings: readonly string[]])[];

function spellingsOf(text: string): Spellings {
  const parsed = text
    .trim()
    .split("\n")
    .map((line) => line.trim().split(": "));
  return parsed.map(([forms, spellings]) => [forms!, spellings!.split(", ")]);
}

export const legalFormSpellings = spellingsOf(lines);
export const leadingSpellings = spellingsOf(leadingLines);

/** Words of legal forms and how they are written short, in forms of several words. */
const shortWords: Readonly<Record<string, readonly string[]>> = {
  company: ["company", "co", "comp"],
  corporation: ["corporation", "corp"],
  limited: ["limited", "ltd"],
  liability: ["liability", "liab"],
  professional: ["professional", "prof"],
  national: ["national", "natl"],
  association: ["association", "assn"],
};

/** A spelling with each of its words written in full or short. */
export function shortened(spelling: string): string[] {
  const ways = spelling.split(" ").map((word): readonly string[] => shortWords[word] ?? [word]);
  if (ways.length === 1) return [spelling];
  return ways.reduce<string[]>(
    (all, words) => all.flatMap((text) => words.map((word) => `${text} ${word}`.trim())),
    [""],
  );
}

/** What forms of different countries have in common: liability limited by shares, by membership, or a partnership. */
export const legalFormClasses: readonly (readonly string[])[] = [
  wordList(`
    inc corp co plc ag se sa cv nv ab as asa oyj oy kk tbk persero zao oao pao jsc zrt spa kgaa
  `),
  wordList(`
    llc ltd pllc pty pvt pte gmbh sas sarl srl sl ltda bv bvba aps gk yk sdn bhd ooo uab sia ou spzoo sro doo ood kft fze wll
    tnhh ike
  `),
  wordList("llp lllp lp gp kg ohg snc"),
];
