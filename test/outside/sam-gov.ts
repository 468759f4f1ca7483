import type { ServerResponse } from "node:http";
import { setTimeout as wait } from "node:timers/promises";
import { cut, playServer, type ReceivedCall, sendJson } from "./played-server.ts";
import { entityRow, exclusionRow, type PlayedExclusion, type PlayedRegistration } from "./sam-gov-rows.ts";

type Api = "entities" | "exclusions";

/** A call that reached the server. */
export interface SamGovCall {
  readonly api: Api | "unknown";
  /** v3, v4, … */
  readonly version: string;
  readonly query: Readonly<Record<string, string>>;
  readonly headers: ReceivedCall["headers"];
}

/** Ways in which the server can fail. */
export type SamGovMisbehaviour =
  | { readonly kind: "throttled"; readonly shape: "flat" | "fault"; readonly nextAccessTime: string }
  | { readonly kind: "status"; readonly status: number; readonly text?: string }
  | { readonly kind: "silent" }
  /** The connection ends in the middle of the body. */
  | { readonly kind: "cut" }
  | { readonly kind: "content_type"; readonly contentType: string }
  /** 200 with this body for every request. */
  | { readonly kind: "body"; readonly text: string }
  /** `totalRecords: 1`, and no data. */
  | { readonly kind: "counted_without_data" }
  /** Correct answers, but late. */
  | { readonly kind: "slow"; readonly afterMs: number };

export interface PlayedSamGov {
  readonly baseUrl: string;
  /** The key that it accepts now. */
  readonly apiKey: string;
  calls(api?: Api): readonly SamGovCall[];
  /** Adds a row; a UEI may have several. */
  register(registration: PlayedRegistration): void;
  exclude(exclusion: PlayedExclusion): void;
  /** Removes the registrations and exclusions of a UEI or CAGE. */
  forget(identifier: string): void;
  /**
   * Misbehaves for one API or both, about one value (a UEI or CAGE) or all, after a number of correct answers, for this number
   * of calls or until `behave`.
   */
  misbehave(how: SamGovMisbehaviour, options?: { api?: Api; about?: string; after?: number; calls?: number }): void;
  behave(): void;
  /** Replaces the key; the old one is invalid from now on. */
  rotateKey(apiKey: string): void;
  /** Answers 400 to requests for several values if this is one of them. */
  choke(value: string): void;
}

const MEMBERS: Readonly<Record<Api, string>> = { entities: "entityData", exclusions: "excludedEntity" };
const PARAMETERS: Readonly<Record<Api, readonly string[]>> = {
  entities: ["ueiSAM", "cageCode", "samRegistered", "includeSections", "page", "size"],
  exclusions: ["ueiSAM", "cageCode", "page", "size"],
};

/** Simulates SAM.gov's Entity Management API v3 and v4 and its Exclusions API v4, as GSA documents them. */
export async function playSamGov(options: { apiKey?: string } = {}): Promise<PlayedSamGov> {
  let apiKey = options.apiKey ?? "SAM-played-key-5c1f0a7e93";
  const rows: Record<Api, Row[]> = { entities: [], exclusions: [] };
  const choking = new Set<string>();
  let misbehaviours: { how: SamGovMisbehaviour; api?: Api; about?: string; after: number; left: number }[] = [];

  function misbehaviourTowards({
    api,
    query,
  }: Pick<SamGovCall, "query"> & { api: Api | "unknown" }): SamGovMisbehaviour | undefined {
    const values = [...valuesOf(query.ueiSAM), ...valuesOf(query.cageCode)];
    const isMeant = (about: string | undefined) => about === undefined || values.includes(about);
    const found = misbehaviours.find((each) => each.left > 0 && (each.api ?? api) === api && isMeant(each.about));
    if (!found) return undefined;
    if (found.after > 0) {
      found.after -= 1;
      return undefined;
    }
    found.left -= 1;
    return found.how;
  }

  const server = await playServer(async (call, response) => {
    const { api, query } = readCall(call);
    const how = misbehaviourTowards({ api, query });
    if (how?.kind === "slow") await wait(how.afterMs);
    else if (how) return misbehave(how, response);
    if (api === "unknown") return sendJson(response, 404, {});
    const refusal = refusalOf({ api, call, apiKey, choking });
    if (refusal) return send(response, refusal);
    sendJson(response, 200, answerTo(api, query, rows[api]));
  });

  return {
    baseUrl: server.url,
    get apiKey() {
      return apiKey;
    },
    calls: (api) => server.calls.map(readCall).filter((call) => !api || call.api === api),
    register: (registration) => void rows.entities.push(toRow(registration, entityRow(registration))),
    exclude: (exclusion) => void rows.exclusions.push(toRow(exclusion, exclusionRow(exclusion))),
    forget(identifier) {
      for (const api of ["entities", "exclusions"] as const) {
        rows[api] = rows[api].filter(({ ueis, cage }) => ![...ueis, cage].includes(identifier));
      }
    },
    misbehave: (how, { after = 0, calls: left = Number.POSITIVE_INFINITY, ...towards } = {}) =>
      void misbehaviours.push({ how, ...towards, after, left }),
    behave() {
      misbehaviours = [];
    },
    rotateKey(next) {
      apiKey = next;
    },
    choke: (value) => void choking.add(value),
  };
}

