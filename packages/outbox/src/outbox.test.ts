import { randomBytes } from "node:crypto";
import { afterEach, beforeEach, expect, jest, test } from "@jest/globals";
import type { Producer, ProducerRecord } from "@vvs/kafka";
import { testKafka } from "@vvs/kafka/testing";
import { eventually, silentLogger as logger, skippedEntries, testMongo, untilEnd } from "@vvs/testing";
import { type CommandStartedEvent, type Db, ObjectId } from "mongodb";
import { createOutbox, migrateOutbox, type OutboxRecord, toRow } from "./outbox.ts";
import { type OutboxRelay, type RelayOptions, runOutboxRelay } from "./relay.ts";
import { END_ID, ensureEnds, outboxRows } from "./rows.ts";

const { kafka, createTopic, read } = testKafka();
const { client, newDb } = await testMongo();
const producer = untilEnd(kafka.producer());
const relays: OutboxRelay[] = [];
let db: Db;

beforeEach(async () => {
  db = newDb();
  await migrateOutbox(db);
});
afterEach(() => Promise.all(relays.splice(0).map((relay) => relay.stop())));

function relay(options: Partial<RelayOptions> = {}): OutboxRelay {
  const owner = randomBytes(5).toString("hex");
  const started = runOutboxRelay({ db, producer, owner, logger, pollMs: 20, ...options });
  relays.push(started);
  return started;
}

function record(topic: string, key: string, seq: number): OutboxRecord {
  return { id: `${key}-${seq}`, topic, key, seq, value: Buffer.from(`${key}${seq}`) };
}

function commit(...records: OutboxRecord[]): Promise<void> {
  const outbox = createOutbox({ db });
  return client.withSession((session) => session.withTransaction(() => outbox.append(session, ...records)));
}

const unsent = () => outboxRows(db).countDocuments({ _id: { $lt: END_ID } });
const textsOf = (records: { value: Uint8Array | null }[]) => records.map(({ value }) => String(value));

test("exactly the committed records are published, and then deleted from the outbox", async () => {
  const topic = await createTopic("committed");
  const outbox = createOutbox({ db });
  const aborted = client.withSession((session) =>
    session.withTransaction(async () => {
      await outbox.append(session, record(topic, "a", 2));
      throw new Error("the fact was refused");
    }),
  );
  await expect(aborted).rejects.toThrow("refused");
  await commit(record(topic, "a", 1), record(topic, "b", 1));
  relay();
  await eventually(async () => (await unsent()) === 0);
  const published = await read(topic);
  expect(textsOf(published).sort()).toEqual(["a1", "b1"]);
  expect(published.map(({ headers }) => headers["record-id"]).sort()).toEqual(["a-1", "b-1"]);
});

test("records of a key are published in the order of their numbers, even if the writers' clocks differ", async () => {
  const topic = await createTopic("numbers");
  await commit(...[1, 2, 3, 4].map((seq) => record(topic, "a", seq)));
  const rows = await outboxRows(db).find().sort({ seq: 1 }).toArray();
  await outboxRows(db).deleteMany({});
  const backwards = rows.map((row) => ({ ...row, _id: ObjectId.createFromTime(1_800_000_000 - row.seq) }));
  await outboxRows(db).insertMany(backwards);
  relay();
  await eventually(async () => (await unsent()) === 0);
  expect(textsOf(await read(topic))).toEqual(["a1", "a2", "a3", "a4"]);
});

test("while records are appended and published concurrently, each key keeps its order and loses nothing", async () => {
  const topic = await createTopic("concurrent", 3);
  relay();
  relay();
  const keys = ["a", "b", "c", "d", "e", "f"];
  const numbers = Array.from({ length: 30 }, (_, number) => number);
  const appendAll = async (key: string) => {
    for (const seq of numbers) await commit(record(topic, key, seq));
  };
  await Promise.all(keys.map(appendAll));
  await eventually(async () => (await unsent()) === 0);
  const published = await read(topic);
  for (const key of keys) {
    const texts = textsOf(published.filter((each) => each.key.toString() === key));
    expect([...new Set(texts)]).toEqual(numbers.map((seq) => `${key}${seq}`));
  }
});

test("more rows than a page holds are all published, in order", async () => {
  const topic = await createTopic("pages");
  const seqs = Array.from({ length: 1_200 }, (_, seq) => seq);
  await commit(
    ...seqs.flatMap((seq) =>
      seq < 30 ? [record(topic, "a", seq), record(topic, "b", seq)] : [record(topic, "a", seq)],
    ),
  );
  relay();
  await eventually(async () => (await unsent()) === 0);
  const published = await read(topic);
  expect(textsOf(published.filter(({ key }) => key.toString() === "a"))).toEqual(seqs.map((seq) => `a${seq}`));
  expect(published).toHaveLength(1_230);
});

