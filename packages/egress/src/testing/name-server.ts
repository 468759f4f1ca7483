import { createSocket, type RemoteInfo } from "node:dgram";
import { once } from "node:events";

const HEADER_BYTES = 12;
const QUESTION_END_BYTES = 5;
const TYPE_A = 1;

/**
 * Starts a name server for tests that answers with an IPv4 address for each name: with none for names that have no address,
 * and not at all for those whose address is `"never"`.
 */
export async function startNameServer(addressOf: (name: string) => string | undefined) {
  const socket = createSocket("udp4");
  const asked = new Set<string>();
  socket.on("message", (query: Buffer, { port, address }: RemoteInfo) => {
    const name = nameIn(query);
    asked.add(name);
    const found = addressOf(name);
    if (found !== "never") socket.send(answer(query, found), port, address);
  });
  socket.bind(0, "127.0.0.1");
  await once(socket, "listening");
  return {
    address: `127.0.0.1:${socket.address().port}`,
    /** The names that it was asked for. */
    asked,
    close: () => void socket.close(),
  };
}

function nameIn(query: Buffer): string {
  const labels: string[] = [];
  for (let at = HEADER_BYTES; query[at] !== 0; at += query[at]! + 1) {
    labels.push(query.toString("latin1", at + 1, at + 1 + query[at]!));
  }
  // Clients mix upper and lower case, so that answers are harder to forge.
  return labels.join(".").toLowerCase();
}

function answer(query: Buffer, address: string | undefined): Buffer {
  const questionEnd = query.indexOf(0, HEADER_BYTES) + QUESTION_END_BYTES;
  const isForAddress = query.readUInt16BE(questionEnd - 4) === TYPE_A;
  const header = Buffer.from(query.subarray(0, HEADER_BYTES));
  header.writeUInt16BE(0x8180, 2);
  header.writeUInt16BE(isForAddress && address ? 1 : 0, 6);
  header.writeUInt32BE(0, 8);
  const question = query.subarray(HEADER_BYTES, questionEnd);
  if (!isForAddress || !address) return Buffer.concat([header, question]);
  const record = [0xc0, HEADER_BYTES, 0, TYPE_A, 0, 1, 0, 0, 0, 60, 0, 4, ...address.split(".").map(Number)];
  return Buffer.concat([header, question, Buffer.from(record)]);
}
