// Makes the second organization's calls, in a process of its own: the benchmark's process reads the product's logs. NEIGHBOUR
// has the organization's data as JSON. It prints its address. A GET makes the calls of one round and returns them. Answers
// are not compared with the document, as the processor's time for that would count as the product's.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createApi } from "../../support/api.ts";
import { normalCalls } from "./calls.ts";
import { ROUND_MS } from "./figures.ts";

const { baseUrl, key, ...data } = JSON.parse(process.env.NEIGHBOUR!);
const call = await normalCalls(
  createApi(baseUrl, key, () => undefined),
  data,
);
const server = createServer(async (_incoming, response) => response.end(JSON.stringify(await call(ROUND_MS))));
server.listen(0, "127.0.0.1", () => console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}`));
