import type {
  ProviderCall,
  ProviderResponse,
} from "../../../services/verification/src/providers/http/provider-http.ts";
import { ProviderError } from "../../../services/verification/src/providers/provider.ts";
import { entityRow, exclusionRow } from "../../outside/sam-gov-rows.ts";
import { cageOf, indexOfUei } from "../registry/identifiers.ts";
import { DAY_MS, dayAt, textOf } from "./calendar.ts";
import { nameOf } from "./files.ts";
import type { Population } from "./population.ts";

/** A time in which SAM.gov answers nothing. */
export interface Outage {
  /** Moments, in milliseconds. */
  readonly from: number;
  readonly until: number;
  /** `http_503`: it answers 503; `silent`: calls end in a timeout. */
  readonly kind: "http_503" | "silent";
}

/** The calls that SAM.gov received on one UTC day. All count against the quota, also those that it did not answer. */
export interface DayCalls {
  /** Calls of direct API callers. */
  direct: number;
  /** Calls of runs. */
  runs: number;
  /** Calls, among both, that it refused since the quota was used up. */
  refused: number;
  /** Calls, among both, during an outage. */
  unanswered: number;
}

const MEMBERS = { entities: "entityData", exclusions: "excludedEntity" } as const;
const MAX_VALUES = 100;

export type SimulatedSamGov = ReturnType<typeof createSamGov>;

/**
 * Creates SAM.gov's APIs in this process, on a given clock: the Entity Management API and the Exclusions API v4, with pages
 * of ten rows, up to 100 UEIs in a call, and a quota for each UTC day, which each page costs one call of.
 */
export function createSamGov(options: {
  population: Population;
  quota: number;
  outages: readonly Outage[];
  now: () => Date;
}) {
  const { population, quota, outages, now } = options;
  const days = new Map<number, DayCalls>();

  function callsOn(day: number): DayCalls {
    const calls = days.get(day) ?? { direct: 0, runs: 0, refused: 0, unanswered: 0 };
    days.set(day, calls);
    return calls;
  }

  /** Answers one call. Errors: ProviderError `timeout` during a silent outage. */
  function answer(from: "direct" | "runs", { url }: Pick<ProviderCall, "url">): ProviderResponse {
    const moment = now().getTime();
    const calls = callsOn(dayAt(moment));
    calls[from]++;
    const outage = outages.find((each) => each.from <= moment && moment < each.until);
    if (outage) {
      calls.unanswered++;
      if (outage.kind === "silent") throw new ProviderError("timeout");
      return json(503, { message: "Service Unavailable" });
    }
    if (calls.direct + calls.runs > quota) {
      calls.refused++;
      return json(429, throttled(dayAt(moment) + 1));
    }
    const { pathname, searchParams } = new URL(url);
    const [, api] = /^\/entity-information\/v\d\/(entities|exclusions)$/.exec(pathname) ?? [];
    const ueis = valuesOf(searchParams.get("ueiSAM") ?? "");
    const size = Number(searchParams.get("size"));
    if ((api !== "entities" && api !== "exclusions") || ueis.length > MAX_VALUES || size > 10) {
      return json(400, { message: "Bad Request" });
    }
    const vendors = ueis.map((uei) => [uei, indexOfUei(population.seed, uei)] as const);
    const first = Number(searchParams.get("page")) * size;
    const matching = vendors.filter(([, vendor]) =>
      api === "entities"
        ? kindAt(vendor, moment) === (searchParams.get("samRegistered") === "No" ? "id_only" : "registered")
        : population.isExcludedAt(vendor, moment),
    );
    const rows = matching.slice(first, first + size).map(([uei, vendor]) => row(api, uei, vendor, moment));
    return json(200, { totalRecords: matching.length, [MEMBERS[api]]: rows, links: { selfLink: "" } });
  }

  function kindAt(vendor: number, moment: number) {
    return vendor < population.size ? population.recordAt(vendor, moment).kind : "none";
  }

  function row(api: "entities" | "exclusions", uei: string, vendor: number, moment: number) {
    const cage = cageOf(population.seed, vendor);
    const legalName = nameOf(vendor);
    if (api === "exclusions") {
      const { from, lastDay } = population.exclusions.get(vendor)!;
      const terminationDate = lastDay === undefined ? null : monthFirst(lastDay);
      return exclusionRow({ uei, cage, name: legalName, activateDate: monthFirst(dayAt(from)), terminationDate });
    }
    const record = population.recordAt(vendor, moment);
    if (record.kind !== "registered") return entityRow({ uei, cage: null, legalName, samRegistered: "No" });
    return entityRow({
      uei,
      cage,
      legalName,
      status: record.expirationDay >= dayAt(moment) ? "Active" : "Inactive",
      expirationDate: textOf(record.expirationDay),
      exclusionFlag: population.isExcludedAt(vendor, moment) ? "Y" : "N",
    });
  }

  return { answer, callsOn };
}

function json(status: number, body: unknown): ProviderResponse {
  return { status, headers: {}, text: JSON.stringify(body), contentType: "application/json" };
}

/** The recorded body of a call beyond the quota, with the time of its reset. */
function throttled(nextDay: number) {
  const date = new Date(nextDay * DAY_MS);
  const month = date.toLocaleString("en-US", { month: "short", timeZone: "UTC" });
  const nextAccessTime = `${date.getUTCFullYear()}-${month}-${String(date.getUTCDate()).padStart(2, "0")} 00:00:00+0000 UTC`;
  const description = `You have exceeded your quota .You can access API after ${nextAccessTime}`;
  return { code: "900804", message: "Message throttled out", description, nextAccessTime };
}

/** `[A~B]` stands for several values, other text for a single one. */
function valuesOf(text: string): string[] {
  return (/^\[(.*)\]$/.exec(text)?.[1] ?? text).split("~").filter(Boolean);
}

/** Formats a day as MM-DD-YYYY. */
function monthFirst(day: number): string {
  return textOf(day).replace(/^(\d{4})-(\d{2})-(\d{2})$/, "$2-$3-$1");
}
