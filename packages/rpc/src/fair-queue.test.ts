import { expect, test } from "@jest/globals";
import { createFairQueue, type QueueLimits } from "./fair-queue.ts";

const limits: QueueLimits = {
  running: 4,
  runningPerOrganization: 2,
  runningBesideOthers: 1,
  waiting: 6,
  waitingPerOrganization: 4,
  longestWaitMs: 2_000,
};

/** A queue whose calls are named by their organization and a number, such as a1. */
function played(its: Partial<QueueLimits> = {}, isBesideOthers = () => false) {
  const queue = createFairQueue({ ...limits, ...its }, isBesideOthers);
  const begun: string[] = [];
  const enter = (name: string) => queue.enter(name[0]!, () => begun.push(name));
  return {
    queue,
    begun,
    enter,
    /** Enters calls; returns "run", "wait" or whose share is used up. */
    enterAll: (names: string) =>
      names.split(" ").map((name) => {
        const entered = enter(name);
        return typeof entered === "function" ? "wait" : (entered ?? "run");
      }),
    /** Ends calls of these organizations, in this order; returns what began meanwhile. */
    end(organizations: string, durationMs = 0): string {
      const before = begun.length;
      for (const id of organizations) queue.leave(id, durationMs);
      return begun.slice(before).join(" ");
    },
  };
}

test.each([
  [
    "one organization's calls run up to its share, then wait, then are refused",
    "a1 a2 a3 a4 a5 a6 a7",
    "run run wait wait wait wait organization",
  ],
  ["another organization's call beside a burst begins at once", "a1 a2 a3 a4 b1 b2", "run run wait wait run run"],
  ["when all places are taken everyone waits", "a1 a2 b1 b2 c1 d1", "run run run run wait wait"],
  [
    "when too many of all wait, everyone is refused",
    "a1 a2 b1 b2 a3 a4 b3 b4 c1 c2 d1",
    "run run run run wait wait wait wait wait wait all",
  ],
])("%s", (_name, names, expected) => {
  expect(played().enterAll(names).join(" ")).toBe(expected);
});

test.each([
  [
    "organizations take turns, whoever came first",
    { running: 1 },
    "a1 a2 a3 a4 b1 b2 c1",
    "aabcab",
    "a2 b1 c1 a3 b2 a4",
  ],
  ["a place goes to no organization that has its share", {}, "a1 a2 a3 a4 b1 b2 c1", "bacb", "c1 a3"],
  ["calls of one organization begin in their order", {}, "a1 a2 a3 a4 a5", "aaa", "a3 a4 a5"],
])("%s", (_name, its, names, ends, expected) => {
  const { enterAll, end } = played(its);
  enterAll(names);
  expect(end(ends)).toBe(expected);
});

test("a call that no longer waits never begins, frees its room, and says for whose calls it waited", () => {
  const { queue, enter, enterAll, end } = played();
  enterAll("a1 a2 b1 b2");
  const [own, others] = [enter("a3"), enter("c1")] as [() => string, () => string];
  expect(queue.waiting()).toBe(2);
  expect([own(), others()]).toEqual(["organization", "all"]);
  expect(queue.waiting()).toBe(0);
  expect(end("aabb")).toBe("");
  expect(enterAll("c2 c3")).toEqual(["run", "run"]);
});

test("what would wait too long for slow calls of its organization is refused at once, until these have ended; others wait", () => {
  const { enter, enterAll, end } = played({
    running: 2,
    runningPerOrganization: 1,
    waiting: 100,
    waitingPerOrganization: 100,
  });
  enter("a1");
  for (let call = 0; call < 50; call++) {
    enter("a2");
    end("a", 900);
  }
  expect(enterAll("a1 a2 a3 b1 b2 b3 b4").join(" ")).toBe("wait wait organization run wait wait wait");
  end("aaa");
  expect(enterAll("a1 a2 a3 a4").join(" ")).toBe("run wait wait wait");
});

test("an organization runs fewer calls while others call too, ends none that run, and gets its places back afterwards", () => {
  let beside = false;
  const { enterAll, end } = played({ runningPerOrganization: 3, runningBesideOthers: 1 }, () => beside);
  expect(enterAll("a1 a2 a3 a4 a5 a6 a7").join(" ")).toBe("run run run wait wait wait wait");
  beside = true;
  expect(end("aa")).toBe("");
  expect(end("a")).toBe("a4");
  beside = false;
  expect(enterAll("a8")).toEqual(["wait"]);
  expect(end("a")).toBe("a5 a6 a7");
});

test("a call waited for its own organization's calls, also where its share has grown meanwhile", () => {
  let beside = true;
  const { enter } = played({ runningPerOrganization: 3 }, () => beside);
  enter("a1");
  const stopWaiting = enter("a2") as () => string;
  beside = false;
  expect(stopWaiting()).toBe("organization");
});

test("16 waiting calls have their turn in time, however slow they are, if that is possible without pauses", () => {
  const its = { runningBesideOthers: 0.25, waiting: 100, waitingPerOrganization: 100, longestWaitMs: 4_000 };
  const { queue, enterAll, end } = played(its, () => true);
  const burst = Array.from({ length: 18 }, (_, call) => `a${call + 1}`).join(" ");
  enterAll("a0");
  for (let call = 0; call < 50; call++) {
    enterAll("a0");
    end("a", 180);
  }
  expect(enterAll(burst).join(" ")).toBe(`${"wait ".repeat(16)}organization organization`);
  let waitedMs = 0;
  for (let call = 0; call < 16; call++) {
    waitedMs += 180 + queue.pauseMs("a", 180);
    end("a", 180);
  }
  expect(waitedMs).toBeLessThanOrEqual(3_000);
});

test.each([
  ["in a burst beside others, so that it runs half of the time", "a1 a2 a3", true, 0.5, 30],
  ["at most a quarter of a second", "a1 a2 a3", true, 0.01, 250],
  ["not where one call comes after the other", "a1", true, 0.5, 0],
  ["not where a few calls meet", "a1 a2", true, 0.5, 0],
  ["not in a burst while no other organization calls", "a1 a2 a3 a4 a5 a6 a7", false, 0.5, 0],
  ["not where several may run beside others", "a1 a2 a3 a4 a5 a6", true, 2, 0],
])("after a call there is a pause: %s", (_name, names, beside, runningBesideOthers, expected) => {
  const { queue, enterAll } = played({ runningBesideOthers, longestWaitMs: 20_000 }, () => beside);
  enterAll(names);
  expect(queue.pauseMs("a", 30)).toBe(expected);
});

test("after a very slow call as many of its organization as usually run may still wait", () => {
  const { enterAll, end } = played({ runningPerOrganization: 2, runningBesideOthers: 0.5 }, () => true);
  enterAll("a1 a2");
  for (let call = 0; call < 50; call++) {
    end("a", 10_000);
    enterAll("a2");
  }
  expect(enterAll("a3 a4").join(" ")).toBe("wait organization");
});
