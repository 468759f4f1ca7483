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

/** a: answered, r: reached, u: unknown, i: the input's fault, A–Z: a fault of that input, ?: one of several vendors; one second apart. */
function after(events: string, from: Circuit = { ...closedCircuit, window_started_at: at(0) }, beginAt = 0): Circuit {
  const kinds: Readonly<Record<string, AttemptResult["kind"]>> = {
    a: "answered",
    r: "reached",
    u: "unknown",
    i: "input_fault",
  };
  return [...events].reduce(
    (circuit, letter, index) =>
      afterAttempt(
        circuit,
        { kind: kinds[letter] ?? "fault", input: letter === "?" ? undefined : letter, at: at(beginAt + index) },
        settings,
      ),
    from,
  );
}

describe("a closed circuit", () => {
  test.each([
    ["", "closed"],
    ["AB", "closed"],
    ["ABC", "open"],
    ["ABaCD", "closed"],
    ["ABrC", "open"],
    ["ABuC", "open"],
    ["AaBaC", "closed"],
    ["AaBaCD", "open"],
    ["aaaAaB", "closed"],
    ["rArBrC", "open"],
  ])("after %s is %s", (events, phase) => {
    expect(phaseOf(after(events), at(events.length))).toBe(phase);
  });

  test.each([
    ["one input any number of times", "A".repeat(1_000), "closed"],
    ["one input, and answers to others between its faults", "Aa".repeat(29), "closed"],
    ["one input, and another input once", `${"A".repeat(20)}a${"A".repeat(20)}B`.slice(0, 21), "closed"],
    ["two inputs in turn, as quickly as many inputs", "ABA", "open"],
    ["two inputs, the second of which is the last", "AAB", "open"],
    ["one input that fails all the time, and an outage of all", `${"A".repeat(20)}B`, "open"],
    ["a share of two inputs in turn", "AaBaAB", "open"],
    ["one input for each answer, and another input once", `${"Aa".repeat(15)}B`, "closed"],
    ["inputs that the provider refuses", "i".repeat(30), "closed"],
    ["refused inputs between faults, which they hide no less than nothing", "AiBiiC", "open"],
    ["calls about several vendors", "?".repeat(30), "closed"],
    ["calls about several vendors, one of which fails by itself too", `${"?A".repeat(15)}`, "closed"],
  ])("after faults of %s", (_name, events, phase) => {
    expect(phaseOf(after(events), at(events.length))).toBe(phase);
  });

  test("never opens because of one input, with any settings", () => {
    const strict = { ...settings, faultsInRow: 1, windowMinimum: 1, faultShare: 0.01 };
    const fault = (circuit: Circuit, input: string) =>
      afterAttempt(circuit, { kind: "fault", at: at(1), input }, strict);
    const one = fault(fault(closedCircuit, "A"), "A");
    expect(phaseOf(one, at(1))).toBe("closed");
    expect(phaseOf(fault(one, "B"), at(1))).toBe("open");
  });

  test("holds the same few bytes after any number of faults", () => {
    const unpaired = { input: "A", count: 1_000 };
    expect(after("A".repeat(1_000), closedCircuit)).toMatchObject({ faults_in_row: 1, row_unpaired: unpaired });
  });

  test("counts the share of faults separately in each window", () => {
    const before = after("AaBaC");
    const later = after("D", before, 61);
    expect(phaseOf(later, at(61))).toBe("closed");
    expect(later).toMatchObject({ window_attempts: 1, window_faults: 1 });
  });

  test.each([
    ["aaaaaa", false],
    ["A", true],
    ["Aa", false],
    ["Aaaaaaa", false],
    ["AaBaaaaa", true],
  ])("after %s is unsteady: %s", (events, unsteady) => {
    expect(isUnsteady(after(events), settings, at(events.length))).toBe(unsteady);
  });

  test("is steady again when the window with the faults is over", () => {
    expect(isUnsteady(after("AaBaaaaa"), settings, at(60))).toBe(false);
  });
});

describe("an open circuit", () => {
  const open = after("ABC"); // opened at 2 s

  test("is open for its time, then due for a probe", () => {
    expect(phaseOf(open, at(11))).toBe("open");
    expect(phaseOf(open, at(12))).toBe("due");
  });

  test.each(["a", "r", "i", "D", "u"])("ignores a late %s of an attempt from before it opened", (letter) => {
    expect(after(letter, open, 3)).toBe(open);
  });
});

describe("a probe", () => {
  const probing = { ...after("ABC"), probe: { id: "p", until: at(20) } };
  const ended = (kind: AttemptResult["kind"], probeId = "p", input: string | undefined = "A") =>
    afterAttempt(probing, { kind, at: at(13), probeId, input }, settings);

  test("blocks other probes until its lease is over", () => {
    expect(phaseOf(probing, at(19))).toBe("probing");
    expect(phaseOf(probing, at(20))).toBe("due");
  });

  test.each([
    ["answered", "closed"],
    ["reached", "closed"],
    ["input_fault", "closed"],
    ["unknown", "due"],
  ] as const)("that ends with %s leaves it %s", (kind, phase) => {
    expect(phaseOf(ended(kind), at(13), "A")).toBe(phase);
  });

  test("that fails leaves the next one to another input, and the same input waits", () => {
    const failed = ended("fault");
    expect([phaseOf(failed, at(13), "A"), phaseOf(failed, at(32), "A")]).toEqual(["open", "open"]);
    expect([phaseOf(failed, at(13), "B"), phaseOf(failed, at(13))]).toEqual(["due", "due"]);
    expect(phaseOf(failed, at(33), "A")).toBe("due");
  });

  test("about several vendors that fails leaves the next one to any input", () => {
    const failed = afterAttempt(probing, { kind: "fault", at: at(13), probeId: "p" }, settings);
    expect(phaseOf(failed, at(13), "A")).toBe("due");
  });

  test("is ignored once another one has taken its lease", () => {
    expect(ended("answered", "another")).toBe(probing);
  });

  /** The circuit after probes of these inputs failed, each when it was due. */
  function afterProbes(inputs: string): Circuit {
    let circuit = after("ABC");
    for (const input of inputs) {
      const { open_until, failed_probe } = circuit;
      const due = failed_probe?.input === input ? failed_probe.until : open_until!;
      const probing = { ...circuit, probe: { id: "p", until: due } };
      circuit = afterAttempt(probing, { kind: "fault", at: due, input, probeId: "p" }, settings);
    }
    return circuit;
  }

  test("that fails after one of another input doubles the opening, up to a maximum; an answer resets it", () => {
    const ends = ["", "AB", "ABAB", "ABABAB"].map((inputs) => afterProbes(inputs).open_until!.getTime() / 1_000);
    expect(ends.slice(1).map((end, index) => end - ends[index]!)).toEqual([20, 35, 35]);
    expect(ended("answered")).toEqual({ ...closedCircuit, window_started_at: at(13) });
  });

  test("of one input that fails any number of times neither opens it again nor makes the next opening longer", () => {
    const failed = afterProbes("A".repeat(100));
    expect(failed).toMatchObject({ openings: 1, open_until: at(12) });
    expect(phaseOf(failed, at(12), "B")).toBe("due");
  });
});
