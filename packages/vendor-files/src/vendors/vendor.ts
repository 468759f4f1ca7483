import { containsTin, type IdentifierMap, identifierTypes } from "@vvs/identifiers";
import { isNoIdentifier } from "@vvs/identifiers/none";
import { nameProblem } from "@vvs/identifiers/text";
import type { Column } from "../columns/columns.ts";
import { type Field, lettersOf } from "../columns/fields.ts";
import type { Problem } from "../problems.ts";
import { type IdentifierCell, readIdentifier, withoutFormula, withoutMarks } from "./identifier.ts";

/** A vendor as a row of a job or a call names it. */
export interface Vendor {
  /** The organization's own number of the vendor. */
  readonly external_id?: string;
  /** With it the row's identifiers are left out. */
  readonly entity_id?: string;
  /** Normalized and well-formed. */
  readonly identifiers?: IdentifierMap;
  readonly legal_name?: string;
  /** In one line. */
  readonly address?: string;
}

const MAX_LENGTHS = { legal_name: 300, address: 500, external_id: 255 } as const;
const TIN_IN_TEXT = "must not contain a number that looks like a TIN: write TINs in a column of their own";

/** What a row says. */
export interface ReadVendor {
  readonly vendor: Vendor;
  /** Whether its TIN is masked, and left out. */
  readonly isTinMasked: boolean;
  readonly problems: readonly Omit<Problem, "row">[];
}

/** Returns a function that reads the vendor from the cells of a row. */
export function vendorReader(columns: readonly Column[]): (cells: readonly string[]) => ReadVendor {
  const byField = new Map(columns.flatMap((column) => (column.field ? [[column.field, column] as const] : [])));
  const namesakes = new Map(
    identifierTypes.map((type) => [type, columns.filter((column) => isNamesake(column, byField.get(type)))] as const),
  );
  return (cells) => {
    const problems: Omit<Problem, "row">[] = [];
    const complain = (field: Field, message: string) => problems.push({ column: byField.get(field)?.name, message });
    const text = (field: Field) => readText(cells[byField.get(field)?.index ?? -1]);

    const entityId = text("entity_id");
    if (entityId && !/^ent_[0-9a-z]{26}$/.test(entityId)) {
      complain("entity_id", "must be the ID of an entity, such as ent_01h2xcejqtf2nbrexx3vqjhp41");
    }
    const identifiers: Partial<Record<keyof IdentifierMap, string>> = {};
    let isTinMasked = false;
    for (const type of entityId ? [] : identifierTypes) {
      const found = readIdentifier(type, cells[byField.get(type)?.index ?? -1] ?? "");
      const others = namesakes.get(type)!.map(({ index }) => readValue(readIdentifier(type, cells[index] ?? "")));
      if (others.some((other) => other !== undefined && other !== readValue(found)))
        complain(type, "differs from the other column of this name");
      if (!found) continue;
      if ("value" in found) identifiers[type] = found.value;
      else if ("problem" in found) complain(type, found.problem);
      else isTinMasked = true;
    }
    const hasIdentifiers = Object.keys(identifiers).length > 0;
    if (isTinMasked && !hasIdentifiers) complain("tin", "is masked: enter all 9 digits");

    const written = {
      external_id: readNumber(cells[byField.get("external_id")?.index ?? -1]),
      legal_name: text("legal_name"),
      address: addressOf(text),
    };
    for (const [name, value] of Object.entries(written) as [keyof typeof written, string | undefined][]) {
      const field = name === "address" ? "address_line1" : name;
      // A vendor's number may have nine digits. Whether it is the vendor's TIN is for those to find who know that one.
      const mayHaveTin = name !== "external_id";
      const problem =
        value &&
        (nameProblem(value, MAX_LENGTHS[name]) ?? (mayHaveTin && containsTin(value) ? TIN_IN_TEXT : undefined));
      if (problem) complain(field, problem);
    }
    if (!entityId && !hasIdentifiers && !written.legal_name && problems.length === 0) {
      problems.push({ message: "has no identifier and no name" });
    }
    const { external_id, legal_name, address } = written;
    const vendor: Vendor = {
      ...(external_id && { external_id }),
      ...(entityId && { entity_id: entityId }),
      ...(hasIdentifiers && { identifiers }),
      ...(legal_name && { legal_name }),
      ...(address && { address }),
    };
    return { vendor, isTinMasked, problems };
  };
}

const readValue = (found: IdentifierCell) => (found && "value" in found ? found.value : undefined);

/** Returns whether a column is not used because another one of its name is. */
function isNamesake(column: Column, used: Column | undefined): boolean {
  return used !== undefined && column !== used && !column.field && lettersOf(column.name) === lettersOf(used.name);
}

/** Returns a text in one line; undefined if it is empty or says that there is none. */
function readText(cell = ""): string | undefined {
  const text = withoutFormula(cell).replaceAll(/\s+/g, " ").trim();
  return text === "" || isNoIdentifier(text) ? undefined : text;
}

/** Returns an organization's own number, which can consist of zeros, with all its zeros. */
function readNumber(cell = ""): string | undefined {
  const isZeros = /^[\W_]*0[\W_0]*$/.test(cell);
  return withoutMarks(isZeros ? cell : (readText(cell) ?? "")) || undefined;
}

/** A part without the first line would match too much. */
function addressOf(text: (field: Field) => string | undefined): string | undefined {
  const line1 = text("address_line1");
  if (!line1) return undefined;
  const zip = withoutMarks(text("zip") ?? "").replace(/^(\d{5})(\d{4})$/, "$1-$2");
  const region = [text("state"), zip].filter(Boolean).join(" ");
  return [line1, text("address_line2"), text("city"), region, text("country")].filter(Boolean).join(", ");
}
