import { setImmediate } from "node:timers/promises";
import { z } from "@vvs/config";
import type { Violation } from "@vvs/errors";
import { isPlaceholderName } from "@vvs/identifiers/placeholder-name";
import { createRepeatFinder, isTinAsNumber, type JobRow as Row, TIN_AS_NUMBER_PROBLEM } from "@vvs/jobs";
import { MAX_VENDOR_BYTES, parseJson } from "../http/body.ts";
import { refuseInvalid } from "../http/errors.ts";
import { TOO_DEEP } from "../http/json-text.ts";
import { MAX_VENDORS, type VendorTexts } from "../http/vendor-texts.ts";
import { entityId, externalId, MAX_ADDRESS_CHARACTERS, MAX_NAME_CHARACTERS, textWithoutTin } from "../input/fields.ts";
import { sandboxUeiViolations, wellFormedIdentifiers } from "../input/identifiers.ts";
import { parse } from "../input/violations.ts";

/** How long rows are parsed before other requests have their turn, in milliseconds. */
const SLICE_MS = 5;
/** Maximum number of problems of a vendor; a further one says how many there are besides. */
const MAX_PROBLEMS = 20;
/** Maximum number of problems listed where a job is refused: more would take longer than other requests should wait. */
const MAX_DETAILS = MAX_VENDORS;
/** Levels of the body that a vendor is inside. */
const VENDOR_LEVELS = 2;

export type JobRow = Omit<Row, "problems"> & { readonly problems: Violation[] };

/** One vendor of a job. */
export const jobVendor = z
  .strictObject({
    external_id: externalId().optional(),
    entity_id: entityId.optional(),
    identifiers: wellFormedIdentifiers.optional(),
    legal_name: textWithoutTin(MAX_NAME_CHARACTERS).optional(),
    address: textWithoutTin(MAX_ADDRESS_CHARACTERS).optional().describe("In one line."),
  })
  .meta({
    id: "JobVendor",
    description:
      "A vendor: by `entity_id`, by `identifiers`, or by its name and address only. With `legal_name` the result says whether the name agrees.",
  });

/**
 * Reads the vendors of a job. One that is not as it must be has problems, with paths inside it; one that is the same as an earlier
 * one but for its number names that one. Other requests have their turn meanwhile. Errors: invalid_request where an entry is not
 * JSON or is nested too deep.
 */
export async function readJobRows(vendors: VendorTexts, isLive: boolean): Promise<JobRow[]> {
  const rows: JobRow[] = [];
  const repeated = createRepeatFinder();
  let until = performance.now() + SLICE_MS;
  for (let index = 0; index < vendors.count; index++) {
    if (performance.now() > until) {
      await setImmediate();
      until = performance.now() + SLICE_MS;
    }
    const row = readRow(index + 1, vendors.at(index), isLive);
    if (row.problems.length === 0) row.sameAs = repeated(row);
    rows.push(row);
  }
  return rows;
}

function readRow(row: number, text: Buffer, isLive: boolean): JobRow {
  if (text.length > MAX_VENDOR_BYTES) {
    return { row, problems: [{ path: "vendor", message: `must have at most ${MAX_VENDOR_BYTES / 1_000} kB` }] };
  }
  const { value, problems } = parseJson(text, VENDOR_LEVELS);
  const refuse = (message: string) => refuseInvalid([{ path: `vendors[${row - 1}]`, message }]);
  if (problems === TOO_DEEP) refuse(TOO_DEEP[0]!.message);
  if (value === undefined) refuse("must be valid JSON in UTF-8");
  const read = rowOf(row, value, problems, isLive);
  const further = read.problems.length - MAX_PROBLEMS;
  if (further > 0) {
    read.problems.splice(MAX_PROBLEMS, further, { path: "vendor", message: `has ${further} more problems` });
  }
  return read;
}

function rowOf(row: number, value: unknown, textProblems: readonly Violation[], isLive: boolean): JobRow {
  const parsed = parse(jobVendor, value, "vendor");
  const rules = isObject(value) ? ruleProblems(value, isLive) : [];
  const given = "value" in parsed ? parsed.value : undefined;
  const { external_id: number, ...others } = isObject(value) ? value : {};
  const isTin = isTinAsNumber(number, given ? given.identifiers : others);
  if (isTin) rules.push({ path: "external_id", message: TIN_AS_NUMBER_PROBLEM });
  const problems = [...textProblems, ...parsed.problems, ...rules];
  const externalId = isTin ? undefined : numberOf(number);
  if (!given || problems.length > 0) return { row, externalId, problems };
  const { entity_id, identifiers, legal_name: name = "", address } = given;
  const legalName = isPlaceholderName(name) && (entity_id || identifiers) ? "" : name;
  const { uei, cage, duns, tin } = identifiers ?? {};
  const named = identifiers && { uei, cage, duns, tin };
  return { row, externalId, entityId: entity_id, identifiers: named, legalName, address, problems };
}

function ruleProblems(vendor: Readonly<Record<string, unknown>>, isLive: boolean): Violation[] {
  const { entity_id, identifiers, legal_name, address } = vendor;
  if ([entity_id, identifiers, legal_name, address].every((each) => each === undefined)) {
    return [{ path: "vendor", message: "must contain entity_id, identifiers, legal_name or address" }];
  }
  if (entity_id !== undefined && identifiers !== undefined) {
    return [{ path: "identifiers", message: "must not be given together with entity_id" }];
  }
  return sandboxUeiViolations(vendor, { environment: isLive ? "live" : "sandbox" });
}

/** Errors: invalid_request with the problems of all rows. */
export function refuseInvalidRows(rows: readonly JobRow[]): void {
  const count = rows.reduce((sum, { problems }) => sum + problems.length, 0);
  if (count === 0) return;
  const problems: Violation[] = [];
  for (const row of rows) {
    if (problems.length >= MAX_DETAILS) break;
    problems.push(...row.problems.map((problem) => inBody(row, problem)));
  }
  refuseInvalid(problems, { max: MAX_DETAILS, count });
}

function inBody({ row }: JobRow, { path, message }: Violation): Violation {
  const place = `vendors[${row - 1}]`;
  return { path: path === "vendor" ? place : `${place}.${path}`, message };
}

/** Returns the number of a row, also of one that can't be read otherwise, so that it is found again. */
function numberOf(value: unknown): string | undefined {
  const parsed = externalId().safeParse(value);
  return parsed.success ? parsed.data : undefined;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
