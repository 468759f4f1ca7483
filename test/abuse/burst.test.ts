import { beforeAll, expect, test } from "@jest/globals";
import type { Answer } from "../support/api.ts";
import { createOrganization, type TestOrganization } from "../support/organization.ts";

const AT_ONCE = 200;

let attacker: TestOrganization;
let neighbor: TestOrganization;
beforeAll(async () => {
  [attacker, neighbor] = await Promise.all([createOrganization(), createOrganization()]);
  await neighbor.live.post("/v1/entities", { legal_name: "Neighbor Works LLC" });
});

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
])(
  "a burst of %s is served or refused with Retry-After, and another tenant is served meanwhile",
  async (_what, attack) => {
    const burst = Promise.all(Array.from({ length: AT_ONCE }, (_, index) => attack(index)));
    const look = { legal_name: "Neighbour Works", mode: "fuzzy" };
    const seen = [await neighbor.live.post("/v1/entities/lookup", look), await neighbor.live.get("/v1/entities")];
    expect(seen.map(({ status }) => status)).toEqual([200, 200]);
    const answers = await burst;
    expect(answers.filter((answer) => !isServedOrRefused(answer))).toEqual([]);
    expect(answers.some(({ status }) => status < 300 || status === 404)).toBe(true);
  },
);
