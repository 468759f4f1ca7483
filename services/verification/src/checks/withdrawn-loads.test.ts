import { expect, test } from "@jest/globals";
import { ServiceError } from "@vvs/errors";
import { createAdmission, outside } from "@vvs/fair-queue";
import { createReadWithdrawnLoads } from "./withdrawn-loads.ts";

/** Entity, which answers when the test lets it, and a clock. */
function played() {
  const clock = { ms: 0 };
  const asked: PromiseWithResolvers<string[]>[] = [];
  const listWithdrawnLoads = async () => {
    const answer = Promise.withResolvers<string[]>();
    asked.push(answer);
    // As the real client does, the call that asks gives its seat back meanwhile.
    return { loads: await outside(() => answer.promise) } as never;
  };
  const read = createReadWithdrawnLoads({ entities: { listWithdrawnLoads }, clock: () => clock.ms });
  return { clock, asked, read };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

test("entity is asked once a second at most, and a call that comes meanwhile shares the question", async () => {
  const { clock, asked, read } = played();
  const both = [read("live"), read("live")];
  asked[0]!.resolve(["registry:bad"]);
  for (const loads of await Promise.all(both)) expect(loads.has("registry:bad")).toBe(true);
  clock.ms = 1_000;
  expect((await read("live")).has("registry:bad")).toBe(true);
  clock.ms = 1_001;
  const newer = read("live");
  asked[1]!.resolve([]);
  expect((await newer).has("registry:bad")).toBe(false);
  expect(asked).toHaveLength(2);
});

test("the age counts from the question, not from the answer", async () => {
  const { clock, asked, read } = played();
  const first = read("live");
  clock.ms = 900;
  asked[0]!.resolve([]);
  await first;
  clock.ms = 1_100;
  void read("live");
  await turn();
  expect(asked).toHaveLength(2);
});

test("without entity a call is refused, and the next one asks again", async () => {
  const { asked, read } = played();
  const refused = read("live");
  asked[0]!.reject(new ServiceError("internal_error"));
  await expect(refused).rejects.toMatchObject({ code: "service_unavailable" });
  const again = read("live");
  asked[1]!.resolve([]);
  expect((await again).has("registry:bad")).toBe(false);
});

test("calls that wait for the answer hold no seat that the asking call needs", async () => {
  const { asked, read } = played();
  const admit = createAdmission({ seats: 1 });
  const call = { owner: { class: "direct", organizationId: "org_1", environment: "live" }, kind: "call" } as const;
  const calls = Array.from({ length: 3 }, () => admit(call, async () => (await read("live")).has("registry:bad")));
  await turn();
  asked[0]!.resolve(["registry:bad"]);
  expect(await Promise.all(calls)).toEqual([true, true, true]);
});
