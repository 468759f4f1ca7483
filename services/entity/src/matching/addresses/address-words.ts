import anyAscii from "any-ascii";
import { stateCodes } from "../places.ts";
import { wordList } from "../word-list.ts";

const maxWords = 80;
/** Words before a number that a hyphen may join to it: units, roads, boxes and the states whose roads have numbers. */
const numbered = [
  ...wordList("SUITE STE APT UNIT RM ROOM BLDG BOX HIGHWAY HWY ROUTE RTE RT INTERSTATE IH I US SR CR FM RM SH CH"),
  ...stateCodes,
].join("|");
const hyphenated = new RegExp(`\\b(${numbered})-(?=\\d)`, "g");
const writtenRange = /\b(\d{2,6})\s?(?:-|\/|TO|THRU|THROUGH)\s?(\d{2,6})\b/g;
const unitOfNumber = /\b(SUITE|STE|APT|UNIT|RM|ROOM|BLDG)(?=\d)/g;

/** The words of an address, upper case and without punctuation, as they were written. */
export interface AddressWords {
  readonly words: readonly string[];
  /** Positions of the words after a comma, a line break or the like. */
  readonly breaks: ReadonlySet<number>;
}

const fractions: Readonly<Record<string, string>> = { "½": " 1/2 ", "¼": " 1/4 ", "¾": " 3/4 " };

/** The texts split last: a load splits each street twice, and cities again and again. */
const splits = new Map<string, AddressWords>();
const MAX_SPLITS = 5_000;

/**
 * Splits an address into at most 80 words. A house number with a hyphen or a fraction is one word (`37-28`, `1/2`), so is
 * `N.W.` (NW); `P.O. Box` becomes PO BOX, and a number sign is a word.
 */
export function splitAddress(text: string): AddressWords {
  const known = splits.get(text);
  if (known) return known;
  if (splits.size === MAX_SPLITS) splits.clear();
  const split = splitText(text);
  splits.set(text, split);
  return split;
}

function splitText(text: string): AddressWords {
  const plain = toAscii(text)
    .toUpperCase()
    .replace(/['`]/g, "")
    .replace(/\b(?:POST OFFICE|P\s?\.?\s?O\.?)[\s,]*(BOX|DRAWER)\b/g, " PO BOX ")
    .replace(/\b(?:POB|POBOX)\b/g, " PO BOX ")
    .replace(/\b(?:[A-Z]\.){2,}(?:[A-Z]\b)?/g, (initials) => `${initials.replaceAll(".", "")} `)
    .replace(/\b([NS])\.?\s([EW])\b\.?(?!\s*(?:ST|AVE|STREET|AVENUE)\b)/g, "$1$2 ")
    .replace(writtenRange, "$1-$2")
    .replace(unitOfNumber, "$1 ")
    .replace(hyphenated, "$1 ")
    .replace(/#/g, " # ");
  const words: string[] = [];
  const breaks = new Set<number>();
  for (const segment of plain.split(/[,;|()\r\n]|\s-+|-+\s/)) {
    const own = segment.match(/\d+\/\d+|[A-Z]*\d[A-Z0-9]*(?:-[A-Z0-9]+)*|[A-Z]{1,2}-\d[A-Z0-9-]*|[A-Z]+|#/g) ?? [];
    if (own.length === 0) continue;
    if (words.length > 0) breaks.add(words.length);
    words.push(...own);
  }
  return { words: words.slice(0, maxWords), breaks };
}

function toAscii(text: string): string {
  if (/^[ -~]*$/.test(text)) return text;
  return anyAscii(text.replace(/[½¼¾]/g, (fraction) => fractions[fraction]!));
}
