import { isWellFormed } from "@vvs/identifiers";
import { entityTypes } from "@vvs/registration";
import type { Address } from "../../matching/addresses/address.ts";
import { fromCompactDate } from "../../model/dates.ts";
import type { RegistryEntityFacts, SamFacts } from "../../model/facts.ts";
import { fieldCount, splitFields } from "./fields.ts";
import type { Parsed } from "./member.ts";

/** One row of the public extract V2. */
export interface ExtractRow extends RegistryEntityFacts {
  /** Monthly: `A` active, `E` expired. Daily: `1` deactivated, `2` new, `3` updated, `4` expired. */
  readonly extractCode: string;
  /** True for codes 1 and 4, which carry only the first seven fields; their other facts are unknown, not blank. */
  readonly partial: boolean;
  readonly lastUpdateDate?: string;
}

/** 1-based positions of the address fields; the mailing address has its state last. */
const physicalFields = { line1: 16, line2: 17, city: 18, state: 19, zip: 20, plus4: 21, country: 22 };
const mailingFields = { line1: 40, line2: 41, city: 42, zip: 43, plus4: 44, country: 45, state: 46 };

/**
 * Reads one row of the public extract V2 (GSA's master extract mapping v6.0), or returns the reason why it can't be
 * trusted. Nothing is guessed: a row with another number of fields is refused, even if its fields look right.
 */
export function parseRow(text: string): Parsed<ExtractRow> {
  const fields = splitFields(text);
  if (!fields) return { reason: "a NUL quote is not closed" };
  if (fields.at(-1)!.trim() !== "!end") return { reason: 'the row does not end with "!end"' };
  const at = (position: number) => fields[position - 1]?.trim() ?? "";
  const extractCode = at(6);
  if (!/^[AE1234]$/.test(extractCode))
    return { reason: `field 6 is not an extract code: "${extractCode.slice(0, 20)}"` };
  const partial = extractCode === "1" || extractCode === "4";
  if (fields.length !== fieldCount && !(partial && fields.length === 8)) {
    return { reason: `the row has ${fields.length} fields instead of ${fieldCount}` };
  }
  const uei = at(1).toUpperCase();
  if (!isWellFormed("uei", uei)) return { reason: "field 1 is not a UEI" };
  const reason = partial ? undefined : refusalOf(extractCode, at);
  if (reason) return { reason };
  const cage = at(4).toUpperCase();
  const head = { uei, eft_indicator: at(3), extractCode, partial };
  const sam = {
    sam_registered: true,
    listed_as: listedAs(extractCode),
    excluded: false,
    cage: isWellFormed("cage", cage) ? cage : undefined,
  };
  if (partial) return { row: { ...head, legal_name: "", other_names: [], addresses: [], sam } };
  const otherNames = [at(13), at(14)].filter((name) => name !== "" && name !== at(12));
  const addresses = [addressAt("physical", physicalFields, at), addressAt("mailing", mailingFields, at)];
  return {
    row: {
      ...head,
      legal_name: at(12),
      other_names: [...new Set(otherNames)],
      addresses: addresses.filter((address) => address !== undefined),
      sam: {
        ...sam,
        expiration_date: fromCompactDate(at(9)),
        excluded: at(116).toUpperCase() === "D",
        entity_type: entityTypes[at(28).toUpperCase()],
      },
      lastUpdateDate: fromCompactDate(at(10)),
    },
  };
}

/** Returns why a complete row can't be trusted. */
function refusalOf(extractCode: string, at: (position: number) => string): string | undefined {
  const bad = [8, 9, 10, 11].find((position) => at(position) && !fromCompactDate(at(position)));
  if (bad) return `field ${bad} is not a date: "${at(bad).slice(0, 20)}"`;
  if (!at(12)) return "field 12, the legal name, is blank";
  if (extractCode !== "E" && !at(9)) return "field 9, the expiration date, is blank";
  return undefined;
}

function listedAs(extractCode: string): SamFacts["listed_as"] {
  if (extractCode === "1") return "inactive";
  return extractCode === "E" || extractCode === "4" ? "expired" : "active";
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
