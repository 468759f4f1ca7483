import { type Random, randomOf } from "./random.ts";
import * as words from "./words.ts";

/** A made-up name: the part before the legal form, and the form as it is written, "" for none. */
export interface MadeName {
  readonly core: string;
  readonly form: string;
}

/** The names of a registry of any size. Each name depends only on its index. */
export interface NameModel {
  nameAt(index: number): MadeName;
}

/** Shares of near-duplicates: the same core with another legal form, and the same name of another registrant. */
const OTHER_FORM_SHARE = 0.015;
const SAME_NAME_SHARE = 0.003;

const NAMES = 1;

/** Creates names with the proportions of a registry. `coreOf` makes an original name. */
export function createNameModel(seed: number, coreOf: (random: Random) => MadeName = madeUp): NameModel {
  const original = (index: number) => coreOf(randomOf(seed, NAMES, index));
  return {
    nameAt(index) {
      const random = randomOf(seed, NAMES + 1, index);
      if (index > 0 && random.chance(OTHER_FORM_SHARE)) {
        return { core: original(random.below(index)).core, form: legalForm(random) };
      }
      if (index > 0 && random.chance(SAME_NAME_SHARE)) return original(random.below(index));
      return original(index);
    },
  };
}

export function textOf({ core, form }: MadeName): string {
  return `${core}${form}`;
}

export function legalForm(random: Random): string {
  let left = random.below(100);
  for (const [share, form] of words.legalForms) {
    left -= share;
    if (left < 0) return form;
  }
  return "";
}

const patterns: readonly (readonly [share: number, make: (random: Random) => MadeName])[] = [
  [11, (random) => company(random, `${surname(random)} ${trade(random)}`)],
  [9, (random) => company(random, `${brand(random)} ${trade(random)}`)],
  [7, (random) => company(random, `${image(random)} ${trade(random)} ${trade(random)}`)],
  [9, (random) => company(random, `${surname(random)} ${trade(random)} ${trade(random)}`)],
  [8, (random) => company(random, `${image(random)} ${image(random)} ${trade(random)}`)],
  [6, (random) => company(random, `${surname(random)} ${surname(random)} ${trade(random)}`)],
  [6, (random) => company(random, `${place(random)} ${image(random)} ${trade(random)} ${trade(random)}`)],
  [6, (random) => company(random, `${brand(random)} ${random.zipf(words.qualifiers, 10)} ${trade(random)}`)],
  [6, (random) => company(random, brand(random))],
  [4, (random) => company(random, `${initials(random)} ${surname(random)} ${trade(random)}`)],
  [5, (random) => company(random, `${surname(random)} ${random.pick(["&", "AND"])} ${partner(random)}`)],
  [4, (random) => company(random, `${random.zipf(words.givenNames, 20)} ${surname(random)} ${trade(random)}`)],
  [3, proprietor],
  [5, institution],
  [4, (random) => company(random, `${image(random)} ${trade(random)} ${trade(random)} OF ${place(random)}`)],
  [4, (random) => company(random, `${surname(random)} ${image(random)} ${trade(random)} ${trade(random)}`)],
  [3, (random) => company(random, `${brand(random)} ${trade(random)} ${numeral(random)}`)],
];

function madeUp(random: Random): MadeName {
  let left = random.below(100);
  for (const [share, make] of patterns) {
    left -= share;
    if (left < 0) return make(random);
  }
  return proprietor(random);
}

function company(random: Random, core: string): MadeName {
  if (random.chance(0.02)) return { core, form: `${legalForm(random).replace(/^,/, "")}, THE` };
  return { core, form: legalForm(random) };
}

/** Returns a person's name as the registry writes it: surname first. */
function proprietor(random: Random): MadeName {
  const middle = random.chance(0.5) ? ` ${letter(random)}` : "";
  return { core: `${surname(random)}, ${random.zipf(words.givenNames, 8)}${middle}`, form: "" };
}

function institution(random: Random): MadeName {
  const where = place(random);
  const core = random.pick([
    `CITY OF ${where}`,
    `TOWN OF ${surname(random)}`,
    `COUNTY OF ${surname(random)}`,
    `UNIVERSITY OF ${random.zipf(words.states)} ${where}`,
    `${surname(random)} COUNTY SCHOOL DISTRICT ${random.below(90) + 1}`,
    `${where} HOUSING AUTHORITY`,
    `${where} COMMUNITY COLLEGE`,
    `${surname(random)} VOLUNTEER FIRE DEPARTMENT`,
    `${random.zipf(words.ordinals)} BAPTIST CHURCH OF ${where}`,
    `${surname(random)} FAMILY FOUNDATION`,
    `ST ${random.zipf(words.givenNames)} HOSPITAL OF ${where}`,
    `${where} ${random.zipf(words.trades)} ASSOCIATION`,
  ]);
  return { core, form: random.chance(0.25) ? " INC" : "" };
}

function trade(random: Random): string {
  return random.zipf(words.trades, 14);
}

/** Returns an ordinary word: in a quarter of the cases a rare one, else a frequent one. */
function image(random: Random): string {
  if (random.chance(0.25)) return `${random.pick(words.images.filter(isOneWord))}${random.pick(words.surnameEnds)}`;
  return random.zipf(words.images, 40);
}

function isOneWord(text: string): boolean {
  return !text.includes(" ");
}

/** Returns a surname: in a third of the cases a common one, else one of the long tail that real names have. */
export function surname(random: Random): string {
  if (random.chance(0.3)) return random.zipf(words.commonSurnames, 60);
  const prefix = random.chance(0.05) ? random.pick(["MC", "O'", "DE LA ", "VAN ", "AL"]) : "";
  return `${prefix}${random.zipf(words.surnameStarts, 80)}${random.pick(words.surnameMiddles)}${random.zipf(words.surnameEnds, 60)}`;
}

function brand(random: Random): string {
  if (random.chance(0.1)) return `${random.zipf(words.images, 30)}${random.zipf(words.brandEnds, 30)}`;
  const start = random.zipf(words.brandStarts, 40);
  return `${start}${random.pick(words.brandMiddles)}${random.zipf(words.brandEnds, 30)}`;
}

function place(random: Random): string {
  if (random.chance(0.25)) return random.zipf(words.states, 10);
  return random.zipf(words.cities, 15).split(":")[0]!;
}

function partner(random: Random): string {
  return random.chance(0.4) ? random.pick(["SONS", "ASSOCIATES", "COMPANY", "DAUGHTERS"]) : surname(random);
}

function initials(random: Random): string {
  const letters = Array.from({ length: 2 + random.below(3) }, () => letter(random));
  if (random.chance(0.1)) return letters.map((each) => `${each}.`).join("");
  return random.chance(0.15) ? letters.slice(0, 2).join(" & ") : letters.join("");
}

function letter(random: Random): string {
  return "ABCDEFGHIJKLMNOPRSTVWYZ"[random.below(23)]!;
}

function numeral(random: Random): string {
  return random.chance(0.4) ? random.pick(["II", "III", "IV", "V"]) : String(1 + random.below(400));
}
