/** Characters by the names that HTML gives them, without those that are a letter with an accent. */
const NAMED: Readonly<Record<string, string>> = {
  amp: "&",
  quot: '"',
  apos: "'",
  lt: "<",
  gt: ">",
  nbsp: " ",
  ensp: " ",
  emsp: " ",
  shy: "",
  lsquo: "‘",
  rsquo: "’",
  ldquo: "“",
  rdquo: "”",
  laquo: "«",
  raquo: "»",
  ndash: "–",
  mdash: "—",
  hellip: "…",
  middot: "·",
  bull: "•",
  copy: "©",
  reg: "®",
  trade: "™",
  ordf: "ª",
  ordm: "º",
  szlig: "ß",
  aelig: "æ",
  oelig: "œ",
  oslash: "ø",
  eth: "ð",
  thorn: "þ",
  inodot: "ı",
  lstrok: "ł",
  dstrok: "đ",
};
/** Accents by the ends of such names, as in `eacute`. */
const ACCENTS: Readonly<Record<string, string>> = {
  grave: "\u0300",
  acute: "\u0301",
  circ: "\u0302",
  tilde: "\u0303",
  macr: "\u0304",
  breve: "\u0306",
  dot: "\u0307",
  uml: "\u0308",
  ring: "\u030a",
  dblac: "\u030b",
  caron: "\u030c",
  cedil: "\u0327",
  ogon: "\u0328",
};

/** An entity; `&amp` is often found without its semicolon, also in capitals. */
const ENTITY = /&(?:#(\d{1,7}|x[0-9a-f]{1,6});?|([a-z]{2,8});|(amp)\b)/gi;
const ACCENTED = new RegExp(`^([a-z])(${Object.keys(ACCENTS).join("|")})$`, "i");

/** What bytes 0x80 to 0x9F are in Windows-1252; in Latin-1, and where it has none, they are control characters. */
export const WINDOWS_1252 = "€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008dŽ\u008f\u0090‘’“”•–—˜™š›œ\u009džŸ";
const BYTE_OF: ReadonlyMap<string, number> = new Map([...WINDOWS_1252].map((sign, index) => [sign, 0x80 + index]));
const CONTINUATION = `[\\u0080-\\u00bf${WINDOWS_1252}]`;
/** Bytes of one character in UTF-8, each read as a character. */
const SEQUENCE = new RegExp(
  `[\\u00c2-\\u00df]${CONTINUATION}|[\\u00e0-\\u00ef]${CONTINUATION}{2}|[\\u00f0-\\u00f4]${CONTINUATION}{3}`,
  "gu",
);
/** Marks that may follow a capital letter with an accent without being its second byte, as in "CAFÉ®". */
const MARKS = /^[®™©’‘“”–—…•·»›°²³]+$/u;
const DECODER = new TextDecoder("utf-8", { fatal: true });

/** Control characters that no name contains, but which Latin-1 has for bytes of UTF-8. */
const C1 = /[\u0080-\u009f]/;
/** How the texts of US patents write a letter with an accent: `{umlaut over (n)}`. */
const SPELLED_ACCENT = /\{[a-z]{3,12} over \(([a-z])\)\}/gi;

/** Most names have none of these. */
const MAY_NEED_REPAIR = /[&{]|[^ -~]/;
/** What was encoded three times is left as it is after that. */
const MAX_ROUNDS = 4;

/**
 * Returns a name as it was before a system that passed it on damaged it: HTML entities ("A&amp;M") become their
 * characters, and UTF-8 that was read as Windows-1252 or Latin-1 ("NestlÃ©") is read right, also where that happened
 * several times. An accent that is spelled out ("{acute over (e)}") is dropped. What may be meant as it is ("CAFÉ®") stays.
 */
export function repairName(name: string): string {
  let repaired = name;
  for (let round = 0; round < MAX_ROUNDS && MAY_NEED_REPAIR.test(repaired); round++) {
    const next = withoutMojibake(withoutEntities(repaired)).replace(SPELLED_ACCENT, "$1");
    if (next === repaired) break;
    repaired = next;
  }
  return repaired;
}

/** Returns a text whose UTF-8 was read as control characters as it was before; any other text as it is. */
export function repairControls(text: string): string {
  return C1.test(text) ? repairName(text) : text;
}

function withoutEntities(text: string): string {
  if (!text.includes("&")) return text;
  return text.replaceAll(ENTITY, (entity, code: string | undefined, named: string | undefined) => {
    if (code !== undefined) return characterOf(code) ?? entity;
    return named === undefined ? "&" : (namedCharacter(named) ?? entity);
  });
}

/** Returns the character of a numeric entity; undefined for a code that is none. Spaces and controls become a space. */
function characterOf(code: string): string | undefined {
  const point = /^x/i.test(code) ? Number.parseInt(code.slice(1), 16) : Number(code);
  // As browsers do: these codes are meant in Windows-1252.
  if (point >= 0x80 && point <= 0x9f) return WINDOWS_1252[point - 0x80];
  if (point > 0x10ffff || (point >= 0xd800 && point <= 0xdfff)) return undefined;
  return point < 0x20 || point === 0x7f || point === 0xa0 ? " " : String.fromCodePoint(point);
}

function namedCharacter(name: string): string | undefined {
  const [, letter, accent] = ACCENTED.exec(name) ?? [];
  if (letter && accent) return `${letter}${ACCENTS[accent.toLowerCase()]}`.normalize("NFC");
  const lower = name.toLowerCase();
  const character = Object.hasOwn(NAMED, lower) ? NAMED[lower]! : undefined;
  return character !== undefined && name[0] !== lower[0] ? character.toUpperCase() : character;
}

function withoutMojibake(text: string): string {
  const found = text.match(SEQUENCE);
  if (!found) return text;
  const decoded = found.map(decode);
  // One sequence that can't be meant as it is shows how the whole name was damaged.
  const isDamaged = found.some((sequence, index) => isCertain(sequence, decoded[index]!)) || areLetters(decoded);
  let next = 0;
  return isDamaged ? text.replaceAll(SEQUENCE, () => decoded[next++]!) : text;
}

/** Returns the character of a sequence, or the sequence where it is none. */
function decode(sequence: string): string {
  const bytes = Uint8Array.from(sequence, (sign) => BYTE_OF.get(sign) ?? sign.charCodeAt(0));
  try {
    return DECODER.decode(bytes);
  } catch {
    return sequence;
  }
}

/**
 * Returns whether a sequence can only be a letter of a European language, a mark or a sign that was read wrong, as one with
 * control characters always is.
 */
function isCertain(sequence: string, decoded: string): boolean {
  if (C1.test(sequence)) return decoded !== sequence;
  if (/^[ÂÃâ]/u.test(sequence)) return /^[\u00a0-\u00ff\u2010-\u203a\u20ac\u2122]$|^[\u0080-\u009f]$/u.test(decoded);
  return /^[\u0100-\u017f\u0218-\u021b\u1e00-\u1eff\ufb00-\ufb06]$/u.test(decoded) && !MARKS.test(sequence.slice(1));
}

/** Returns whether there are several letters of one script that is not Latin, as in a whole word that was read wrong. */
function areLetters(decoded: readonly string[]): boolean {
  const scripts = [/^\p{Script=Greek}$/u, /^\p{Script=Cyrillic}$/u, /^\p{Script=Han}$/u, /^[\u3040-\u30ff]$/u];
  return [...scripts, /^\p{Script=Arabic}$/u, /^\p{Script=Hebrew}$/u, /^\p{Script=Hangul}$/u].some(
    (script) => decoded.filter((character) => script.test(character)).length >= 2,
  );
}
