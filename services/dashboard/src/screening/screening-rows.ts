import { timestampDate } from "@bufbuild/protobuf/wkt";
import { checkOf } from "@vvs/checks";
import type { Vendor } from "@vvs/proto/entity/v1/vendors";
import type { Result } from "@vvs/proto/verification/v1/verification";
import { utcDay } from "@vvs/registration";
import { checkName, checkTitle, statusName } from "../ui/checks.ts";
import { verdictOf } from "../ui/verdict.ts";
import { providerName } from "../ui/vocabulary.ts";
import type { ScreenedVerification } from "./read-screening.ts";

/** One answer of the report: a check of a vendor at a time, by a source. */
export interface ScreeningRow {
  readonly checkedAt: Date;
  readonly entityId: string;
  readonly vendor: string;
  readonly number: string;
  readonly uei: string;
  readonly check: string;
  /** The check and its answer in words. */
  readonly words: { readonly check: string; readonly answer: string };
  readonly answer: "pass" | "fail" | "error";
  readonly reason: string;
  /** Empty where no source answered. */
  readonly source: string;
  /** The date of the source's data, YYYY-MM-DD; empty where no source answered. */
  readonly dataDate: string;
  readonly requestedBy: string;
  readonly verificationId: string;
}

/** Titles of the columns of the CSV file, in the order of `cellsOf`. */
export const columns = [
  "Checked at (UTC)",
  "Vendor",
  "Your vendor number",
  "UEI",
  "Check",
  "Answer",
  "Reason",
  "Source",
  "Data as of",
  "Requested by",
  "Verification ID",
  "Vendor ID",
];

const actors = { key: "API key", usr: "user", mon: "monitor" } as const;

/** Returns the answers of a verification, one for each check. */
export function rowsOf({ verification, vendor }: ScreenedVerification): ScreeningRow[] {
  const { id, entityId, actor, results, createdAt } = verification;
  const checkedAt = timestampDate(createdAt!);
  const prefix = actor.slice(0, 3);
  return results.map((result) => ({
    checkedAt,
    entityId,
    ...namesOf(vendor, entityId),
    check: checkName(result.checkType),
    words: {
      check: checkTitle(result.checkType),
      answer: verdictOf(checkOf(result.checkType), { result, at: checkedAt }, checkedAt).text,
    },
    answer: statusName(result.status),
    reason: result.reason,
    ...sourceOf(result, checkedAt),
    requestedBy: Object.hasOwn(actors, prefix) ? `${actors[prefix as keyof typeof actors]} ${actor}` : actor,
    verificationId: id,
  }));
}

/** Returns a row as cells. */
export function cellsOf(row: ScreeningRow): string[] {
  const { checkedAt, vendor, number, uei, check, answer, reason, source, dataDate } = row;
  const answered = [check, answer, reason, source, dataDate];
  return [checkedAt.toISOString(), vendor, number, uei, ...answered, row.requestedBy, row.verificationId, row.entityId];
}

/** Returns the cells of a vendor of the list that was not checked in the period. */
export function cellsOfUnchecked(vendor: Vendor): string[] {
  const entityId = vendor.entity?.id ?? "";
  const { vendor: name, number, uei } = namesOf(vendor, entityId);
  return ["", name, number, uei, "", "not checked in this period", "", "", "", "", "", entityId];
}

function namesOf(vendor: Vendor | undefined, entityId: string) {
  const { legalName: name = entityId, externalId: number = "", identifiers } = vendor?.entity ?? {};
  return { vendor: name, number, uei: identifiers?.uei ?? "" };
}

function sourceOf({ origin, details, dataFreshnessSeconds }: Result, checkedAt: Date) {
  if (origin === "none" || origin === "") return { source: "", dataDate: "" };
  const dated = details?.dataAsOf
    ? timestampDate(details.dataAsOf)
    : new Date(checkedAt.getTime() - Number(dataFreshnessSeconds) * 1_000);
  return { source: providerName(origin), dataDate: utcDay(dated) };
}
