import { wordList } from "../word-list.ts";

/**
 * Legal forms and their spellings in normalized words (lower case, initials joined, accents off). Several words before
 * the colon are several forms. US forms come first, then the foreign ones most frequent in US registries and their lists.
 * `spa` is left out: in US names it is a spa.
 */
const lines = `
  inc: inc, incorporated, incorporation, incorp
  corp: corp, corporation, corporations
  co: co, company
  llc: llc, lc, limited liability company, limited liability co, ltd liability co, ltd liability company
  llp: llp, limited liability partnership
  lllp: lllp, limited liability limited partnership
  lp: lp, limited partnership, ltd partnership
  gp: general partnership
  ltd: ltd, limited, ltd liability, lmtd
  pc: pc, professional corporation, prof corp
  pa: pa, professional association
  pllc: pllc, professional limited liability company, professional llc
  na: na, national association
  nfp: nfp, not for profit
  plc: plc, public limited company, public ltd company, public limited
  pty: pty, proprietary
  pvt ltd: pvt ltd, pvt limited, private limited, private ltd
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
  societa per azioni: societa per azioni
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
  ooo: ooo, obshchestvo s ogranichennoy otvetstvennostyu, tovarystvo z obmezhenoyu vidpovidalnistyu
  zao: zao, cjsc, closed joint stock company, zakrytoe aktsionernoe obshchestvo
  oao: oao, ojsc, open joint stock company, otkrytoe aktsionernoe obshchestvo
  pao: pao, pjsc, public joint stock company, publichnoe aktsionernoe obshchestvo
  jsc: jsc, joint stock company, aktsionernoe obshchestvo, aktsionerne tovarystvo
  uab: uab, uzdaroji akcine bendrove
  sia: sabiedriba ar ierobezotu atbildibu
  spzoo: sp zoo, spolka z ograniczona odpowiedzialnoscia
  sro: sro, spolecnost s rucenim omezenym, spol sro
  doo: doo, drustvo s ogranicenom odgovornoscu
  ood: ood, eood
  kft: kft, korlatolt felelossegu tarsasag
  zrt: zrt, nyrt, reszvenytarsasag
  fze: fze, fzco, fzc, free zone establishment, free zone company
  wll: wll
`;

export const legalFormSpellings: readonly (readonly [forms: string, spellings: readonly string[]])[] = lines
  .trim()
  .split("\n")
  .map((line) => line.trim().split(": "))
  .map(([forms, spellings]) => [forms!, spellings!.split(", ")]);

/** What forms of different countries have in common: liability limited by shares, by membership, or a partnership. */
export const legalFormClasses: readonly (readonly string[])[] = [
  wordList(`
    inc corp co plc ag se sa cv nv ab as asa oyj oy kk tbk zao oao pao jsc zrt societa per azioni kgaa
  `),
  wordList(`
    llc ltd pllc pty pvt pte gmbh sas sarl srl sl ltda bv bvba aps gk sdn bhd ooo uab sia spzoo sro doo ood kft fze wll
  `),
  wordList("llp lllp lp gp kg ohg"),
];
