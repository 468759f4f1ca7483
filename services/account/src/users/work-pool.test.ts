import { describe, expect, jest, test } from "@jest/globals";
import { deadlineAt, forCaller, underDeadline } from "@vvs/deadline";
import { type Asker, createWorkPool } from "./work-pool.ts";

/** A pool of one piece of work at a time, whose first one takes until `finish`, and the names of those that were begun. */
function busyPool({ maxWaiting = 10 } = {}) {
  const pool = createWorkPool({ atOnce: 1, maxWaiting });
  const begun: string[] = [];
  const { promise: finished, resolve: finish } = Promise.withResolvers<void>();
  const ask = (name: string, asker: Asker = "stranger") => pool(asker, async () => void begun.push(name));
  const first = pool("stranger", () => finished);
  return { pool, ask, begun, finish, first };
}

const dropped = { code: "service_unavailable" };

describe("the pool of work", () => {
  test("runs as many at once as it may, and the others in order", async () => {
    const pool = createWorkPool({ atOnce: 2, maxWaiting: 10 });
    let [running, most] = [0, 0];
    const hash = async () => {
      most = Math.max(most, ++running);
      await new Promise((resolve) => setImmediate(resolve));
      running--;
    };
    await Promise.all(Array.from({ length: 8 }, () => pool("stranger", hash)));
    expect([running, most]).toEqual([0, 2]);
  });

  test("refuses strangers at once when too many wait, and still takes people whom we know, who come first", async () => {
    const { pool, ask, begun, finish, first } = busyPool({ maxWaiting: 2 });
    const waiting = [ask("a"), ask("b")];
    await expect(ask("c")).rejects.toMatchObject({ code: "rate_limited", retryAfterSeconds: 2 });
    expect(() => pool.refuseBusy("stranger")).toThrow(expect.objectContaining({ code: "rate_limited" }));
    pool.refuseBusy("known");
    waiting.push(ask("owner", "known"));
    finish();
    await Promise.all([first, ...waiting]);
    expect(begun).toEqual(["owner", "a", "b"]);
  });

  test("never begins work whose caller hung up while it waited, and frees its place", async () => {
    const { ask, begun, finish, first } = busyPool({ maxWaiting: 1 });
    const caller = new AbortController();
    const gone = forCaller(caller.signal, () => ask("gone"));
    caller.abort();
    await expect(gone).rejects.toMatchObject(dropped);
    const waiting = ask("next");
    finish();
    await Promise.all([first, waiting]);
    expect(begun).toEqual(["next"]);
  });

  test("never begins work whose deadline passed while it waited", async () => {
    const { ask, begun, finish, first } = busyPool();
    const late = underDeadline(deadlineAt(Date.now() + 50), () => ask("late"));
    await expect(late).rejects.toMatchObject(dropped);
    finish();
    await first;
    expect(begun).toEqual([]);
  });

  test("never begins work for a caller that was gone before", async () => {
    const pool = createWorkPool({ atOnce: 1, maxWaiting: 1 });
    const hash = () => Promise.reject(new Error("computed"));
    await expect(forCaller(AbortSignal.abort(), () => pool("known", hash))).rejects.toMatchObject(dropped);
    const past = deadlineAt(Date.now());
    await expect(underDeadline(past, () => pool("known", hash))).rejects.toMatchObject(dropped);
  });

  test("goes on after work that failed", async () => {
    const pool = createWorkPool({ atOnce: 1, maxWaiting: 1 });
    await expect(pool("known", () => Promise.reject(new Error("no memory")))).rejects.toThrow("no memory");
    await expect(pool("known", async () => "hash")).resolves.toBe("hash");
  });

  test("strangers' work is followed by a pause for strangers as long as the work, in which a known person's begins at once", async () => {
    const pool = createWorkPool({ atOnce: 1, maxWaiting: 10 });
    const order: string[] = [];
    // The work seems to take longer than the test.
    const clock = jest.spyOn(performance, "now").mockReturnValueOnce(0).mockReturnValueOnce(60_000);
    await pool("stranger", async () => undefined);
    clock.mockRestore();
    const stranger = underDeadline(deadlineAt(Date.now() + 50), () =>
      pool("stranger", async () => void order.push("stranger")),
    );
    await pool("known", async () => void order.push("known"));
    await expect(stranger).rejects.toMatchObject(dropped);
    expect(order).toEqual(["known"]);
  });
});
