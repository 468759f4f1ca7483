import { expect, test } from "@jest/globals";
import { type Deadline, deadlineAt, isTooLate, underDeadline } from "@vvs/deadline";
import { isOutcomeUnknown, ServiceError } from "@vvs/errors";
import { captureLogs, eventually } from "@vvs/testing";
import { type ClientSession, MongoError } from "mongodb";
import { connectMongo } from "./client.ts";
import { errorOf, mongoBehindProxy } from "./testing/mongo-behind-proxy.ts";
import { inTransaction } from "./transaction.ts";

interface Thing {
  _id: string;
  by?: string;
}

const { db, proxy, client, things, stored } = await mongoBehindProxy<Thing>();
const inMs = (ms: number) => deadlineAt(Date.now() + ms)!;

/** Expects a certain refusal before the end of the call, by this process's own timers, which a busy machine delays too. */
async function expectRefused(work: () => Promise<unknown>, deadline: Deadline): Promise<void> {
  const { promise: callEnded, resolve } = Promise.withResolvers<unknown>();
  const timer = setTimeout(resolve, deadline.at - Date.now(), "not refused before the end of the call");
  const error = await Promise.race([underDeadline(deadline, () => errorOf(work())), callEnded]);
  clearTimeout(timer);
  expect(error).toMatchObject({ code: "service_unavailable", retryAfterSeconds: 1 });
  expect(isOutcomeUnknown(error)).toBe(false);
}

test("a transaction that another one blocks is refused before its call ends, and has no effect later", async () => {
  await stored.insertOne({ _id: "held" });
  await db.client.withSession(async (holder) => {
    holder.startTransaction();
    await stored.updateOne({ _id: "held" }, { $set: { by: "holder" } }, { session: holder });
    const deadline = inMs(5_000);
    const update = (session: ClientSession) =>
      things.updateOne({ _id: "held" }, { $set: { by: "refused" } }, { session });
    await expectRefused(() => inTransaction(client, update), deadline);
    await holder.commitTransaction();
  });
  expect(await stored.findOne({ _id: "held" })).toMatchObject({ by: "holder" });
});

test("a transaction whose MongoDB hangs is refused before its call ends, and has no effect when MongoDB continues", async () => {
  const deadline = inMs(2_000);
  let settled = false;
  const work = async (session: ClientSession) => {
    await things.insertOne({ _id: "before" }, { session });
    proxy.hold();
    await things.insertOne({ _id: "hung" }, { session }).finally(() => {
      settled = true;
    });
  };
  await expectRefused(() => inTransaction(client, work), deadline);
  proxy.release();
  await eventually(() => settled);
  // These writes wait for the locks of the refused transaction.
  await stored.insertMany([{ _id: "before" }, { _id: "hung" }]);
});

test("later writes in a refused transaction are not applied, not even outside the transaction", async () => {
  const goOn = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<unknown>();
  let sessionOfWork: ClientSession | undefined;
  const deadline = inMs(2_000);
  const work = async (session: ClientSession) => {
    sessionOfWork = session;
    await things.insertOne({ _id: "in time" }, { session });
    await goOn.promise;
    ended.resolve(await errorOf(things.insertOne({ _id: "late" }, { session })));
  };
  await expectRefused(() => inTransaction(client, work), deadline);
  // After an abort, the driver by itself would run the write outside of any transaction.
  await eventually(() => !sessionOfWork!.inTransaction());
  goOn.resolve();
  expect(await ended.promise).toMatchObject({ code: "service_unavailable" });
  expect(await stored.countDocuments({ _id: { $in: ["in time", "late"] } })).toBe(0);
});

test("a write that waits for a connection when its transaction is refused is not applied, not even outside of it", async () => {
  const { logger } = captureLogs();
  const stopping = new AbortController().signal;
  const narrow = await connectMongo({ uri: proxy.uri, maxPoolSize: 1, service: "test", logger, stopping });
  proxy.hold();
  const busy = narrow.db("admin").command({ ping: 1 });
  const ended = Promise.withResolvers<unknown>();
  const work = async (session: ClientSession) => {
    const unsent = narrow.db(db.databaseName).collection<Thing>("things").insertOne({ _id: "unsent" }, { session });
    ended.resolve(await errorOf(unsent));
  };
  await expectRefused(() => inTransaction(narrow, work), inMs(1_500));
  proxy.release();
  await busy;
  await ended.promise;
  // It waits for the locks of the refused transaction, and fails if the write has been applied.
  await stored.insertOne({ _id: "unsent" });
  await narrow.close();
});

test("no commit begins when the time for writes is over", async () => {
  const deadline = { at: Date.now() + 60_000, writesEndAt: Date.now() + 50_000 };
  const work = async (session: ClientSession) => {
    await things.insertOne({ _id: "too late" }, { session });
    deadline.writesEndAt = 0;
  };
  await expectRefused(() => inTransaction(client, work), deadline);
  expect(await stored.findOne({ _id: "too late" })).toBeNull();
});

test("nothing begins in a call whose time for writes is over", async () => {
  let began = false;
  const work = async () => {
    began = true;
  };
  const error = await errorOf(
    underDeadline({ at: Date.now() + 900, writesEndAt: 0 }, () => inTransaction(client, work)),
  );
  expect(error).toBeInstanceOf(ServiceError);
  expect(began).toBe(false);
});

test("conflicts are retried until the time for writes is over, so that a batch knows which deadline has passed", async () => {
  // Times with a fraction of a millisecond, as the deadline of a short call has.
  const deadline = { at: Date.now() + 1_500.4, writesEndAt: Date.now() + 1_200.4 };
  const conflict = async () => {
    const error = new MongoError("conflict");
    error.addErrorLabel("TransientTransactionError");
    throw error;
  };
  await expectRefused(() => inTransaction(client, conflict), deadline);
  expect(isTooLate(deadline)).toBe(true);
});

test("a commit with a lost reply is retried, and has its effect once", async () => {
  let runs = 0;
  const insert = async (session: ClientSession) => {
    runs++;
    await things.insertOne({ _id: "answer lost" }, { session });
    proxy.loseReply("commitTransaction", "cut");
  };
  await underDeadline(inMs(10_000), () => inTransaction(client, insert));
  expect(runs).toBe(1);
  expect(await stored.countDocuments({ _id: "answer lost" })).toBe(1);
});

test("a commit that was not answered by the end of the call has an unknown outcome", async () => {
  const deadline = inMs(4_000);
  const insert = async (session: ClientSession) => {
    await things.insertOne({ _id: "committed" }, { session });
    proxy.loseReply("commitTransaction", "hold");
  };
  const error = await errorOf(underDeadline(deadline, () => inTransaction(client, insert)));
  expect(isOutcomeUnknown(error)).toBe(true);
  expect(isTooLate(deadline)).toBe(true);
  expect(await stored.countDocuments({ _id: "committed" })).toBe(1);
});

test("a refusal by the work ends the transaction immediately, and keeps its code", async () => {
  const refuse = async (session: ClientSession) => {
    await things.insertOne({ _id: "refused" }, { session });
    throw new ServiceError("limit_exceeded");
  };
  await expect(inTransaction(client, refuse)).rejects.toMatchObject({ code: "limit_exceeded" });
  expect(await stored.findOne({ _id: "refused" })).toBeNull();
});
