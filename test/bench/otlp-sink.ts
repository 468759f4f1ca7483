// A collector that receives traces over OTLP (HTTP, protobuf) and counts their spans, started as a separate process. It
// prints its address and answers each GET with the number of spans so far.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";

const RESOURCE_SPANS = 1;
const SCOPE_SPANS = 2;
const SPANS = 2;

let spans = 0;

const server = createServer(async (request, response) => {
  if (request.method === "GET") {
    response.end(String(spans));
    return;
  }
  spans += countNested(await buffer(request), [RESOURCE_SPANS, SCOPE_SPANS, SPANS]);
  response.writeHead(200, { "content-type": "application/x-protobuf" }).end();
});
server.listen(0, "127.0.0.1", () => console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}`));

/** Counts the fields of a protobuf message at the end of a path of field numbers. Nothing else is decoded. */
function countNested(message: Buffer, [field, ...rest]: readonly number[]): number {
  let count = 0;
  for (let at = 0; at < message.length; ) {
    const [tag, afterTag] = varint(message, at);
    if ((tag & 7) !== 2) throw new Error("OTLP's containers have only messages and texts");
    const [length, start] = varint(message, afterTag);
    at = start + length;
    if (tag >> 3 === field) count += rest.length === 0 ? 1 : countNested(message.subarray(start, at), rest);
  }
  return count;
}

function varint(message: Buffer, from: number): [value: number, next: number] {
  let value = 0;
  for (let at = from, factor = 1; ; at++, factor *= 128) {
    const byte = message[at]!;
    value += (byte & 127) * factor;
    if (byte < 128) return [value, at + 1];
  }
}
