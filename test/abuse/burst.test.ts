import { expect, test } from "@jest/globals";
import type { Answer } from "../support/api.ts";
import { createOrganization } from "../support/organization.ts";
import { ATTACK_TIMEOUT_MS, createNeighbour } from "./neighbour.ts";

const AT_ONCE = 200;
const realtime = { checks: ["sam_registration"], mode: "realtime" };

const [attacker, neighbour] = await Promise.all([createOrganization(), createNeighbour()]);

/** An answer of the service itself, or a refusal that says when to try again. */
const isServedOrRefused = ({ status, headers }: Answer) =>
  status < 300 || status === 404 || ((status === 429 || status === 503) && Number(headers.get("retry-after")) > 0);

test.each([
  [
    "fuzzy look-ups",
    (index: number) =>
      attacker.live.post("/v1/entities/lookup", {
        legal_name: `General Construction Services and Technology Group of America ${index} Incorporated`,
        address: "100 Main Street, Springfield, IL 62701",
        mode: "fuzzy",
      }),
  ],
  ["creations", (index: number) => attacker.live.post("/v1/entities", { legal_name: `Attacker ${index} LLC` })],
  ["lists", () => attacker.live.get("/v1/entities?limit=100")],
  ["verifications", () => attacker.live.post("/v1/verify", { identifiers: { uei: "ZZNRTHWND001" }, ...realtime })],
  [
    "verifications in the sandbox",
    () => attacker.sandbox.post("/v1/verify", { identifiers: { uei: "SANDBXACTVE1" }, ...realtime }),
  ],
  ["events that a client waits for", () => attacker.live.get("/v1/events?after=start&wait=1")],
])(
  "a burst of %s is served or refused with Retry-After, and another organization is served completely meanwhile",
  async (_what, call) => {
    const answers = await neighbour.worksUnder({ atOnce: AT_ONCE, call });
    expect(answers.filter((answer) => !isServedOrRefused(answer))).toEqual([]);
    expect(answers.some(({ status }) => status < 300 || status === 404)).toBe(true);
  },
  ATTACK_TIMEOUT_MS,
);
