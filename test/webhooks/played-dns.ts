// Loaded with `--import` before the dispatcher. Makes names resolve as PLAYED_NAMES says (JSON: name → its answers,
// given in turn, starting over after the last). Other names resolve as usual.
import dns from "node:dns/promises";
import { syncBuiltinESMExports } from "node:module";

const names: Record<string, string[][]> = JSON.parse(process.env.PLAYED_NAMES ?? "{}");
const lookups: Record<string, number> = {};
const lookup = dns.lookup;

dns.lookup = (async (hostname: string, options: object) => {
  const answers = names[hostname];
  if (!answers) return lookup(hostname, options);
  lookups[hostname] = (lookups[hostname] ?? -1) + 1;
  const answer = answers[lookups[hostname] % answers.length]!;
  return answer.map((address) => ({ address, family: address.includes(":") ? 6 : 4 }));
}) as typeof dns.lookup;
syncBuiltinESMExports();
