import { expect, test } from "@jest/globals";
import { forCaller, underDeadline } from "@vvs/deadline";
import { createAdmission } from "./admission.ts";
import { inParts, outside, seatless } from "./seat.ts";

const owner = (organizationId: string, environment = "live") =>
  ({ class: "direct", organizationId, environment }) as const;
const call = (organizationId: string) => ({ owner: owner(organizationId), kind: "call" });

/** Work that runs until the test ends it. */
function heldWork() {
  const end = Promise.withResolvers<void>();
  let ran = 0;
  const work = () => {
    ran++;
    return end.promise;
  };
  return { work, end: () => end.resolve(), ran: () => ran };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

test("a call whose caller leaves while it waits never runs", async () => {
  const admit = createAdmission({ seats: 1 });
  const running = heldWork();
  const first = admit(call("a"), running.work);
  const caller = new AbortController();
  const waiting = heldWork();
  const left = forCaller(caller.signal, () => admit(call("a"), waiting.work));
  caller.abort();
  await expect(left).rejects.toMatchObject({ code: "service_unavailable" });
  running.end();
  await first;
  expect(waiting.ran()).toBe(0);
});

test("a call whose deadline leaves no time is refused for its organization's own calls, or for all", async () => {
  const admit = createAdmission({ seats: 1 });
  const running = heldWork();
  const first = admit(call("a"), running.work);
  const now = Date.now();
  const late = (of: string, afterMs: number) =>
    underDeadline({ at: now + 2 * afterMs, writesEndAt: now + afterMs }, () => admit(call(of), async () => "ran"));
  // The first gives up while the second waits: timers of the same time fire in any order.
  const burst = [late("a", 100), late("a", 200), late("b", 200)].map((each) =>
    each.catch((error: { code: string }) => error.code),
  );
  expect(await Promise.all(burst)).toEqual(["rate_limited", "service_unavailable", "service_unavailable"]);
  running.end();
  await first;
});

test("more calls than may wait are refused immediately", async () => {
  const admit = createAdmission({ seats: 1 });
  const running = heldWork();
  const calls = Array.from({ length: 251 }, () => admit(call("a"), running.work));
  await expect(admit(call("a"), running.work)).rejects.toMatchObject({ code: "rate_limited" });
  running.end();
  await Promise.all(calls);
  expect(running.ran()).toBe(251);
});

test("too many waiting calls of an organization in the sandbox refuse none of its live ones, or of another's", async () => {
  const admit = createAdmission({ seats: 1 });
  const running = heldWork();
  const inSandbox = { owner: owner("a", "sandbox"), kind: "call" };
  const calls = Array.from({ length: 251 }, () => admit(inSandbox, running.work));
  await expect(admit(inSandbox, running.work)).rejects.toMatchObject({ code: "rate_limited" });
  const live = [admit(call("a"), running.work), admit(call("b"), running.work)];
  running.end();
  await Promise.all([...calls, ...live]);
  expect(running.ran()).toBe(253);
});

test("a call within a call takes no second seat", async () => {
  const admit = createAdmission({ seats: 1 });
  expect(await admit(call("a"), () => admit(call("a"), async () => "ran"))).toBe("ran");
});

test("a call within one of another queue gives that one's seat back meanwhile", async () => {
  const [admit, hash] = [createAdmission({ seats: 1 }), createAdmission({ seats: 1, name: "hashes" })];
  const hashing = heldWork();
  const first = admit(call("a"), () => hash(call("a"), hashing.work));
  expect(await admit(call("b"), async () => "ran")).toBe("ran");
  hashing.end();
  await first;
});

test("a call never begins after its time for writes, or, within another one, without its caller", async () => {
  const admit = createAdmission({ seats: 1 });
  const late = heldWork();
  const refused = { code: "service_unavailable" };
  const past = { at: Date.now(), writesEndAt: Date.now() };
  await expect(underDeadline(past, () => admit(call("a"), late.work))).rejects.toMatchObject(refused);
  const within = () => forCaller(AbortSignal.abort(), () => admit(call("a"), late.work));
  await expect(admit(call("a"), within)).rejects.toMatchObject(refused);
  expect(late.ran()).toBe(0);
});

test("a call that waits outside leaves its seat to others, and parts of it may wait at the same time", async () => {
  const admit = createAdmission({ seats: 1 });
  const [one, other] = [heldWork(), heldWork()];
  const first = admit(call("a"), async () => {
    await Promise.all([outside(one.work), outside(other.work)]);
    return "first";
  });
  expect(await admit(call("b"), async () => "second")).toBe("second");
  one.end();
  await turn();
  other.end();
  expect(await first).toBe("first");
});

test("a call of several parts leaves its seat to others while each part that has not ended waits outside", async () => {
  const admit = createAdmission({ seats: 1 });
  const [quick, failed, slow] = [heldWork(), heldWork(), heldWork()];
  const first = admit(call("a"), () =>
    inParts([
      () => outside(quick.work),
      async () => {
        await outside(failed.work);
        await outside(slow.work);
      },
    ]),
  );
  expect(await admit(call("b"), async () => "both wait")).toBe("both wait");
  failed.end();
  await turn();
  expect(await admit(call("b"), async () => "one waits again")).toBe("one waits again");
  quick.end();
  await turn();
  expect(await admit(call("b"), async () => "the other has ended")).toBe("the other has ended");
  slow.end();
  await first;
});

test("a call whose part failed goes on in its seat while other parts wait outside", async () => {
  const admit = createAdmission({ seats: 1 });
  const [slow, after] = [heldWork(), heldWork()];
  const parts = [() => Promise.reject(new Error("failed")), () => outside(slow.work)];
  const first = admit(call("a"), () => inParts(parts).catch(after.work));
  const second = heldWork();
  const next = admit(call("b"), second.work);
  await turn();
  expect([after.ran(), second.ran()]).toEqual([1, 0]);
  after.end();
  second.end();
  await Promise.all([first, next]);
  slow.end();
});

test("a call that waits outside again, after it came back to a free seat, leaves its seat to others again", async () => {
  const admit = createAdmission({ seats: 1 });
  const again = heldWork();
  const first = admit(call("a"), async () => {
    await outside(async () => undefined);
    await outside(again.work);
  });
  await turn();
  let ran = false;
  const second = admit(call("b"), async () => {
    ran = true;
  });
  await turn();
  expect(ran).toBe(true);
  again.end();
  await Promise.all([first, second]);
});

test("an error outside is the call's own, and the seat is free afterwards", async () => {
  const admit = createAdmission({ seats: 1 });
  const failed = admit(call("a"), () => outside(() => Promise.reject(new Error("away"))));
  await expect(failed).rejects.toThrow("away");
  expect(await admit(call("a"), async () => "ran")).toBe("ran");
});

test("work that a call leaves running takes no seat after it, however often that happens", async () => {
  const admit = createAdmission({ seats: 1 });
  const left: Promise<void>[] = [];
  for (let round = 0; round < 3; round++) {
    const work = heldWork();
    await admit(call("a"), async () => {
      left.push(outside(work.work));
    });
    work.end();
    await left.at(-1);
  }
  expect(await admit(call("b"), async () => "ran")).toBe("ran");
});

test("shared work that outlives a call does not hold its seat", async () => {
  const admit = createAdmission({ seats: 1 });
  const shared = heldWork();
  let background: Promise<void> | undefined;
  await admit(call("a"), async () => {
    background = seatless(() => outside(shared.work));
  });
  expect(await admit(call("b"), async () => "ran")).toBe("ran");
  shared.end();
  await background;
});
