import { beforeAll, expect, test } from "@jest/globals";
import { atEnd, eventually } from "@vvs/testing";
import { type Collection, MongoClient } from "mongodb";
import type { Product } from "../../deploy/local/product.ts";
import { loadRegistry } from "../../deploy/local/registry.ts";
import {
  extractRowText,
  extractText,
  writeText,
} from "../../services/entity/src/registry-load/testing/registry-files.ts";
import type { MonitorDocument } from "../../services/monitor/src/model/monitor.ts";
import { type PlayedSamGov, playSamGov } from "../outside/sam-gov.ts";
import { exclusionsFileName } from "../support/exclusions-file.ts";
import { createOrganization, type TestOrganization } from "../support/organization.ts";
import { ownPlace } from "../support/own-place.ts";
import { isSignedWith } from "../support/signed-with.ts";
import { type Subscriber, startSubscriber } from "../support/subscriber.ts";

// The whole product with a simulated SAM.gov: files are loaded by the operator's command, and their changes reach
// subscribers. The tests build on each other and run in order.

const place = ownPlace();
const { prefix } = place;
const started = Date.now();
/** Returns a day relative to the start of the test, YYYY-MM-DD. */
const day = (offset: number) => new Date(started + offset * 86_400_000).toISOString().slice(0, 10);
const compact = (date: string) => date.replaceAll("-", "");

/** What a source says of a vendor's registration. */
interface Registered {
  readonly ends: string;
  readonly isExpired?: boolean;
}

/** A vendor, as each source knows it, oldest first. */
interface Vendor {
  /** In the extract of a month ago. */
  readonly first: Registered;
  /** SAM.gov's answer to the first run. */
  readonly answered: Registered;
  /** In an extract that was cut before that answer. */
  readonly older: Registered;
  /** In an extract that was cut after that answer. */
  readonly newest: Registered;
  /** In the exclusions file of yesterday, and in that of tomorrow. */
  readonly excluded?: readonly [before: boolean, after: boolean];
  /** The changes that its monitor reports. */
  readonly changes: readonly string[];
}

const active = (ends: number): Registered => ({ ends: day(ends) });
const expired = (ends: number): Registered => ({ ends: day(ends), isExpired: true });
const status = (before: string, after: string) => `registration_status: ${before} > ${after}`;

const vendors: Readonly<Record<string, Vendor>> = {
  PLAYEDRENEWS: {
    ...{ first: active(10), answered: active(10), older: active(5), newest: active(375) },
    changes: [`expiration_date: ${day(10)} > ${day(375)}`],
  },
  PLAYEDLAPSES: {
    ...{ first: active(0), answered: active(0), older: expired(-1), newest: expired(0) },
    changes: ["status: pass > fail", status("active", "expired")],
  },
  PLAYEDEXCLUD: {
    ...{ first: active(200), answered: active(200), older: active(200), newest: active(200) },
    excluded: [false, true],
    changes: ["status: pass > fail", status("active", "debarred"), "exclusion_effect:  > bar"],
  },
  PLAYEDENDSEX: {
    ...{ first: active(200), answered: active(200), older: active(200), newest: active(200) },
    excluded: [true, false],
    changes: ["status: fail > pass", status("debarred", "active"), "exclusion_effect: bar > "],
  },
  PLAYEDCOMESB: {
    ...{ first: expired(-60), answered: expired(-60), older: active(300), newest: active(305) },
    changes: ["status: fail > pass", status("expired", "active"), `expiration_date: ${day(-60)} > ${day(305)}`],
  },
};
const ueis = Object.keys(vendors);

let sam: PlayedSamGov;
let product: Product;
let organization: TestOrganization;
let subscriber: Subscriber;
let monitors: Collection<MonitorDocument>;
const monitorOf = new Map<string, string>();

beforeAll(async () => {
  sam = await playSamGov();
  product = await place.startProduct({
    registry: await extractOf("first", day(-30)),
    exclusions: await exclusionsOf(0, -1),
    environment: {
      LOG_LEVEL: "debug",
      SAM_GOV_API_KEY: sam.apiKey,
      SAM_GOV_BASE_URL: sam.baseUrl,
      SAM_GOV_GATHER_SECONDS: "2",
      FILE_RUN_SPREAD_SECONDS: "1",
      CIRCUIT_OPEN_MS: "1000",
    },
  });
  const client = new MongoClient(process.env.MONGODB_URI!);
  atEnd(() => client.close());
  monitors = client.db(`${prefix}monitor_live`).collection("monitors");
  organization = await createOrganization({ product });
  subscriber = await startSubscriber();
}, 180_000);

