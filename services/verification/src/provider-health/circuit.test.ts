import { describe, expect, test } from "@jest/globals";
import {
  type AttemptResult,
  afterAttempt,
  type Circuit,
  type CircuitSettings,
  closedCircuit,
  isUnsteady,
  phaseOf,
} from "./circuit.ts";

const settings: CircuitSettings = {
  faultsInRow: 3,
  faultShare: 0.5,
  windowMinimum: 6,
  windowMs: 60_000,
  openMs: 10_000,
  openMaxMs: 35_000,
  probeLeaseMs: 5_000,
};
const start = Date.parse("2026-11-21T09:00:00Z");
const at = (seconds: number) => new Date(start + seconds * 1_000);

/** a: answered, r: reached, f: fault, u: unknown; one second apart. */
function after(events: string, from: Circuit = { ...closedCircuit, window_started_at: at(0) }, beginAt = 0): Circuit {
  const kinds = { a: "answered", r: "reached", f: "fault", u: "unknown" } as const;
  return [...events].reduce(
    (circuit, letter, index) =>
      afterAttempt(circuit, { kind: kinds[letter as keyof typeof kinds], at: at(beginAt + index) }, settings),
    from,
  );
}

describe("a closed circuit", () => {
  test.each([
    ["", "closed"],
    ["ff", "closed"],
    ["fff", "open"],
    ["ffaff", "closed"],
    ["ffrf", "open"],
    ["ffuf", "open"],
    ["afafa", "closed"],
    ["afafaf", "open"],
    ["aaafaf", "closed"],
    ["rfrfrf", "open"],
  ])("after %s is %s", (events, phase) => {
    expect(phaseOf(after(events), at(events.length))).toBe(phase);
  });

  test("counts the share of faults separately in each window", () => {
    const before = after("afafa");
    const later = after("f", before, 61);
    expect(phaseOf(later, at(61))).toBe("closed");
    expect(later).toMatchObject({ window_attempts: 1, window_faults: 1 });
  });

  test.each([
    ["aaaaaa", false],
    ["f", true],
    ["fa", false],
    ["faaaaaa", false],
    ["fafaaaaa", true],
  ])("after %s is unsteady: %s", (events, unsteady) => {
    expect(isUnsteady(after(events), settings, at(events.length))).toBe(unsteady);
  });

  test("is steady again when the window with the faults is over", () => {
    expect(isUnsteady(after("fafaaaaa"), settings, at(60))).toBe(false);
  });
});

describe("an open circuit", () => {
  const open = after("fff"); // opened at 2 s

  test("is open for its time, then due for a probe", () => {
    expect(phaseOf(open, at(11))).toBe("open");
    expect(phaseOf(open, at(12))).toBe("due");
  });

  test.each(["a", "r", "f", "u"])("ignores a late %s of an attempt from before it opened", (letter) => {
    expect(after(letter, open, 3)).toBe(open);
  });
});

describe("a probe", () => {
  const probing = { ...after("fff"), probe: { id: "p", until: at(20) } };
  const ended = (kind: AttemptResult["kind"], probeId = "p") =>
    afterAttempt(probing, { kind, at: at(13), probeId }, settings);

  test("blocks other probes until its lease is over", () => {
    expect(phaseOf(probing, at(19))).toBe("probing");
    expect(phaseOf(probing, at(20))).toBe("due");
  });

  test.each([
    ["answered", "closed"],
    ["reached", "closed"],
    ["fault", "open"],
    ["unknown", "due"],
  ] as const)("that ends with %s leaves it %s", (kind, phase) => {
    expect(phaseOf(ended(kind), at(13))).toBe(phase);
  });

  test("is ignored once another one has taken its lease", () => {
    expect(ended("answered", "another")).toBe(probing);
  });

  test("that fails doubles the opening, up to a maximum; an answer resets it", () => {
    let circuit = after("fff");
    const lasted: number[] = [];
    for (let failure = 0; failure < 3; failure++) {
      const due = circuit.open_until!;
      circuit = { ...circuit, probe: { id: "p", until: due } };
      circuit = afterAttempt(circuit, { kind: "fault", at: due, probeId: "p" }, settings);
      lasted.push((circuit.open_until!.getTime() - due.getTime()) / 1_000);
    }
    expect(lasted).toEqual([20, 35, 35]);
    expect(ended("answered")).toEqual({ ...closedCircuit, window_started_at: at(13) });
  });
});
