// Loaded with `--import` before the dispatcher. Makes names resolve as PLAYED_NAMES says (JSON: name → its answers,
// given in turn, starting over after the last). Other names resolve as usual.
import { Resolver } from "node:dns/promises";

const names: Record<string, string[][]> = JSON.parse(process.env.PLAYED_NAMES ?? "{}");
const lookups: Record<string, number> = {};

/** Each lookup asks for both kinds of address, IPv4 first. */
function play(method: "resolve4" | "resolve6"): void {
  const ask = Resolver.prototype[method] as (hostname: string) => Promise<string[]>;
  Object.defineProperty(Resolver.prototype, method, {
    async value(this: Resolver, hostname: string) {
      const answers = names[hostname];
      if (!answers) return ask.call(this, hostname);
      if (method === "resolve4") lookups[hostname] = (lookups[hostname] ?? -1) + 1;
      const answer = answers[lookups[hostname]! % answers.length]!;
      const found = answer.filter((address) => address.includes(":") === (method === "resolve6"));
      if (found.length === 0) throw Object.assign(new Error(`no address of ${hostname}`), { code: "ENODATA" });
      return found;
    },
  });
}

play("resolve4");
play("resolve6");
