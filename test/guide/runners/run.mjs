import { readFileSync } from "node:fs";
import { verify as standard } from "./receiver.mjs";
import { verify as service } from "./stripe-receiver.mjs";

const verifiers = { standard, service };
const answers = JSON.parse(readFileSync(process.argv[2], "utf8")).map(({ scheme, body, headers, secret }) => {
  // node:http gives header names in lower case.
  const lowerCase = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
  try {
    return verifiers[scheme](Buffer.from(body), lowerCase, secret).event === "monitor.change_detected";
  } catch {
    return false;
  }
});
console.log(JSON.stringify(answers));