/** Stores rows with the time of a minute ago and starts a relay. Returns it once all of them are sent. */
async function sendRows(topic: string, count: number): Promise<OutboxRelay> {
  const aMinuteAgo = Math.floor(Date.now() / 1_000) - 60;
  const sent = Array.from({ length: count }, (_, index) => ({
    ...toRow(record(topic, `key${index}`, 1)),
    _id: new ObjectId(aMinuteAgo.toString(16) + index.toString(16).padStart(16, "0")),
  }));
  await outboxRows(db).insertMany(sent);
  const started = relay();
  await eventually(async () => (await unsent()) === 0);
  return started;
}

test("a poll does not walk over the rows that were sent before", async () => {
  const rows = 400;
  await sendRows(await createTopic("sent"), rows);
  let polls = 0;
  const onCommand = ({ commandName, command }: CommandStartedEvent) => {
    if (commandName === "find" && command.find === "outbox" && command.$db === db.databaseName) polls++;
  };
  client.on("commandStarted", onCommand);
  const before = await skippedEntries(outboxRows(db));
  await eventually(() => polls >= 20);
  client.off("commandStarted", onCommand);
  // At most one of these polls in five is one that reads all.
  expect((await skippedEntries(outboxRows(db))) - before).toBeLessThan((polls * rows) / 5);
});

test("a deletion does not walk over the rows that were sent before", async () => {
  const [topic, rows, records] = [await createTopic("deleted"), 400, 20];
  const { publish } = await sendRows(topic, rows);
  const before = await skippedEntries(outboxRows(db));
  for (let seq = 0; seq < records; seq++) {
    const own = { ...record(topic, `key${rows + seq}`, 1), rowId: new ObjectId() };
    await commit(own);
    publish(own);
    await eventually(async () => (await outboxRows(db).findOne({ _id: own.rowId })) === null);
  }
  expect((await skippedEntries(outboxRows(db))) - before).toBeLessThan((records * rows) / 2);
});

test("reading the age of the oldest record does not walk over the rows that were sent before", async () => {
  const [rows, reads] = [400, 20];
  await sendRows(await createTopic("aged"), rows);
  const outbox = createOutbox({ db });
  const before = await skippedEntries(outboxRows(db));
  for (let read = 0; read < reads; read++) expect(await outbox.oldestMs()).toBe(0);
  expect((await skippedEntries(outboxRows(db))) - before).toBeLessThan((reads * rows) / 2);
});

test("a relay that dies between sending and deleting causes a repetition, not a loss", async () => {
  const topic = await createTopic("dies");
  await commit(record(topic, "a", 1), record(topic, "a", 2));
  let deaths = 0;
  const dying: Pick<Producer, "send"> = {
    async send(records) {
      await producer.send(records);
      if (++deaths === 1) throw new Error("died after sending");
    },
  };
  relay({ producer: dying });
  await eventually(async () => (await unsent()) === 0);
  expect(textsOf(await read(topic))).toEqual(["a1", "a2", "a1", "a2"]);
});

test("rows are kept while Kafka is unavailable, and published when it is back", async () => {
  const topic = await createTopic("kafka-unavailable");
  let isUnavailable = true;
  let refusals = 0;
  const flaky: Pick<Producer, "send"> = {
    async send(records: readonly ProducerRecord[]) {
      if (isUnavailable) {
        refusals++;
        throw new Error("Kafka is unavailable");
      }
      await producer.send(records);
    },
  };
  relay({ producer: flaky });
  await commit(record(topic, "a", 1));
  await eventually(() => refusals > 0);
  await commit(record(topic, "a", 2));
  expect(await unsent()).toBe(2);
  isUnavailable = false;
  await eventually(async () => (await unsent()) === 0);
  expect(textsOf(await read(topic))).toEqual(["a1", "a2"]);
});

test("what was committed while Kafka was slow is published as soon as it is not", async () => {
  const topic = await createTopic("kafka-slow");
  const gate = Promise.withResolvers<void>();
  const [sending, sent] = [Promise.withResolvers<void>(), jest.fn()];
  const slow: Pick<Producer, "send"> = {
    async send(records) {
      if (records[0]?.key === "slow") {
        sending.resolve();
        await gate.promise;
      }
      await producer.send(records);
      sent();
    },
  };
  relay({ producer: slow, leaseMs: 600_000 });
  await commit(record(topic, "before", 1));
  await eventually(() => sent.mock.calls.length === 1);
  await commit(record(topic, "slow", 1));
  await sending.promise;
  await commit(record(topic, "meanwhile", 1));
  const { now } = performance;
  const later = jest.spyOn(performance, "now").mockImplementation(() => now.call(performance) + 10_000);
  gate.resolve();
  await eventually(() => sent.mock.calls.length === 2);
  const reads: unknown[] = [];
  const note = ({ command }: CommandStartedEvent) =>
    command.find === "outbox" && command.$db === db.databaseName && reads.push(command);
  client.on("commandStarted", note);
  await eventually(() => reads.length >= 5);
  client.off("commandStarted", note);
  later.mockRestore();
  expect(await unsent()).toBe(0);
});

