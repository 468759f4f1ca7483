import { expect, test } from "@jest/globals";
import { createApi } from "../support/api.ts";
import { createOrganization } from "../support/organization.ts";
import { sharedProduct } from "../support/product.ts";
import { ATTACK_TIMEOUT_MS, createNeighbour } from "./neighbour.ts";
import { signIn } from "./sign-in.ts";

// The product has one trusted proxy, which these tests simulate: the last entry is the proxy's own.
const ATTACKERS = "203.0.113.66";
const NEIGHBOURS = "198.51.100.7";
const WRONG_KEY = `svc_live_${"0".repeat(38)}`;

const neighbour = await createNeighbour();

const callFrom = (forwardedFor: string, key: string) =>
  createApi(sharedProduct().baseUrl, key).get("/v1/monitors", { headers: { "x-forwarded-for": forwardedFor } });

test(
  "a stranger without a key is limited by address, with invented addresses too; others behind the same proxy are not",
  async () => {
    const answers = await neighbour.worksUnder({
      atOnce: 100,
      call: (index) => callFrom(`10.0.${index >> 8}.${index & 255}, ${ATTACKERS}`, WRONG_KEY),
    });
    const statuses = answers.map(({ status }) => status);
    expect(new Set(statuses)).toEqual(new Set([401, 429]));
    expect(statuses.slice(0, 100).filter((status) => status === 401).length).toBeLessThanOrEqual(60);
    expect((await callFrom(ATTACKERS, WRONG_KEY)).status).toBe(429);
    expect((await callFrom(NEIGHBOURS, WRONG_KEY)).status).toBe(401);
    // A valid key works from the attacker's address too: an office has one address for all.
    expect((await callFrom(ATTACKERS, neighbour.organization.keys.live)).status).toBe(200);
  },
  ATTACK_TIMEOUT_MS,
);

test("failed sign-ins of one address keep nobody behind the same proxy from signing in", async () => {
  const { email, password } = await createOrganization();
  // In waves, as sign-ins of strangers wait for each other: on a busy machine a large wave would meet its deadline.
  const guesses: number[] = [];
  for (let wave = 0; wave < 20 && !guesses.includes(429); wave++) {
    const answers = Array.from({ length: 10 }, (_, index) =>
      signIn({
        email: `nobody-${wave}-${index}@test.example`,
        password: "a guess",
        forwardedFor: `10.1.${wave}.${index}, ${ATTACKERS}`,
      }),
    );
    guesses.push(...(await Promise.all(answers)).map(({ status }) => status));
  }
  expect(guesses).toContain(429);
  expect(guesses.filter((status) => status === 401).length).toBeLessThanOrEqual(50);
  expect((await signIn({ email, password, forwardedFor: ATTACKERS })).status).toBe(429);
  expect((await signIn({ email, password, forwardedFor: NEIGHBOURS })).status).toBe(303);
});
