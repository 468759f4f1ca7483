import { randomUUID } from "node:crypto";
import { expect, test } from "@jest/globals";
import { ATTACK_TIMEOUT_MS, createNeighbour } from "./neighbour.ts";
import { openPage, type PageAnswer, signIn } from "./sign-in.ts";

/** Cookies of the neighbour's user: a session, and a device that signed in before. */
const neighbour = await createNeighbour();
const { cookies } = await signIn(neighbour.organization);

const anyAddress = () => `100.${[0, 0, 0].map(() => Math.floor(Math.random() * 256)).join(".")}`;
const isKnownDevice = (cookie: string) => cookie.startsWith("__Host-device=");

test(
  "a flood of passwords from many networks locks no known person out, and API calls and open sessions go on",
  async () => {
    const { email, password } = neighbour.organization;
    const pages: PageAnswer[] = [];
    const answers = await neighbour.worksUnder({
      atOnce: 40,
      async call(index) {
        if (index % 40 === 0) pages.push(await openPage("/live/overview", cookies));
        const victim = index % 2 === 0 ? email : `${randomUUID()}@test.example`;
        return (await signIn({ email: victim, password: "a guess", forwardedFor: anyAddress() })).status;
      },
    });
    expect(answers.filter((status) => ![401, 429, 503].includes(status))).toEqual([]);
    expect(answers).toContain(429);
    expect(pages.map(({ status }) => status)).toEqual(Array(pages.length).fill(200));
    const fromAnywhere = { email, password, forwardedFor: anyAddress() };
    expect((await signIn(fromAnywhere)).status).toBe(429);
    expect((await signIn({ ...fromAnywhere, cookies: cookies.filter(isKnownDevice) })).status).toBe(303);
  },
  ATTACK_TIMEOUT_MS,
);
