import { connect, type Socket } from "node:net";
import { create, toBinary } from "@bufbuild/protobuf";
import { type StringValue, StringValueSchema } from "@bufbuild/protobuf/wkt";
import { expect, test } from "@jest/globals";
import { eventually, silentLogger as logger } from "@vvs/testing";
import kafkajs from "kafkajs";
import { createProducer } from "../producer.ts";
import { createInstruments } from "../telemetry.ts";
import { testKafka } from "../testing.ts";
import { startConsumer, subscription } from "./consumer.ts";

const FETCH = 1;
const JOIN_GROUP = 11;
const HEARTBEAT = 12;
const LEAVE_GROUP = 13;
const COORDINATOR_LOAD_IN_PROGRESS = 14;

const brokers = process.env.KAFKA_BROKERS!.split(",");
const { prefix, createTopic, committed } = testKafka();

/** Encodes a string as Kafka's protocol does. */
function text(value: string): Buffer {
  const bytes = Buffer.from(value);
  return Buffer.concat([Buffer.of(bytes.length >> 8, bytes.length & 255), bytes]);
}

function framed(...parts: Buffer[]): Buffer {
  const body = Buffer.concat(parts);
  const size = Buffer.alloc(4);
  size.writeInt32BE(body.length);
  return Buffer.concat([size, body]);
}

/** The broker's answer to a join while it loads the group. */
function stillLoading(correlationId: number): Buffer {
  const head = Buffer.alloc(14);
  head.writeInt32BE(correlationId, 0);
  head.writeInt16BE(COORDINATOR_LOAD_IN_PROGRESS, 8);
  head.writeInt32BE(-1, 10);
  return framed(head, text(""), text(""), text(""), Buffer.alloc(4));
}

function leaveGroup(groupId: string, memberId: string): Buffer {
  const head = Buffer.alloc(8);
  head.writeInt16BE(LEAVE_GROUP, 0);
  head.writeInt32BE(0x7fff_0000, 4);
  return framed(head, text("test"), text(groupId), text(memberId));
}

/** Sockets to the broker that can expel a member from its group, and refuse joins in the broker's place. */
function playBroker() {
  const state = {
    expelled: undefined as { groupId: string; memberId: string } | undefined,
    refusals: 0,
    outside: false,
  };
  const fetchesOutside: number[] = [];
  const joins: string[] = [];

  function onRequest(frame: Buffer, socket: Socket, write: (frame: Buffer) => void): void {
    const api = frame.readInt16BE(4);
    if (api === FETCH && state.outside) fetchesOutside.push(frame.readInt32BE(8));
    if (api === HEARTBEAT && state.expelled) {
      write(leaveGroup(state.expelled.groupId, state.expelled.memberId));
      state.expelled = undefined;
    }
    const refused = api === JOIN_GROUP && state.refusals > 0;
    if (api === JOIN_GROUP) {
      joins.push(refused ? "refused" : "passed");
      state.outside = refused;
    }
    if (!refused) write(frame);
    else {
      state.refusals--;
      setImmediate(() => socket.emit("data", stillLoading(frame.readInt32BE(8))));
    }
  }

  return {
    fetchesOutside,
    joins,
    /** Makes the group forget the member, and its coordinator refuse the next joins. */
    expel(member: { groupId: string; memberId: string }, refusals: number) {
      joins.length = 0;
      Object.assign(state, { expelled: member, refusals });
    },
    socketFactory({ host, port, onConnect }: { host: string; port: number; onConnect: () => void }): Socket {
      const socket = connect({ host, port }, onConnect);
      const write = socket.write.bind(socket);
      socket.write = ((frame: Buffer) => {
        onRequest(frame, socket, (bytes) => void write(bytes));
        return true;
      }) as Socket["write"];
      return socket;
    },
  };
}

test("a consumer that its group has forgotten fetches nothing until it has rejoined, even if the coordinator is still loading", async () => {
  const topic = await createTopic("rejoin");
  const played = playBroker();
  const members: string[] = [];
  const done: string[] = [];
  const bridge = () => (entry: kafkajs.LogEntry) => {
    if (entry.log.message === "Consumer has joined the group") members.push(String(entry.log.memberId));
  };
  const library = new kafkajs.Kafka({
    brokers,
    socketFactory: played.socketFactory,
    logCreator: bridge,
    logLevel: kafkajs.logLevel.INFO,
    retry: { retries: 12, initialRetryTime: 50, maxRetryTime: 200 },
  });
  const instruments = createInstruments();
  const producer = createProducer({ library: new kafkajs.Kafka({ brokers, logLevel: 0 }), instruments });
  const groupId = `${prefix}rejoin`;
  const consumer = startConsumer({
    groupId,
    concurrency: 1,
    logger,
    library,
    producer,
    instruments,
    subscriptions: [
      subscription({
        topic,
        schema: StringValueSchema,
        handle: async (message) => void done.push((message as StringValue).value),
      }),
    ],
  });
  try {
    await consumer.ready;
    played.expel({ groupId, memberId: members[0]! }, 3);
    await eventually(() => members.length === 2);
    expect(played.joins.slice(0, 4)).toEqual(["refused", "refused", "refused", "passed"]);
    expect(played.fetchesOutside).toEqual([]);
    const value = toBinary(StringValueSchema, create(StringValueSchema, { value: "after" }));
    await producer.send([{ topic, key: "a", value }]);
    await eventually(async () => (await committed("rejoin", topic))[0] === 1);
    expect(done).toEqual(["after"]);
  } finally {
    await consumer.stop();
  }
});
