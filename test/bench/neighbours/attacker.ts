// Attacks the product, in a process of its own. ATTACK names the attack and ATTACKER has the attacker's data as JSON.
// It prints its address. A GET of /begin starts the attack; /end stops it, waits for the last answer, and returns the
// number of answers by status. Any other request is answered with 200.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createApi } from "../../support/api.ts";
import { type Attack, type Attacker, type AttackName, attackNamed } from "./attacks.ts";

const attack: Attack = attackNamed(process.env.ATTACK as AttackName);
const attacker = JSON.parse(process.env.ATTACKER!) as Attacker;
const running = new Set<Promise<unknown>>();
let statuses: Record<string, number> = {};
let timer: NodeJS.Timeout | undefined;

function burst(): void {
  for (let index = 0; index < attack.atOnce; index++) {
    const call = attack
      .call(attacker, address())
      .catch(() => "no answer")
      .then((status) => {
        statuses[status] = (statuses[status] ?? 0) + 1;
        running.delete(call);
      });
    running.add(call);
  }
}

async function end(): Promise<typeof statuses> {
  clearInterval(timer);
  await Promise.all(running);
  await attack.undo?.(createApi(attacker.baseUrl, attacker.keys.sandbox));
  const counted = statuses;
  statuses = {};
  return counted;
}

const server = createServer(async (incoming, response) => {
  if (incoming.url === "/end") return response.end(JSON.stringify(await end()));
  if (incoming.url === "/begin") {
    burst();
    timer = setInterval(burst, attack.everyMs);
  }
  return response.end();
});
const address = () => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
server.listen(0, "127.0.0.1", () => console.log(address()));
