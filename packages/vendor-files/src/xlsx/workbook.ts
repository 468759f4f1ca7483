import { getFormatFromId } from "numfmt";
import { type Archive, damaged } from "./archive.ts";

const WORKBOOK = "xl/workbook.xml";
/** Longest number format that Excel accepts. */
const MAX_FORMAT_LENGTH = 255;

/** What is needed to read a sheet's cells. */
export interface Workbook {
  /** Path of the first visible sheet in the archive. */
  readonly sheet: string;
  readonly sheetName: string;
  /** Number of visible sheets. */
  readonly sheets: number;
  readonly strings: readonly string[];
  /** Number format of each cell style, such as `000000000`. */
  readonly formats: readonly string[];
}

/** Reads the workbook's own parts. Errors: VendorFileError. */
export async function readWorkbook(archive: Archive): Promise<Workbook> {
  const sheets: { name: string; id: string }[] = [];
  await readAll(archive, WORKBOOK, (name, attributes) => {
    if (name === "sheet" && (attributes.state ?? "visible") === "visible") {
      const [, id = ""] = Object.entries(attributes).find(([key]) => key.endsWith(":id")) ?? [];
      sheets.push({ name: attributes.name ?? "", id });
    }
  });
  const targets = new Map<string, string>();
  await readAll(archive, "xl/_rels/workbook.xml.rels", (name, { Id = "", Type = "", Target = "" }) => {
    if (name !== "Relationship") return;
    const path = Target.startsWith("/") ? Target.slice(1) : `xl/${Target}`;
    targets.set(Id, path);
    targets.set(Type.slice(Type.lastIndexOf("/") + 1), path);
  });
  const [first] = sheets;
  const sheet = targets.get(first?.id ?? "");
  if (!first || !sheet || !archive.has(sheet)) throw damaged();
  return {
    sheet,
    sheetName: first.name,
    sheets: sheets.length,
    strings: await readStrings(archive, targets.get("sharedStrings") ?? ""),
    formats: await readFormats(archive, targets.get("styles") ?? ""),
  };
}

async function readAll(
  archive: Archive,
  part: string,
  open: (name: string, attributes: Readonly<Record<string, string>>) => void,
): Promise<void> {
  for await (const _ of archive.read(part, { open }));
}

/** Reads the texts that cells refer to by number. A text can have parts with a format each. */
async function readStrings(archive: Archive, part: string): Promise<string[]> {
  const strings: string[] = [];
  let text = "";
  let isText = false;
  let isPhonetic = false;
  const reading = archive.read(part, {
    open(name) {
      if (name === "si") text = "";
      if (name === "rPh") isPhonetic = true;
      isText = name === "t" && !isPhonetic;
    },
    text(value) {
      if (isText) text += value;
    },
    close(name) {
      if (name === "si") strings.push(unescaped(text));
      if (name === "rPh") isPhonetic = false;
      isText = false;
    },
  });
  for await (const _ of reading);
  return strings;
}

async function readFormats(archive: Archive, part: string): Promise<string[]> {
  const own = new Map<string, string>();
  const formats: string[] = [];
  let isCellStyle = false;
  const reading = archive.read(part, {
    open(name, { numFmtId = "0", formatCode = "" }) {
      if (name === "numFmt" && formatCode.length <= MAX_FORMAT_LENGTH) own.set(numFmtId, formatCode);
      if (name === "cellXfs") isCellStyle = true;
      if (name === "xf" && isCellStyle) {
        formats.push(own.get(numFmtId) ?? getFormatFromId(Number(numFmtId)) ?? "General");
      }
    },
    close(name) {
      if (name === "cellXfs") isCellStyle = false;
    },
  });
  for await (const _ of reading);
  return formats;
}

/** Returns a text with its characters that XML can't have, which are written as `_x000D_`. */
export function unescaped(text: string): string {
  return text.replaceAll(/_x([\dA-F]{4})_/gi, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)));
}