function readCall({ url, headers }: ReceivedCall): SamGovCall {
  const { pathname, searchParams } = new URL(url, "http://played");
  const [, version = "", path = ""] = /^\/entity-information\/(v\d)\/(\w+)$/.exec(pathname) ?? [];
  const api = path === "entities" || (path === "exclusions" && version === "v4") ? path : "unknown";
  return { api, version, query: Object.fromEntries(searchParams), headers };
}

interface Row {
  readonly ueis: readonly string[];
  readonly cage: string | null;
  readonly samRegistered: "Yes" | "No";
  readonly json: Record<string, unknown>;
}

function toRow(played: PlayedRegistration | PlayedExclusion, json: Record<string, unknown>): Row {
  const more = "moreLocations" in played ? (played.moreLocations ?? []) : [];
  return {
    ueis: [...(played.uei ? [played.uei] : []), ...more],
    cage: played.cage ?? (played.uei && json.entityRegistration ? "1PLY1" : null),
    samRegistered: "samRegistered" in played ? (played.samRegistered ?? "Yes") : "Yes",
    json,
  };
}

interface Refusal {
  readonly status: number;
  readonly text: string;
  readonly contentType?: string;
}

/** Returns how the documented API refuses a call, or undefined if it does not. */
function refusalOf(asked: {
  api: Api;
  call: ReceivedCall;
  apiKey: string;
  choking: ReadonlySet<string>;
}): Refusal | undefined {
  const { api, call, apiKey, choking } = asked;
  const { searchParams } = new URL(call.url, "http://played");
  if (call.method !== "GET") return { status: 405, text: "{}" };
  // The real APIs accept a key in the URL too, but this product must never send one there.
  if (searchParams.has("api_key") || call.url.includes(apiKey)) return badRequest("a key in the URL");
  const key = call.headers["x-api-key"];
  if (key !== apiKey) {
    const what = key ? "An invalid API key was supplied" : "No api_key was supplied in request body";
    return { status: 403, text: `${what}. Please submit with a valid API key.`, contentType: "text/plain" };
  }
  if (!call.headers.accept?.includes("application/json")) return { status: 406, text: "{}" };
  for (const name of searchParams.keys()) {
    if (!PARAMETERS[api].includes(name)) return badRequest(`The search parameter, ${name} does not exist.`);
  }
  if ([...searchParams.values()].some((value) => /[&|{}^\\]/.test(value))) return badRequest("forbidden characters");
  if (Number(searchParams.get("size") ?? 10) > 10) return badRequest("Size Cannot Exceed 10 Records");
  for (const name of ["ueiSAM", "cageCode"]) {
    const values = valuesOf(searchParams.get(name));
    if (values.length > 100) return badRequest(`More than 100 ${name} are not allowed.`);
    if (values.length > 1 && values.some((value) => choking.has(value))) return badRequest(`${name} is invalid.`);
  }
  return undefined;
}

function badRequest(detail: string): Refusal {
  return { status: 400, text: JSON.stringify({ status: 400, message: detail, detail, errorCode: "PLAYED" }) };
}

function answerTo(api: Api, query: Readonly<Record<string, string>>, rows: readonly Row[]) {
  const ueis = valuesOf(query.ueiSAM);
  const cages = valuesOf(query.cageCode);
  const found = rows.filter(
    (row) =>
      (ueis.length === 0 || row.ueis.some((uei) => ueis.includes(uei))) &&
      (cages.length === 0 || cages.includes(row.cage ?? "")) &&
      (api === "exclusions" || row.samRegistered === (query.samRegistered ?? "Yes")),
  );
  const size = Number(query.size ?? 10);
  const from = Number(query.page ?? 0) * size;
  const asked = new URLSearchParams(query);
  return {
    totalRecords: found.length,
    [MEMBERS[api]]: found.slice(from, from + size).map(({ json }) => json),
    links: { selfLink: `https://api.sam.gov/entity-information/v4/${api}?api_key=REPLACE_WITH_API_KEY&${asked}` },
  };
}

/** `[A~B]` stands for several values, other text for a single one. */
function valuesOf(text: string | null | undefined): string[] {
  if (!text) return [];
  return (/^\[(.*)\]$/.exec(text)?.[1] ?? text).split("~");
}

async function misbehave(how: Exclude<SamGovMisbehaviour, { kind: "slow" }>, response: ServerResponse): Promise<void> {
  const nothing = { totalRecords: 0, entityData: [], excludedEntity: [] };
  switch (how.kind) {
    case "throttled":
      return sendJson(response, 429, throttleBody(how.shape, how.nextAccessTime));
    case "status":
      return send(response, { status: how.status, text: how.text ?? "{}" });
    case "content_type":
      return send(response, { status: 200, text: JSON.stringify(nothing), contentType: how.contentType });
    case "body":
      return send(response, { status: 200, text: how.text });
    case "counted_without_data":
      return sendJson(response, 200, { ...nothing, totalRecords: 1 });
    case "silent":
      return;
    case "cut":
      return cut(response, nothing);
  }
}

/** Returns SAM.gov's answer to a throttled call, in one of its two known shapes. */
function throttleBody(shape: "flat" | "fault", nextAccessTime: string) {
  const description = `You have exceeded your quota .You can access API after ${nextAccessTime}`;
  const message = "Message throttled out";
  return shape === "flat"
    ? { code: "900804", message, description, nextAccessTime }
    : { fault: { code: 900804, message, description, nextAccessTime } };
}

function send(response: ServerResponse, { status, text, contentType = "application/json" }: Refusal): void {
  response.writeHead(status, { "content-type": contentType }).end(text);
}
