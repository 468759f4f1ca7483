import { timestampDate, timestampFromDate } from "@bufbuild/protobuf/wkt";
import { checkOf } from "@vvs/checks";
import { CheckType } from "@vvs/proto/common/v1/common";
import type { Vendor } from "@vvs/proto/entity/v1/vendors";
import type { Result, Verification } from "@vvs/proto/verification/v1/verification";
import { utcDay } from "@vvs/registration";
import type { Visit } from "../http/session.ts";
import type { AppOptions } from "../page/app-options.ts";
import { checkName, checkTitle, statusName } from "../ui/parts.ts";
import { providerName } from "../ui/vocabulary.ts";
import { type Confirmation, type ConfirmedRun, confirmedLast, type ScheduledRun } from "../verdicts/confirmation.ts";
import { noRuns, readScheduledRuns } from "../verdicts/read-confirmed.ts";
import { dataDate, verdictOf } from "../verdicts/verdict.ts";
import { bounds, type Period } from "./screening-period.ts";

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
  /** The scheduled checks that found the same since; undefined where there were none. */
  readonly confirmation: Confirmation | undefined;
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
  "No change found up to (UTC)",
];

const actors = { key: "API key", usr: "user", mon: "monitor" } as const;

/** Returns the answers of a verification, one for each check. */
export function rowsOf({ verification, vendor, runs }: ScreenedVerification): ScreeningRow[] {
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
    confirmation: runs.find(({ verificationId }) => verificationId === id)?.confirmation,
  }));
}

/** Returns a row as cells. */
export function cellsOf(row: ScreeningRow): string[] {
  const { checkedAt, vendor, number, uei, check, answer, reason, source, dataDate } = row;
  const answered = [check, answer, reason, source, dataDate];
  const by = [row.requestedBy, row.verificationId, row.entityId];
  return [checkedAt.toISOString(), vendor, number, uei, ...answered, ...by, confirmedTo(row.confirmation)];
}

const confirmedTo = (confirmation: Confirmation | undefined) => confirmation?.lastAt.toISOString() ?? "";

/** Returns the run before the end of a period that scheduled checks confirmed in it, or after it; undefined where there is none. */
export function confirmedSince(start: Date, { runs }: Pick<ListedVendor, "runs">): ConfirmedRun | undefined {
  const run = confirmedLast(runs);
  return run && run.confirmation.lastAt >= start ? run : undefined;
}

/** Returns the cells of a vendor of the list that has no verification in the period. */
export function cellsOfUnverified({ vendor, runs }: ListedVendor, start: Date): string[] {
  const entityId = vendor.entity?.id ?? "";
  const { vendor: name, number, uei } = namesOf(vendor, entityId);
  const run = confirmedSince(start, { runs });
  if (!run) return ["", name, number, uei, "", "not checked in this period", "", "", "", "", "", entityId, ""];
  const answered = [checkName(CheckType.SAM_REGISTRATION), `no change found, ${statusName(run.outcome)}`, "", "", ""];
  const by = [`monitor ${run.monitorId}`, run.verificationId, entityId];
  return ["", name, number, uei, ...answered, ...by, confirmedTo(run.confirmation)];
}

function namesOf(vendor: Vendor | undefined, entityId: string) {
  const { legalName: name = entityId, externalId: number = "", identifiers } = vendor?.entity ?? {};
  return { vendor: name, number, uei: identifiers?.uei ?? "" };
}

function sourceOf(result: Result, at: Date) {
  const date = dataDate({ result, at });
  return { source: date ? providerName(result.origin) : "", dataDate: date ? utcDay(date) : "" };
}

/** A verification of a period, with its vendor where that is in the list. */
interface ScreenedVerification {
  readonly verification: Verification;
  readonly vendor: Vendor | undefined;
  /** What scheduled checks made of the newest runs of its vendor's monitors until the end of the period. */
  readonly runs: readonly ScheduledRun[];
}

/** A vendor of the list, with the same. */
export interface ListedVendor {
  readonly vendor: Vendor;
  readonly runs: readonly ScheduledRun[];
}

const PAGE_SIZE = 100;

/** Reads what was verified in a period, and which vendors were not. */
export function createReadScreening(options: Pick<AppOptions, "verification" | "vendorList" | "monitors">) {
  const { verification, vendorList } = options;
  return {
    /** Yields the verifications of a period, newest first, in chunks of at most 100. */
    async *verifications({ caller }: Pick<Visit, "caller">, period: Period) {
      const { start, end } = bounds(period);
      const range = { from: timestampFromDate(start), before: timestampFromDate(end) };
      for (let after: object | undefined; ; ) {
        const page = { limit: PAGE_SIZE, ...(after && { after }) };
        const { verifications, next } = await verification.listVerifications({ caller, page, ...range });
        const entityIds = [...new Set(verifications.map(({ entityId }) => entityId))];
        const [{ vendors }, scheduled] = await Promise.all([
          entityIds.length > 0 ? vendorList.getVendors({ caller, entityIds }) : { vendors: [] },
          readScheduledRuns(options, { caller }, { entityIds, before: end }),
        ]);
        const byId = new Map(vendors.map((vendor) => [vendor.entity?.id, vendor]));
        yield verifications.map((each): ScreenedVerification => {
          const { entityId } = each;
          return { verification: each, vendor: byId.get(entityId), runs: scheduled.get(entityId) ?? noRuns };
        });
        if (!next) return;
        after = next;
      }
    },

    /** Yields all vendors of the list, by name, in chunks of at most 100. Archived ones are left out. */
    async *vendors({ caller }: Pick<Visit, "caller">, period: Period) {
      const { end } = bounds(period);
      for (let after: object | undefined; ; ) {
        const { vendors, next } = await vendorList.listVendors({ caller, limit: PAGE_SIZE, ...(after && { after }) });
        const entityIds = vendors.map(({ entity }) => entity?.id ?? "");
        const scheduled = await readScheduledRuns(options, { caller }, { entityIds, before: end });
        yield vendors.map(
          (vendor): ListedVendor => ({ vendor, runs: scheduled.get(vendor.entity?.id ?? "") ?? noRuns }),
        );
        if (!next) return;
        after = next;
      }
    },
  };
}