/** Writes the extract of one source; returns its path. */
function extractOf(source: "first" | "older" | "newest", cutDate: string): Promise<string> {
  const rows = ueis.map((uei) => {
    const { [source]: registered, excluded } = vendors[uei]!;
    const flag = source !== "newest" && excluded?.[0] ? "D" : " ";
    return extractRowText({
      ...{ 1: uei, 4: "", 6: registered.isExpired ? "E" : "A", 9: compact(registered.ends), 12: `${uei} LLC` },
      116: flag,
    });
  });
  const text = extractText(rows).replaceAll("20260906", compact(cutDate));
  return writeText(`SAM_PUBLIC_MONTHLY_V2_${compact(cutDate)}.dat`, text);
}

/** Writes an exclusions file, with the first or the second state of the vendors; returns its path. */
function exclusionsOf(state: 0 | 1, offset: number): Promise<string> {
  const titles =
    "Classification,Name,Unique Entity ID,Exclusion Program,Excluding Agency,CT Code,Exclusion Type," +
    "Additional Comments,Active Date,Termination Date,SAM Number,CAGE,Creation_Date";
  const rows = ueis
    .filter((uei) => vendors[uei]!.excluded?.[state])
    .map((uei) => `Firm,X,${uei},Reciprocal,GSA,R,Ineligible,,2020-01-01,Indefinite,S4${uei},,2020-01-01`);
  const name = exclusionsFileName(new Date(started + offset * 86_400_000));
  return writeText(name, [titles, ...rows, ""].join("\n"));
}

async function load(files: { registry?: string; exclusions?: string }): Promise<string> {
  const lines: string[] = [];
  const { environment } = product;
  const log = (line: string) => void lines.push(line);
  await loadRegistry({ registry: undefined, exclusions: undefined, ...files, environment, log });
  return lines.join("\n");
}

async function createMonitor(uei: string): Promise<string> {
  const { body: entity } = await organization.live.post("/v1/entities/lookup", { identifiers: { uei } });
  const { status: created, body } = await organization.live.post("/v1/monitors", {
    ...{ entity_id: entity.id, checks: ["sam_registration"], frequency: "monthly", webhook_url: subscriber.url },
  });
  expect(created).toBe(201);
  return body.id;
}

/** Waits until the newest run of a monitor has ended and was later than `after`; returns its number and outcome. */
async function ended(monitorId: string, after: number): Promise<string> {
  const run = await eventually(async () => {
    const { run_seq, open_run, last_run } = (await monitors.findOne({ _id: monitorId }))!;
    return !open_run && run_seq > after && last_run;
  });
  return `${run.run_seq} ${run.outcome}`;
}

/** Returns each vendor's newest run, once it is later than the run before. */
async function runsAfter(before: Readonly<Record<string, number>>): Promise<Record<string, string>> {
  const runs = Object.entries(before).map(
    async ([uei, after]) => [uei, await ended(monitorOf.get(uei)!, after)] as const,
  );
  return Object.fromEntries(await Promise.all(runs));
}

/** The changes that each vendor's monitor has reported, event by event. */
async function reported(): Promise<Record<string, string[][]>> {
  const all = ueis.map(async (uei) => {
    const { body } = await organization.live.get(`/v1/monitors/${monitorOf.get(uei)}/events`);
    type Event = { changes: { field: string; previous: string; current: string }[] };
    const events = body.events.map(({ changes }: Event) =>
      changes.map(
        ({ field, previous, current }) => `${field.replace("sam_registration.", "")}: ${previous} > ${current}`,
      ),
    );
    return [uei, events.toReversed()] as const;
  });
  return Object.fromEntries(await Promise.all(all));
}

const nothing = Object.fromEntries(ueis.map((uei) => [uei, []]));
const eachOnce = Object.fromEntries(ueis.map((uei) => [uei, [vendors[uei]!.changes]]));

test("a first run sets what later runs are compared with, by SAM.gov's answer", async () => {
  for (const [uei, { answered, excluded }] of Object.entries(vendors)) {
    const state = answered.isExpired ? "Inactive" : "Active";
    sam.register({ uei, cage: null, legalName: `${uei} LLC`, expirationDate: answered.ends, status: state });
    if (excluded?.[0]) {
      sam.forget(uei);
      sam.register({ uei, cage: null, legalName: `${uei} LLC`, expirationDate: answered.ends, exclusionFlag: "Y" });
    }
    monitorOf.set(uei, await createMonitor(uei));
  }
  expect(await runsAfter(Object.fromEntries(ueis.map((uei) => [uei, 0])))).toEqual({
    ...{ PLAYEDRENEWS: "1 pass", PLAYEDLAPSES: "1 pass", PLAYEDEXCLUD: "1 pass" },
    ...{ PLAYEDENDSEX: "1 fail", PLAYEDCOMESB: "1 fail" },
  });
}, 60_000);

