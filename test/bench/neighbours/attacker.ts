// Attacks the product, in a process of its own. ATTACK names the attack and ATTACKER has the attacker's data as JSON.
// It prints its address. A GET of /begin starts the attack; /end stops it, waits for the last answer, and returns the
// number of answers by status, and of those per second that were no refusal. Any other request is answered with 200.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createApi } from "../../support/api.ts";
import { type Attack, type Attacker, type AttackName, attackNamed } from "./attacks.ts";

const attack: Attack = attackNamed(process.env.ATTACK as AttackName);
const attacker = JSON.parse(process.env.ATTACKER!) as Attacker;
/** Answers to calls that were refused because there were too many, or that were not answered. */
const REFUSALS = ["429", "503", "no answer"];
let loops: Promise<void>[] = [];
let statuses: Record<string, number> = {};
let beganAt = 0;
let isOn = false;

async function loop(): Promise<void> {
  do {
    const status = await attack.call(attacker, address()).catch(() => "no answer");
    statuses[status] = (statuses[status] ?? 0) + 1;
  } while (isOn && !attack.once);
}

async function end(): Promise<{ statuses: typeof statuses; servedPerSecond: number }> {
  isOn = false;
  const counted = { ...statuses };
  const seconds = (performance.now() - beganAt) / 1_000;
  await Promise.all(loops);
  await attack.undo?.(createApi(attacker.baseUrl, attacker.keys.sandbox));
  const served = Object.entries(counted).filter(([status]) => !REFUSALS.includes(status));
  return { statuses: counted, servedPerSecond: served.reduce((sum, [, count]) => sum + count, 0) / seconds };
}

const server = createServer(async (incoming, response) => {
  if (incoming.url === "/end") return response.end(JSON.stringify(await end()));
  if (incoming.url === "/begin") {
    [statuses, beganAt, isOn] = [{}, performance.now(), true];
    loops = Array.from({ length: attack.atOnce }, loop);
  }
  return response.end();
});
const address = () => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
server.listen(0, "127.0.0.1", () => console.log(address()));
