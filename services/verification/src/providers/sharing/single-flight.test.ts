import { describe, expect, test } from "@jest/globals";
import { createSingleFlight } from "./single-flight.ts";

const neverAborted = () => new AbortController().signal;

/** Calls that end on demand, with their signals. */
function heldCalls() {
  const held: { signal: AbortSignal; end: (value: string) => void }[] = [];
  const call = (signal: AbortSignal) => {
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    signal.addEventListener("abort", () => reject(new Error("aborted")), { once: true });
    held.push({ signal, end: resolve });
    return promise;
  };
  return { held, call };
}

describe("a call that is shared", () => {
  test("is aborted when its last caller has left, not before, and can no longer be joined", async () => {
    const { held, call } = heldCalls();
    const flights = createSingleFlight<string>({ joinMs: 60_000 });
    const [one, other] = [new AbortController(), new AbortController()];
    const both = [flights.run("key", one.signal, call), flights.run("key", other.signal, call)];
    one.abort();
    await expect(both[0]).rejects.toMatchObject({ reason: "timeout" });
    expect(held[0]?.signal.aborted).toBe(false);
    other.abort();
    await expect(both[1]).rejects.toMatchObject({ reason: "timeout" });
    expect(held[0]?.signal.aborted).toBe(true);
    const next = flights.run("key", neverAborted(), call);
    held[1]?.end("again");
    expect(await next).toBe("again");
  });

  test("does not delay later callers when it hangs", async () => {
    const { held, call } = heldCalls();
    const flights = createSingleFlight<string>({ joinMs: -1 });
    const [hanging, late] = [flights.run("key", neverAborted(), call), flights.run("key", neverAborted(), call)];
    held[1]?.end("late");
    expect(await late).toBe("late");
    held[0]?.end("at last");
    expect(await hanging).toBe("at last");
  });

  test("is aborted where its only caller's time is already over", async () => {
    const flights = createSingleFlight<string>({ joinMs: 60_000 });
    const { held, call } = heldCalls();
    await expect(flights.run("key", AbortSignal.abort(), call)).rejects.toMatchObject({ reason: "timeout" });
    expect(held[0]?.signal.aborted).toBe(true);
  });
});
