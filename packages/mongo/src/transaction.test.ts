import { expect, test } from "@jest/globals";
import { type Deadline, deadlineAt, isTooLate, underDeadline } from "@vvs/deadline";
import { isOutcomeUnknown, ServiceError } from "@vvs/errors";
import { eventually } from "@vvs/testing";
import { type ClientSession, MongoError } from "mongodb";
import { errorOf, mongoBehindProxy } from "./testing/mongo-behind-proxy.ts";
import { inTransaction } from "./transaction.ts";

interface Thing {
  _id: string;
  by?: string;
}

const { server, things, stored } = mongoBehindProxy<Thing>();
const inMs = (ms: number) => deadlineAt(Date.now() + ms)!;

/** A refusal that came in time and is certain. */
function expectRefused(error: unknown, deadline: Deadline): void {
  expect(error).toMatchObject({ code: "service_unavailable", retryAfterSeconds: 1 });
  expect(isOutcomeUnknown(error)).toBe(false);
  expect(Date.now()).toBeLessThan(deadline.at);
}

test("a transaction that another one holds up is refused before its call ends, and has no effect later", async () => {
  await stored().insertOne({ _id: "held" });
  await server.mongo.client.withSession(async (holder) => {
    holder.startTransaction();
    await stored().updateOne({ _id: "held" }, { $set: { by: "holder" } }, { session: holder });
    const deadline = inMs(5_000);
    const update = (session: ClientSession) =>
      things().updateOne({ _id: "held" }, { $set: { by: "refused" } }, { session });
    expectRefused(await errorOf(underDeadline(deadline, () => inTransaction(server.client, update))), deadline);
    await holder.commitTransaction();
  });
  expect(await stored().findOne({ _id: "held" })).toMatchObject({ by: "holder" });
});

test("a transaction whose MongoDB hangs is refused before its call ends, and has no effect when MongoDB goes on", async () => {
  const deadline = inMs(2_000);
  let settled = false;
  const work = async (session: ClientSession) => {
    await things().insertOne({ _id: "before" }, { session });
    server.proxy.hold();
    await things()
      .insertOne({ _id: "hung" }, { session })
      .finally(() => {
        settled = true;
      });
  };
  expectRefused(await errorOf(underDeadline(deadline, () => inTransaction(server.client, work))), deadline);
  server.proxy.release();
  await eventually(() => settled);
  // It waits for what the refused transaction holds.
  await stored().insertMany([{ _id: "before" }, { _id: "hung" }]);
});

test("what a refused transaction's work does afterwards is not written, not even outside of the transaction", async () => {
  const goOn = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<unknown>();
  let sessionOfWork: ClientSession | undefined;
  const deadline = inMs(500);
  const work = async (session: ClientSession) => {
    sessionOfWork = session;
    await things().insertOne({ _id: "in time" }, { session });
    await goOn.promise;
    ended.resolve(await errorOf(things().insertOne({ _id: "late" }, { session })));
  };
  expectRefused(await errorOf(underDeadline(deadline, () => inTransaction(server.client, work))), deadline);
  // In a transaction that was aborted the driver itself would run it outside of any.
  await eventually(() => !sessionOfWork!.inTransaction());
  goOn.resolve();
  expect(await ended.promise).toMatchObject({ code: "service_unavailable" });
  expect(await stored().countDocuments({ _id: { $in: ["in time", "late"] } })).toBe(0);
});

test("no commit begins when the time for writes is over", async () => {
  const deadline = { at: Date.now() + 60_000, writesEndAt: Date.now() + 50_000 };
  const work = async (session: ClientSession) => {
    await things().insertOne({ _id: "too late" }, { session });
    deadline.writesEndAt = 0;
  };
  expectRefused(await errorOf(underDeadline(deadline, () => inTransaction(server.client, work))), deadline);
  expect(await stored().findOne({ _id: "too late" })).toBeNull();
});

test("nothing begins in a call whose time for writes is over", async () => {
  let began = false;
  const work = async () => {
    began = true;
  };
  const error = await errorOf(
    underDeadline({ at: Date.now() + 900, writesEndAt: 0 }, () => inTransaction(server.client, work)),
  );
  expect(error).toBeInstanceOf(ServiceError);
  expect(began).toBe(false);
});

test("conflicts are retried until the time for writes is over, so that a batch knows whose time it was", async () => {
  // Times with a fraction of a millisecond, as the deadline of a short call has.
  const deadline = { at: Date.now() + 1_500.4, writesEndAt: Date.now() + 1_200.4 };
  const conflict = async () => {
    const error = new MongoError("conflict");
    error.addErrorLabel("TransientTransactionError");
    throw error;
  };
  const error = await errorOf(underDeadline(deadline, () => inTransaction(server.client, conflict)));
  expect(isTooLate(deadline)).toBe(true);
  expectRefused(error, deadline);
});

test("a commit whose answer was lost is asked for again, and has its effect once", async () => {
  let runs = 0;
  const insert = async (session: ClientSession) => {
    runs++;
    await things().insertOne({ _id: "answer lost" }, { session });
    server.proxy.loseReply("commitTransaction", "cut");
  };
  await underDeadline(inMs(10_000), () => inTransaction(server.client, insert));
  expect(runs).toBe(1);
  expect(await stored().countDocuments({ _id: "answer lost" })).toBe(1);
});

test("a commit that was not answered by the end of the call has an unknown outcome", async () => {
  const deadline = inMs(1_500);
  const insert = async (session: ClientSession) => {
    await things().insertOne({ _id: "committed" }, { session });
    server.proxy.loseReply("commitTransaction", "hold");
  };
  const error = await errorOf(underDeadline(deadline, () => inTransaction(server.client, insert)));
  expect(isOutcomeUnknown(error)).toBe(true);
  expect(isTooLate(deadline)).toBe(true);
  expect(await stored().countDocuments({ _id: "committed" })).toBe(1);
});

test("a refusal of its own ends the transaction at once, and keeps its code", async () => {
  const refuse = async (session: ClientSession) => {
    await things().insertOne({ _id: "refused" }, { session });
    throw new ServiceError("limit_exceeded");
  };
  await expect(inTransaction(server.client, refuse)).rejects.toMatchObject({ code: "limit_exceeded" });
  expect(await stored().findOne({ _id: "refused" })).toBeNull();
});
