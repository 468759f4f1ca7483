import { readVendorFile } from "../index.ts";
import { problemText } from "../problems.ts";

/** Bytes of a text in Windows-1252; of characters beyond Latin-1 it has these. */
export function windows1252(text: string): Uint8Array {
  const codes: Record<string, number> = { "€": 0x80, "’": 0x92, "–": 0x96, Š: 0x8a };
  return Uint8Array.from([...text], (character) => codes[character] ?? character.charCodeAt(0));
}

export function utf16(text: string, order: "le" | "be", mark = true): Uint8Array {
  const bytes = Buffer.from((mark ? "\ufeff" : "") + text, "utf16le");
  return order === "le" ? bytes : bytes.swap16();
}

/** Reads a list. Returns each row's vendor, or its problems as text. */
export async function readList(file: string | Uint8Array, mapping = {}) {
  const bytes = typeof file === "string" ? Buffer.from(file) : file;
  const { rows } = await readVendorFile(bytes, { mapping });
  return rows.map(({ vendor, problems }) => vendor ?? problems.map(problemText));
}
