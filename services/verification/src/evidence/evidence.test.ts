import { join } from "node:path";
import { beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { newId } from "@vvs/ids";
import { inTransaction } from "@vvs/mongo";
import { CheckStatus } from "@vvs/proto/common/v1/common";
import { startScript } from "@vvs/testing";
import { Binary } from "mongodb";
import { playS3 } from "../../../../test/outside/s3.ts";
import { ProviderError } from "../providers/provider.ts";
import {
  passing,
  putVendor,
  evidenceOf as storedEvidence,
  testProvider,
  verify as verifyVendor,
} from "../testing/calls.ts";
import { startTestService, type TestService } from "../testing/service.ts";
import { bodiesOf, createEvidenceBodies, type ObjectStore, sha256Of } from "./bodies.ts";
import type { EvidenceSettings } from "./open.ts";
import { removeAbandoned, removeBodies } from "./retention.ts";

const DAY_MS = 86_400_000;
let content: string | undefined;
const provider = testProvider("played", "sam_registration", async () => {
  if (content === undefined) throw new ProviderError("connection", { isFault: false });
  return passing({ content });
});

const s3 = await playS3();

const s3Settings = (timeoutMs = 20_000) => ({
  endpoint: s3.url,
  region: "us-east-1",
  bucket: s3.bucket,
  credentials: { accessKeyId: "access", secretAccessKey: "secret" },
  pathStyle: true,
  timeoutMs,
});

/** A service on the databases of another one where their prefix is given. */
const startReplica = (evidence: Partial<EvidenceSettings>, prefix?: string) =>
  startTestService({ live: [provider], evidence, prefix });

let org: string;
beforeEach(() => {
  org = newId("org");
  content = `{"said":"é ${org}"}`;
  s3.misbehave(undefined);
});

const verify = async (service: TestService, organizationId = org) =>
  (await verifyVendor(service, putVendor(service, { organizationId }))).results[0]!;
const evidenceOf = (service: TestService, evidenceId: string, organizationId = org) =>
  storedEvidence(service, evidenceId, organizationId);

const recordsOf = (service: TestService) => service.databases.live.collection<{ _id: string }>("evidence");

/** The command as an operator runs it. */
function verifyCommand(service: TestService, args: string[] = []) {
  const env = {
    MONGODB_URI: process.env.MONGODB_URI,
    MONGODB_DATABASE_PREFIX: service.prefix,
    EVIDENCE_S3_ENDPOINT: s3.url,
    EVIDENCE_S3_BUCKET: s3.bucket,
    EVIDENCE_S3_PATH_STYLE: "true",
    EVIDENCE_S3_ACCESS_KEY_ID: "access",
    EVIDENCE_S3_SECRET_ACCESS_KEY: "secret",
  };
  return startScript(join(import.meta.dirname, "../evidence-command.ts"), ["verify", ...args], { env }).ended;
}

describe.each(["mongodb", "s3"] as const)("evidence in %s", (store) => {
  let service: TestService;
  beforeAll(async () => {
    service = await startReplica({ store, s3: s3Settings(), keyPrefix: "vvs/" });
  });

  test("is returned byte for byte to its organization only, and equal content is stored once", async () => {
    const [mine, again, other] = [newId("org"), newId("org"), newId("org")];
    const results = await Promise.all([mine, again, mine].map((each) => verify(service, each)));
    expect(await evidenceOf(service, results[0]!.evidenceId, mine)).toMatchObject({
      content,
      sha256: sha256Of(content!),
    });
    expect((await evidenceOf(service, results[1]!.evidenceId, again)).content).toBe(content);
    for (const { evidenceId } of results) {
      await expect(evidenceOf(service, evidenceId, other)).rejects.toMatchObject({ code: "evidence_not_found" });
    }
    const held = await bodiesOf(service.databases.live)
      .find({ _id: sha256Of(content!) })
      .toArray();
    expect(held).toMatchObject([{ bytes: Buffer.byteLength(content!) }]);
    const objects = [...s3.objects].filter(([key]) => key.startsWith(`vvs/live/${sha256Of(content!)}/`));
    expect(objects.map(([, each]) => each)).toEqual(store === "s3" ? [content] : []);
    expect(held[0]!.content instanceof Binary).toBe(store === "mongodb");
  });

  test("of a check without an answer has no body", async () => {
    content = undefined;
    const { status, evidenceId } = await verify(service);
    expect(status).toBe(CheckStatus.ERROR);
    expect(await evidenceOf(service, evidenceId)).toMatchObject({ content: "", sha256: sha256Of("") });
    expect(await bodiesOf(service.databases.live).findOne({ _id: sha256Of("") })).toBeNull();
  });

  test("with its content in the record stays readable", async () => {
    const { evidenceId } = await verify(service);
    await recordsOf(service).updateOne({ _id: evidenceId }, { $set: { content }, $unset: { content_bytes: "" } });
    await bodiesOf(service.databases.live).deleteOne({ _id: sha256Of(content!) });
    expect((await evidenceOf(service, evidenceId)).content).toBe(content);
  });

  test("that was tampered with is never shown, and the command names it", async () => {
    const [whole, changed, lost] = [newId("org"), newId("org"), newId("org")];
    const ids: string[] = [];
    for (const each of [whole, changed, lost]) {
      content = `{"of":"${each}"}`;
      ids.push((await verify(service, each)).evidenceId);
    }
    const bodies = bodiesOf(service.databases.live);
    const body = await bodies.findOne({ _id: sha256Of(`{"of":"${changed}"}`) });
    if (body?.object_key) s3.objects.set(body.object_key, "{}");
    else await bodies.updateOne({ _id: body!._id }, { $set: { content: new Binary(Buffer.from("{}")) } });
    await bodies.deleteOne({ _id: sha256Of(`{"of":"${lost}"}`) });

    for (const [index, each] of [changed, lost].entries()) {
      const asked = evidenceOf(service, ids[index + 1]!, each);
      await expect(asked).rejects.toMatchObject({ code: "internal_error" });
    }
    const { code, stdout, stderr } = await verifyCommand(service, ["--environment", "live", "--since", "2020-01-01"]);
    expect(stderr.trim().split("\n").sort()).toEqual([
      `${ids[1]}: the content differs from its hash`,
      `${ids[2]}: the content is missing`,
    ]);
    expect([code, stdout.replace(/^\d+/, "N")]).toEqual([1, "N records checked, 2 at fault\n"]);
    await bodies.deleteOne({ _id: body!._id });
    await recordsOf(service).deleteMany({ _id: { $in: ids.slice(1) } });
  });
});

test("the command checks only records since a day", async () => {
  const service = await startReplica({});
  await verify(service);
  const later = new Date(Date.now() + 2 * DAY_MS).toISOString().slice(0, 10);
  const stdout = "0 records checked, 0 at fault\n";
  expect(await verifyCommand(service, ["--since", later])).toEqual({ code: 0, stdout, stderr: "" });
  const refused = { code: 1, stdout: "", stderr: expect.stringMatching(/^Usage:/) };
  expect(await verifyCommand(service, ["--since", "2026-02-30"])).toEqual(refused);
});

describe("an object store", () => {
  let service: TestService;
  let impatient: TestService;
  beforeAll(async () => {
    service = await startReplica({ store: "s3", s3: s3Settings() });
    impatient = await startReplica({ store: "s3", s3: s3Settings(1_000) }, service.prefix);
  });

  test.each(["500", "silent", "no_bucket"] as const)(
    "that answers %s refuses the call, and nothing is stored",
    async (how) => {
      s3.misbehave(how);
      await expect(verify(impatient)).rejects.toMatchObject({ code: "service_unavailable" });
      for (const name of ["verifications", "evidence", "latest_answers"]) {
        expect(await service.databases.live.collection(name).countDocuments({ organization_id: org })).toBe(0);
      }
      expect(await bodiesOf(service.databases.live).countDocuments({ _id: sha256Of(content!) })).toBe(0);
      s3.misbehave(undefined);
      expect((await evidenceOf(service, (await verify(service)).evidenceId)).content).toBe(content);
    },
  );

  test.each(["500", "silent", "cut", "no_bucket"] as const)(
    "that answers %s to a reader is unavailable",
    async (how) => {
      const { evidenceId } = await verify(service);
      s3.misbehave(how);
      await expect(evidenceOf(impatient, evidenceId)).rejects.toMatchObject({ code: "service_unavailable" });
    },
  );

  test("whose object is lost is our own fault, not a missing record", async () => {
    const { evidenceId } = await verify(service);
    for (const key of s3.objects.keys()) if (key.includes(sha256Of(content!))) s3.objects.delete(key);
    await expect(evidenceOf(service, evidenceId)).rejects.toMatchObject({ code: "internal_error" });
  });

  describe("whose object was put and whose body is not stored yet", () => {
    const held = new Map<string, Uint8Array>();
    let afterPut: () => Promise<void>;
    const objects: ObjectStore = {
      async put(key, bytes) {
        held.set(key, bytes);
        await afterPut();
      },
      get: async (key) => held.get(key),
      remove: async (key) => void held.delete(key),
    };
    const bodiesIn = (store: ObjectStore) =>
      createEvidenceBodies({
        db: service.databases.live,
        store: "s3",
        keyPrefix: "",
        objects: store,
        now: () => new Date(),
      });
    const put = (store = objects) => bodiesIn(store).put([{ sha256: sha256Of(content!), content: content! }]);
    const sweep = (days: number) =>
      removeAbandoned({
        db: service.databases.live,
        objects,
        now: new Date(Date.now() + days * DAY_MS),
        stopping: new AbortController().signal,
      });
    const isRead = async () => (await bodiesIn(objects).get(sha256Of(content!))) !== undefined;

    beforeEach(async () => {
      for (const name of ["evidence_removals", "evidence_sweeps"])
        await service.databases.live.collection(name).deleteMany({});
      held.clear();
      afterPut = async () => undefined;
    });

    test.each([1.01, 30])(
      "removes a body whose call stored no record by a sweep after a day or later: %d",
      async (days) => {
        await put();
        await sweep(0.9);
        expect(await isRead()).toBe(true);
        await sweep(days);
        expect([held.size, await isRead()]).toEqual([0, false]);
      },
    );

    test("removes the object after a day if the call ended early", async () => {
      afterPut = () => Promise.reject(new Error("crashed"));
      await expect(put()).rejects.toThrow("crashed");
      await sweep(0.9);
      expect(held.size).toBe(1);
      await sweep(1.1);
      expect(held.size).toBe(0);
    });

    test("removes the object of a second call after a day if that call could not remove it", async () => {
      afterPut = () => {
        afterPut = async () => undefined;
        return put();
      };
      await put({ ...objects, remove: () => Promise.reject(new Error("unavailable")) });
      expect(held.size).toBe(2);
      const evidence = service.databases.live.collection("evidence");
      const { insertedId } = await evidence.insertOne({ sha256: sha256Of(content!) });
      await sweep(1.1);
      expect([held.size, await isRead()]).toEqual([1, true]);
      await evidence.deleteOne({ _id: insertedId });
    });

    test("removes the object of a removed body", async () => {
      await put();
      const db = service.databases.live;
      await bodiesOf(db).updateOne({ _id: sha256Of(content!) }, { $set: { last_put_at: new Date(0) } });
      const removed = () =>
        inTransaction(db.client, (session) =>
          removeBodies(session, { db, sha256s: [sha256Of(content!)], now: new Date() }),
        );
      expect([await removed(), await removed(), await isRead()]).toEqual([1, 0, false]);
      await sweep(0);
      expect(held.size).toBe(0);
    });

    test("refuses the call if the object was removed meanwhile, so that no body is stored without its object", async () => {
      afterPut = async () => void (await sweep(1.1));
      await expect(put()).rejects.toMatchObject({ code: "service_unavailable" });
      expect([held.size, await isRead()]).toEqual([0, false]);
      afterPut = async () => undefined;
      await put();
      await sweep(1.1);
      expect([held.size, await isRead()]).toEqual([1, true]);
      expect(await service.databases.live.collection("evidence_removals").countDocuments()).toBe(0);
    });
  });

  test("can still be read when new content goes into MongoDB again", async () => {
    const { evidenceId } = await verify(service);
    const other = await startReplica({ store: "mongodb", s3: s3Settings() }, service.prefix);
    expect((await evidenceOf(other, evidenceId)).content).toBe(content);
  });
});