/** A record of this process, as it knows it after the commit. */
const ownRecord = (topic: string, key: string): OutboxRecord => ({ ...record(topic, key, 0), rowId: new ObjectId() });

/** Starts a relay that has read the outbox, and reads it again only where it must. */
async function readingOnce(topic: string, options: Partial<RelayOptions> = {}): Promise<OutboxRelay> {
  await commit(record(topic, "first", 0));
  const started = relay({ pollMs: 600_000, ...options });
  await eventually(async () => (await unsent()) === 0);
  return started;
}

test("a committed record that names its row is published and deleted without being read", async () => {
  const topic = await createTopic("own");
  const { publish } = await readingOnce(topic);
  const own = ownRecord(topic, "own");
  await commit(own);
  const reads: unknown[] = [];
  const note = ({ command }: CommandStartedEvent) => command.find === "outbox" && reads.push(command);
  client.on("commandStarted", note);
  publish(own);
  await eventually(async () => (await unsent()) === 0);
  client.off("commandStarted", note);
  expect(reads).toEqual([]);
  const published = await read(topic);
  expect(published.map(({ headers }) => headers["record-id"])).toEqual(["first-0", "own-0"]);
});

test("committed records that name their rows go to one partition together", async () => {
  const topic = await createTopic("own-together", 3);
  const { publish } = await readingOnce(topic);
  const all = Array.from({ length: 20 }, (_, index) => ownRecord(topic, `own${index}`));
  await commit(...all);
  for (const own of all) publish(own);
  await eventually(async () => (await unsent()) === 0);
  const published = (await read(topic)).filter(({ key }) => String(key).startsWith("own"));
  expect(published).toHaveLength(20);
  expect(new Set(published.map(({ partition }) => partition)).size).toBe(1);
});

test("a committed record that could not be sent is read and sent again", async () => {
  const topic = await createTopic("own-again");
  let failures = 0;
  const flaky: Pick<Producer, "send"> = {
    async send(records) {
      if (records[0]?.key === "own" && ++failures === 1) throw new Error("Kafka is unavailable");
      await producer.send(records);
    },
  };
  const { publish } = await readingOnce(topic, { producer: flaky });
  const own = ownRecord(topic, "own");
  await commit(own);
  publish(own);
  await eventually(async () => (await unsent()) === 0);
  expect(textsOf(await read(topic))).toEqual(["first0", "own0"]);
});

test("more committed records than a page holds are all published", async () => {
  const topic = await createTopic("own-pages");
  const { publish } = await readingOnce(topic);
  const all = Array.from({ length: 700 }, (_, index) => ownRecord(topic, `own${index}`));
  await commit(...all);
  for (const own of all) publish(own);
  await eventually(async () => (await unsent()) === 0);
  expect(await read(topic)).toHaveLength(701);
});

test("records of other processes are published while this one's follow each other", async () => {
  const topic = await createTopic("own-and-others");
  const { publish } = await readingOnce(topic, { pollMs: 20 });
  await commit(record(topic, "other", 0));
  let count = 0;
  await eventually(async () => {
    const own = ownRecord(topic, `own${++count}`);
    await commit(own);
    publish(own);
    return (await outboxRows(db).countDocuments({ key: "other" })) === 0;
  });
});

test("a nudge publishes a record before the next poll", async () => {
  const topic = await createTopic("nudge");
  const nudged = relay({ pollMs: 3_600_000 });
  for (const seq of [1, 2, 3]) {
    await commit(record(topic, "a", seq));
    nudged.nudge();
    await eventually(async () => (await unsent()) === 0);
  }
  expect(textsOf(await read(topic))).toEqual(["a1", "a2", "a3"]);
});

test("a record too large for Kafka is refused when it is appended, before it could block the others", async () => {
  const large = { ...record("topic", "a", 1), value: Buffer.alloc(900_000) };
  await expect(commit(large)).rejects.toThrow("too large");
  expect(await unsent()).toBe(0);
});

test("what stands behind the rows is no old record, also for a version that does not know it", async () => {
  await ensureEnds(db);
  expect(await createOutbox({ db }).oldestMs()).toBe(0);
  const times = outboxRows(db).aggregate<{ at: Date }>([{ $project: { at: { $toDate: "$_id" } } }]);
  for (const { at } of await times.toArray()) expect(at.getTime()).toBeGreaterThan(Date.now());
});

test("a record's age does not depend on the clock of the process that stored it", async () => {
  const oldestMs = () => createOutbox({ db }).oldestMs();
  expect(await oldestMs()).toBe(0);
  const slow = jest.spyOn(Date, "now").mockReturnValue(Date.now() - 3_600_000);
  await commit(record("topic", "a", 1));
  slow.mockRestore();
  expect(await oldestMs()).toBeLessThan(600_000);
  const [row] = await outboxRows(db).find().toArray();
  await outboxRows(db).insertOne({ ...row!, _id: ObjectId.createFromTime(1_700_000_000) });
  expect(await oldestMs()).toBeGreaterThan(3_600_000);
});
