// Simulated Compliancely that answers late, in its own process. It prints its address. GET /delay?ms=… sets after how long
// later submissions are answered; GET /waiting returns how many are not answered yet.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { setTimeout as wait } from "node:timers/promises";

let delayMs = 0;
let waiting = 0;
let count = 0;

const server = createServer(async (request, response) => {
  const { pathname, searchParams } = new URL(request.url!, "http://vendor");
  if (pathname === "/delay") delayMs = Number(searchParams.get("ms"));
  if (request.method === "GET") return void response.end(String(waiting));
  const { tin, name } = JSON.parse(await text(request)) as { tin: string; name: string };
  waiting++;
  await wait(delayMs);
  waiting--;
  const answer = { id: ++count, tin, name, irs_code: 0, irs_service_status: "RUNNING" };
  response.writeHead(201, { "content-type": "application/json" }).end(JSON.stringify(answer));
});
server.listen(0, "127.0.0.1", () => console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}`));
