import { crc32, deflateRawSync } from "node:zlib";

/** Returns a ZIP archive of texts by their paths. A lie about their sizes can be told. */
export function zip(parts: Readonly<Record<string, string>>, declaredSize?: number): Buffer {
  const locals: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const [path, text] of Object.entries(parts)) {
    const content = Buffer.from(text);
    const packed = deflateRawSync(content);
    const common = Buffer.alloc(26);
    common.writeUInt16LE(20, 0);
    common.writeUInt16LE(8, 4);
    common.writeUInt32LE(crc32(content), 10);
    common.writeUInt32LE(packed.length, 14);
    common.writeUInt32LE(declaredSize ?? content.length, 18);
    common.writeUInt16LE(path.length, 22);
    const local = Buffer.concat([Buffer.from("PK\u0003\u0004"), common, Buffer.from(path), packed]);
    const rest = Buffer.alloc(14);
    rest.writeUInt32LE(offset, 10);
    directory.push(Buffer.from("PK\u0001\u0002\u0014\u0000", "latin1"), common, rest, Buffer.from(path));
    locals.push(local);
    offset += local.length;
  }
  const central = Buffer.concat(directory);
  const end = Buffer.alloc(22);
  end.write("PK\u0005\u0006", "latin1");
  end.writeUInt16LE(locals.length, 8);
  end.writeUInt16LE(locals.length, 10);
  end.writeUInt32LE(central.length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...locals, central, end]);
}

const relationships = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
const main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main";

/** Number formats of the cell styles 0, 1, …: those of Excel, and one of its own for TINs. */
const styles = `<styleSheet xmlns="${main}"><numFmts count="1"><numFmt numFmtId="164" formatCode="000000000"/></numFmts>
<cellStyleXfs><xf numFmtId="9"/></cellStyleXfs>
<cellXfs>${[0, 164, 49, 11, 4, 14].map((id) => `<xf numFmtId="${id}"/>`).join("")}</cellXfs></styleSheet>`;

/** Returns a workbook with these rows of XML, shared strings and parts. */
export function workbook(
  rows: string,
  {
    strings = "",
    parts = {},
    declaredSize,
  }: { strings?: string; parts?: Record<string, string>; declaredSize?: number } = {},
): Buffer {
  return zip(
    {
      "xl/workbook.xml": `<workbook xmlns="${main}" xmlns:r="${relationships}"><sheets>
        <sheet name="Notes" sheetId="1" state="hidden" r:id="rId1"/><sheet name="Vendors" sheetId="2" r:id="rId2"/></sheets></workbook>`,
      "xl/_rels/workbook.xml.rels": `<Relationships>
        <Relationship Id="rId1" Type="${relationships}/worksheet" Target="worksheets/sheet1.xml"/>
        <Relationship Id="rId2" Type="${relationships}/worksheet" Target="/xl/worksheets/sheet2.xml"/>
        <Relationship Id="rId3" Type="${relationships}/sharedStrings" Target="sharedStrings.xml"/>
        <Relationship Id="rId4" Type="${relationships}/styles" Target="styles.xml"/></Relationships>`,
      "xl/worksheets/sheet1.xml": "<worksheet><sheetData/></worksheet>",
      "xl/worksheets/sheet2.xml": `<?xml version="1.0"?><worksheet xmlns="${main}"><sheetData>${rows}</sheetData></worksheet>`,
      "xl/sharedStrings.xml": `<sst xmlns="${main}">${strings}</sst>`,
      "xl/styles.xml": styles,
      ...parts,
    },
    declaredSize,
  );
}

/** Returns a row with texts in its cells. */
export const textRow = (...texts: string[]) =>
  `<row>${texts.map((text) => `<c t="inlineStr"><is><t>${text}</t></is></c>`).join("")}</row>`;
