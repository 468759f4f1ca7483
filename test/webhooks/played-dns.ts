// Loaded with `--import` before the dispatcher: names that resolve as PLAYED_NAMES tells (JSON: name → the answers that are
// given one after the other, from the beginning again after the last). Other names resolve as ever.
import dns from "node:dns/promises";
import { syncBuiltinESMExports } from "node:module";

const names: Record<string, string[][]> = JSON.parse(process.env.PLAYED_NAMES ?? "{}");
const asked: Record<string, number> = {};
const lookup = dns.lookup;

dns.lookup = (async (hostname: string, options: object) => {
  const answers = names[hostname];
  if (!answers) return lookup(hostname, options);
  asked[hostname] = (asked[hostname] ?? -1) + 1;
  const answer = answers[asked[hostname] % answers.length]!;
  return answer.map((address) => ({ address, family: address.includes(":") ? 6 : 4 }));
}) as typeof dns.lookup;
syncBuiltinESMExports();
