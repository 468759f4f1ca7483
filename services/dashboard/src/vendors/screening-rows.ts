import { timestampDate, timestampFromDate } from "@bufbuild/protobuf/wkt";
import { CheckType } from "@vvs/proto/common/v1/common";
import type { Vendor } from "@vvs/proto/entity/v1/vendors";
import type { Confirmations } from "@vvs/proto/monitor/v1/monitor";
import type { Result, Verification } from "@vvs/proto/verification/v1/verification";
import { utcDay } from "@vvs/registration";
import type { Visit } from "../http/session.ts";
import type { AppOptions } from "../page/app-options.ts";
import { checkName, statusName } from "../ui/parts.ts";
import { providerName } from "../ui/vocabulary.ts";
import {
  type ConfirmedRun,
  confirmedLast,
  confirmedTo,
  noRuns,
  readScheduledRuns,
  type ScheduledRun,
} from "../verdicts/read-confirmed.ts";
import { dataDate } from "../verdicts/verdict.ts";
import { bounds, type Period } from "./screening-period.ts";

/** One answer of the report: a check of a verification, whose vendor may not be in the list. */
export interface ScreeningRow {
  readonly result: Result;
  readonly verification: Verification;
  readonly at: Date;
  readonly vendor: Vendor | undefined;
  /** The scheduled checks that found the same since; undefined where there were none. */
  readonly confirmed: Confirmations | undefined;
}

/** Returns the answers of a verification, one for each check. */
export function rowsOf({ verification, vendor, runs }: ScreenedVerification): ScreeningRow[] {
  const at = timestampDate(verification.createdAt!);
  const confirmed = runs.find(({ verificationId }) => verificationId === verification.id)?.confirmed;
  return verification.results.map((result) => ({ result, verification, at, vendor, confirmed }));
}

/** Returns the name, the organization's number and the UEI of a row's vendor. */
export const namesOf = ({ vendor, verification }: Pick<ScreeningRow, "vendor" | "verification">) =>
  namesIn(vendor, verification.entityId);

function namesIn(vendor: Vendor | undefined, entityId: string) {
  const { legalName: name = entityId, externalId: number = "", identifiers } = vendor?.entity ?? {};
  return { name, number, uei: identifiers?.uei ?? "" };
}

/** Returns the source of an answer, and the day of its data (YYYY-MM-DD); both empty where no source answered. */
export function sourceOf({ result, at }: ScreeningRow) {
  const date = dataDate({ result, at });
  return { source: date ? providerName(result.origin) : "", day: date ? utcDay(date) : "" };
}

const actors = { key: "API key", usr: "user", mon: "monitor" } as const;

/** Returns what asked for a verification: "API key", "user" or "monitor"; "" for others. */
export function requesterOf({ actor }: Pick<Verification, "actor">): string {
  const prefix = actor.slice(0, 3);
  return Object.hasOwn(actors, prefix) ? actors[prefix as keyof typeof actors] : "";
}

/** The columns of the CSV file. */
export const columns: readonly (readonly [title: string, cell: (row: ScreeningRow) => string])[] = [
  ["Checked at (UTC)", ({ at }) => at.toISOString()],
  ["Vendor", (row) => namesOf(row).name],
  ["Your vendor number", (row) => namesOf(row).number],
  ["UEI", (row) => namesOf(row).uei],
  ["Check", ({ result }) => checkName(result.checkType)],
  ["Answer", ({ result }) => statusName(result.status)],
  ["Reason", ({ result }) => result.reason],
  ["Source", (row) => sourceOf(row).source],
  ["Data as of", (row) => sourceOf(row).day],
  ["Requested by", ({ verification }) => `${requesterOf(verification)} ${verification.actor}`.trim()],
  ["Verification ID", ({ verification }) => verification.id],
  ["Vendor ID", ({ verification }) => verification.entityId],
  ["No change found up to (UTC)", ({ confirmed }) => confirmedTo(confirmed)],
];

/** Returns the run before the end of a period that scheduled checks confirmed in it, or after it; undefined where there is none. */
export function confirmedSince(start: Date, { runs }: Pick<ListedVendor, "runs">): ConfirmedRun | undefined {
  const run = confirmedLast(runs);
  return run && timestampDate(run.confirmed.lastAt!) >= start ? run : undefined;
}

/** Returns the cells of a vendor of the list that has no verification in the period. */
export function cellsOfUnverified({ vendor, runs }: ListedVendor, start: Date): string[] {
  const entityId = vendor.entity?.id ?? "";
  const { name, number, uei } = namesIn(vendor, entityId);
  const run = confirmedSince(start, { runs });
  if (!run) return ["", name, number, uei, "", "not checked in this period", "", "", "", "", "", entityId, ""];
  const answered = [checkName(CheckType.SAM_REGISTRATION), `no change found, ${statusName(run.outcome)}`, "", "", ""];
  const by = [`monitor ${run.monitorId}`, run.verificationId, entityId];
  return ["", name, number, uei, ...answered, ...by, confirmedTo(run.confirmed)];
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
