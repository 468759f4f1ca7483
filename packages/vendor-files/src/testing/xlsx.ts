import { zip } from "@vvs/testing";

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