test("a file that was cut before SAM.gov's answer starts runs of the vendors that it changes, and they report nothing", async () => {
  await load({ registry: await extractOf("older", day(0)) });
  expect(await runsAfter({ PLAYEDRENEWS: 1, PLAYEDLAPSES: 1, PLAYEDCOMESB: 1 })).toEqual({
    ...{ PLAYEDRENEWS: "2 pass", PLAYEDLAPSES: "2 pass", PLAYEDCOMESB: "2 fail" },
  });
  expect(await reported()).toEqual(nothing);
}, 60_000);

test("a renewed, a lapsed, a newly excluded, a cleared and a re-registered vendor are each reported once, signed", async () => {
  await load({ registry: await extractOf("newest", day(1)), exclusions: await exclusionsOf(1, 1) });
  const isReported = async () => Object.values(await reported()).every((events) => events.length > 0);
  await eventually(isReported).catch(() => undefined);
  expect(await reported()).toEqual(eachOnce);
  await eventually(() => subscriber.received.length >= ueis.length);
  const secret = organization.webhookSecrets.live;
  for (const post of subscriber.received) expect(isSignedWith(secret, post)).toBe(true);
  const bodies = subscriber.received.map(({ body }) => JSON.parse(body));
  expect(bodies.map(({ monitor_id }) => monitor_id).toSorted()).toEqual([...monitorOf.values()].toSorted());
}, 60_000);

test("no older source takes a reported change back: neither a file, nor an answer of SAM.gov", async () => {
  expect(await load({ registry: await extractOf("older", day(0)), exclusions: await exclusionsOf(0, 0) })).toMatch(
    /older/,
  );
  const before = await monitors.find().toArray();
  const seqOf = new Map(before.map(({ _id, run_seq }) => [_id, run_seq]));
  // Their next runs by the schedule, which have SAM.gov's stored answers beside the files; also of those whose scheduled checks
  // are made in bulk.
  const now = new Date();
  await monitors.updateMany({}, { $set: { next_run_at: now, claimable_at: now }, $unset: { standing: "" } });
  expect(await runsAfter(Object.fromEntries(ueis.map((uei) => [uei, seqOf.get(monitorOf.get(uei)!)!])))).toEqual(
    Object.fromEntries(
      ueis.map((uei) => {
        const fails = uei === "PLAYEDLAPSES" || uei === "PLAYEDEXCLUD";
        return [uei, `${seqOf.get(monitorOf.get(uei)!)! + 1} ${fails ? "fail" : "pass"}`];
      }),
    ),
  );
  expect(await reported()).toEqual(eachOnce);
  expect(subscriber.received).toHaveLength(ueis.length);
}, 60_000);

test("a monitor that is canceled while its run waits for SAM.gov reports nothing, and nothing is asked for it", async () => {
  const uei = "PLAYEDABSENT";
  sam.misbehave({ kind: "status", status: 503 });
  const own = { legal_name: "Absent LLC", identifiers: { uei } };
  expect((await organization.live.post("/v1/entities", own)).status).toBe(201);
  const monitorId = await createMonitor(uei);
  const verification = new MongoClient(process.env.MONGODB_URI!);
  atEnd(() => verification.close());
  const live = verification.db(`${prefix}verification_live`);
  const [parked, questions] = [live.collection("parked_runs"), live.collection<{ _id: string }>("sam_gov_questions")];
  await eventually(() => parked.findOne({ monitor_id: monitorId }));
  expect((await organization.live.delete(`/v1/monitors/${monitorId}`)).status).toBe(200);
  await eventually(async () => !(await questions.findOne({ _id: `uei:${uei}` })));
  expect(await parked.countDocuments({ monitor_id: monitorId })).toBe(0);
  const asked = () => sam.calls().filter(({ query }) => query.ueiSAM?.includes(uei)).length;
  const before = asked();
  sam.behave();
  // A vendor that is asked about afterwards shows that the queue works.
  const witness = "PLAYEDWITNES";
  sam.register({ uei: witness });
  expect(
    (await organization.live.post("/v1/entities", { legal_name: "W", identifiers: { uei: witness } })).status,
  ).toBe(201);
  expect(await ended(await createMonitor(witness), 0)).toBe("1 pass");
  expect(asked()).toBe(before);
  const { body } = await organization.live.get(`/v1/monitors/${monitorId}/events`);
  expect(body.events).toEqual([]);
}, 60_000);
