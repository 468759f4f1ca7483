import { expect } from "@jest/globals";
import { atEnd, eventually } from "@vvs/testing";
import type { Answer } from "../support/api.ts";
import { createOrganization, type TestOrganization } from "../support/organization.ts";
import { isSignedWith } from "../support/signed-with.ts";
import { startSubscriber } from "../support/subscriber.ts";
import { monitorChanging } from "../support/watching-organization.ts";

/** Duration of each attack, in milliseconds; it lasts longer while the neighbour's work takes longer. */
const ATTACK_MS = 1_000 * Number(process.env.ABUSE_SECONDS ?? 3);
/** Number by which calls at the same time are multiplied. */
const STRENGTH = Number(process.env.ABUSE_STRENGTH ?? 1);
/** Timeout of a test with one attack, in milliseconds. */
export const ATTACK_TIMEOUT_MS = 60_000 + 4 * ATTACK_MS;

/** A second organization that works while another one attacks, and expects that it is served correctly and completely. */
export interface Neighbour {
  readonly organization: TestOrganization;
  /**
   * Runs an attack until the neighbour has done its work: it looks up, creates and verifies vendors, and the changes of
   * its monitor arrive. `isOver` returns whether the attack is to end. Returns its result.
   */
  worksDuring<T>(attack: (isOver: () => boolean) => Promise<T>): Promise<T>;
  /** The same under an attack of `atOnce` calls at a time. Returns the answers to the attacker. */
  worksUnder<T>(attack: { atOnce: number; call: (index: number) => Promise<T> }): Promise<T[]>;
}

/** Creates one for the tests of a file. At the end its monitor is canceled. */
export async function createNeighbour(): Promise<Neighbour> {
  const organization = await createOrganization();
  const { live, sandbox } = organization;
  const subscriber = await startSubscriber();
  const monitor = await monitorChanging(sandbox, { webhook_url: subscriber.url });
  atEnd(() => sandbox.delete(`/v1/monitors/${monitor.id}`));
  const created: string[] = [];

  async function work(): Promise<void> {
    const name = `Neighbor Works ${created.length} Limited`;
    const vendor = ok(await live.post("/v1/entities", { legal_name: name }));
    created.push(vendor.id);
    expect(ok(await live.get(`/v1/entities/${vendor.id}`)).legal_name).toBe(name);
    expect(ok(await live.post("/v1/entities/lookup", { legal_name: name })).id).toBe(vendor.id);
    const like = { legal_name: `Neighbour Work ${created.length - 1} Ltd`, mode: "fuzzy" };
    const found = ok(await live.post("/v1/entities/lookup", like));
    expect((found.candidates ?? [found])[0].id).toBe(vendor.id);
    const checks = ["sam_registration"];
    const registered = { identifiers: { uei: "ZZNRTHWND001" }, checks, mode: "realtime" };
    expect(ok(await live.post("/v1/verify", registered)).overall_result).toBe("pass");
    const active = { identifiers: { uei: "SANDBXACTVE1" }, checks, mode: "realtime" };
    expect(ok(await sandbox.post("/v1/verify", active)).overall_result).toBe("pass");
  }

  /** Waits for a change that was detected after a known one, and until the newest have arrived, signed and in order. */
  async function changeArrives(known: string | undefined): Promise<void> {
    const events = await eventually(async () => {
      const listed: { id: string }[] = (await history()).toReversed();
      return listed.length > 0 && listed.at(-1)!.id !== known && listed;
    });
    await eventually(() => events.every(({ id }) => postsOf(id).length > 0));
    const firsts = events.map(({ id }) => postsOf(id)[0]!);
    const { sandbox: secret } = organization.webhookSecrets;
    expect(firsts.filter((post) => !isSignedWith(secret, post))).toEqual([]);
    const positions = firsts.map((post) => subscriber.received.indexOf(post));
    expect(positions).toEqual(positions.toSorted((left, right) => left - right));
  }

  const postsOf = (id: string) => subscriber.received.filter(({ headers }) => headers["webhook-id"] === id);
  const history = async () => ok(await sandbox.get(`/v1/monitors/${monitor.id}/events?limit=100`)).events;

  async function worksDuring<T>(attack: (isOver: () => boolean) => Promise<T>): Promise<T> {
    const known = (await history())[0]?.id;
    let isOver = false;
    const attacking = attack(() => isOver);
    const until = performance.now() + ATTACK_MS;
    try {
      do await work();
      while (performance.now() < until);
      await changeArrives(known);
    } finally {
      isOver = true;
      await attacking;
    }
    const listed = ok(await live.get("/v1/entities?limit=100")).entities.map(({ id }: { id: string }) => id);
    expect(listed).toEqual(created.toReversed().slice(0, 100));
    return attacking;
  }

  return {
    organization,
    worksDuring,
    worksUnder: ({ atOnce, call }) =>
      worksDuring(async (isOver) => {
        const answers: Awaited<ReturnType<typeof call>>[] = [];
        for (let index = 0; !isOver(); ) {
          const burst = Array.from({ length: atOnce * STRENGTH }, () => call(index++));
          answers.push(...(await Promise.all(burst)));
        }
        return answers;
      }),
  };
}

/** Returns the body of an answer that must be a success. */
function ok({ status, body }: Answer): Answer["body"] {
  expect([status < 300, status, body]).toEqual([true, status, body]);
  return body;
}
