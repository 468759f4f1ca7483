import { fromCompactDate, type IsoDate } from "../../model/dates.ts";
import type { Address } from "../../model/facts.ts";
import { fieldCount, splitFields } from "./fields.ts";

export type ExtractCode = "A" | "E" | "1" | "2" | "3" | "4";

/**
 * One row of the public extract V2. Codes: monthly `A` active, `E` expired; daily `1` deactivated, `2` new, `3` updated,
 * `4` expired.
 */
export interface ExtractRow {
  uei: string;
  /** "" on the entity's main row; others are further payment addresses of the same entity. */
  eftIndicator: string;
  cage?: string;
  extractCode: ExtractCode;
  /** True for codes 1 and 4, which carry only the first seven fields: what is absent here is unknown, not blank. */
  partial: boolean;
  purpose?: string;
  initialRegistrationDate?: IsoDate;
  expirationDate?: IsoDate;
  lastUpdateDate?: IsoDate;
  activationDate?: IsoDate;
  /** "" on a partial row. */
  legalName: string;
  dbaName?: string;
  divisionName?: string;
  entityType?: string;
  addresses: Address[];
  /** Field 116 is `D`: an active exclusion. */
  excluded: boolean;
  /** Field 119 is `NPDY`: the entity opted out of public search. */
  noPublicDisplay: boolean;
  evsSource?: string;
}

/** The entity structures of the layout, as the registry words them. */
const entityTypes: Readonly<Record<string, string>> = {
  "2J": "Sole Proprietorship",
  "2K": "Partnership or Limited Liability Partnership",
  "2L": "Corporate Entity (Not Tax Exempt)",
  "8H": "Corporate Entity (Tax Exempt)",
  "2A": "U.S. Government Entity",
  CY: "Country - Foreign Government",
  X6: "International Organization",
  ZZ: "Other",
};

/** Positions, 1-based, of the address fields; the mailing address has its state last. */
const physicalFields = { line1: 16, line2: 17, city: 18, state: 19, zip: 20, plus4: 21, country: 22 };
const mailingFields = { line1: 40, line2: 41, city: 42, zip: 43, plus4: 44, country: 45, state: 46 };

/**
 * Reads one row of the public extract V2 (GSA's master extract mapping v6.0), or says why it can't be trusted.
 * Nothing is guessed: a row with another number of fields is refused, whatever its fields look like.
 */
export function parseRow(text: string): { row: ExtractRow } | { reason: string } {
  const fields = splitFields(text);
  if (!fields) return { reason: "a NUL quote is not closed" };
  if (fields.at(-1)!.trim() !== "!end") return { reason: 'the row does not end with "!end"' };
  const at = (position: number) => fields[position - 1]?.trim() ?? "";
  const code = at(6);
  if (!/^[AE1234]$/.test(code)) return { reason: `field 6 is no extract code: "${code.slice(0, 20)}"` };
  const partial = code === "1" || code === "4";
  const isShort = partial && fields.length === 8;
  if (fields.length !== fieldCount && !isShort) {
    return { reason: `the row has ${fields.length} fields instead of ${fieldCount}` };
  }
  const uei = at(1).toUpperCase();
  if (!/^[A-Z0-9]{12}$/.test(uei)) return { reason: "field 1 is no UEI" };
  const cage = at(4).toUpperCase();
  const head = {
    uei,
    eftIndicator: at(3),
    cage: /^[A-Z0-9]{5}$/.test(cage) ? cage : undefined,
    extractCode: code as ExtractCode,
    purpose: at(7) || undefined,
  };
  if (!partial) return completeRow(head, at);
  return {
    row: { ...head, partial, legalName: "", addresses: [], excluded: false, noPublicDisplay: false },
  };
}

type RowHead = Pick<ExtractRow, "uei" | "eftIndicator" | "cage" | "extractCode" | "purpose">;

function completeRow(head: RowHead, at: (position: number) => string): { row: ExtractRow } | { reason: string } {
  for (const position of [8, 9, 10, 11]) {
    const text = at(position);
    if (text && !fromCompactDate(text)) return { reason: `field ${position} is no date: "${text.slice(0, 20)}"` };
  }
  if (!at(12)) return { reason: "field 12, the legal name, is blank" };
  if (head.extractCode !== "E" && !at(9)) return { reason: "field 9, the expiration date, is blank" };
  const physical = addressAt("physical", physicalFields, at);
  const mailing = addressAt("mailing", mailingFields, at);
  return {
    row: {
      ...head,
      partial: false,
      initialRegistrationDate: fromCompactDate(at(8)),
      expirationDate: fromCompactDate(at(9)),
      lastUpdateDate: fromCompactDate(at(10)),
      activationDate: fromCompactDate(at(11)),
      legalName: at(12),
      dbaName: at(13) || undefined,
      divisionName: at(14) || undefined,
      entityType: entityTypes[at(28).toUpperCase()],
      addresses: [physical, mailing].filter((address) => address !== undefined),
      excluded: at(116).toUpperCase() === "D",
      noPublicDisplay: at(119).toUpperCase() === "NPDY",
      evsSource: at(122) || undefined,
    },
  };
}

function addressAt(
  type: Address["type"],
  fields: typeof physicalFields,
  at: (position: number) => string,
): Address | undefined {
  const line2 = at(fields.line2);
  const zip = at(fields.zip);
  const plus4 = at(fields.plus4);
  const country = at(fields.country).toUpperCase();
  const address: Address = {
    type,
    line1: at(fields.line1),
    ...(line2 && { line2 }),
    city: at(fields.city),
    state: at(fields.state),
    zip: country === "USA" && /^\d{5}$/.test(zip) && /^\d{4}$/.test(plus4) ? `${zip}-${plus4}` : zip,
    country,
  };
  return address.line1 || address.city || address.zip ? address : undefined;
}
