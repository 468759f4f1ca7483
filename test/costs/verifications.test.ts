import { describe, expect, test } from "@jest/globals";
import { CheckStatus } from "@vvs/proto/common/v1/common";
import { Mode } from "@vvs/proto/verification/v1/verification";
import { eventually } from "@vvs/testing";
import { type CommandCounts, total } from "../support/command-counts.ts";
import { startCostStack, UEI, type VerifyFields } from "./stack.ts";

// How many commands MongoDB gets for a verification, over all services, with the publishing of its record and the lists of
// vendors that follow it. They don't depend on the machine's speed.

const CALLS = 16;
const TIN = "710000001";
const byTin: VerifyFields = { target: { case: "vendor", value: { identifiers: { uei: UEI, tin: TIN } } } };
const byUei: VerifyFields = { target: { case: "vendor", value: { identifiers: { uei: UEI } } } };
const stack = await startCostStack();
// Everybody has a stored answer and a remembered TIN, and is in the lists of vendors.
for (let organization = 0; organization <= CALLS; organization++) {
  const { verification } = await stack.verify(organization, Mode.REALTIME);
  expect(verification?.overallResult).toBe(CheckStatus.PASS);
  await stack.verify(organization, Mode.CACHED, byTin);
}
await stack.publish(2 * (CALLS + 1));

/** The commands of calls, without the read of withdrawn loads, which happens at most once a second. */
function costsOf({ "find registry_loads": loads = 0, ...counts }: CommandCounts): CommandCounts {
  expect(loads).toBeLessThanOrEqual(1);
  return counts;
}

let keys = 0;
const withKey = (): VerifyFields => ({
  idempotency: { apiKeyId: "key_1", path: "/v1/verify", key: `key ${++keys}`, bodyHash: new Uint8Array(32) },
});

describe("a cached call alone costs at most", () => {
  test.each([
    ["7 commands where it names an entity", 7, () => ({})],
    ["7 commands where it names its vendor by an identifier", 7, () => byUei],
    ["11 commands where it repeats the vendor's TIN", 11, () => byTin],
    ["9 commands with an Idempotency-Key", 9, withKey],
  ])("%s", async (_name, most, fields) => {
    const counts = costsOf(await stack.count(1, () => stack.verify(0, Mode.CACHED, fields())));
    expect(total(counts)).toBeLessThanOrEqual(most);
  });
});

/** Where a call is held while others come. */
interface Hold {
  /** Resolves when the first call is held. */
  readonly reached: Promise<unknown>;
  /** Resolves when the others have arrived there. */
  readonly arrived: () => Promise<unknown>;
  readonly release: () => unknown;
}

/** Counts the commands of a call, and of 16 others that come while it is held. */
async function costsTogether(
  fields: () => VerifyFields,
  { reached, arrived, release }: Hold,
  mode = Mode.CACHED,
): Promise<CommandCounts> {
  const calls = async () => {
    const first = stack.verify(0, mode, fields());
    await reached;
    const others = Array.from({ length: CALLS }, (_, index) => stack.verify(index + 1, mode, fields()));
    await arrived();
    await release();
    await Promise.all([first, ...others]);
  };
  return costsOf(await stack.count(CALLS + 1, calls));
}

/** Holds entity's answer to the first call. */
function holdSubjects(): Hold {
  const before = stack.asked.length;
  const release = stack.hold();
  return { reached: eventually(() => stack.asked.length === before + 1), arrived: stack.arrived, release };
}

/** Holds a call where entity resolves its vendor, and again where its answer is read, since entity's replies come one by one. */
function heldInResolution(...commands: Parameters<typeof stack.holdCommands>[]): Hold {
  const before = stack.resolved();
  const holds = commands.map((command) => stack.holdCommands(...command));
  return {
    reached: Promise.all(holds.map(({ reached }) => reached)),
    async arrived() {
      await stack.arrived();
      await stack.arrivedAtEntity();
    },
    async release() {
      const reading = stack.holdCommands("find", "latest_answers");
      for (const { release } of holds) release();
      await eventually(() => stack.resolved() === before + CALLS + 1);
      reading.release();
    },
  };
}

/** At most two of each command of a call alone, and one of those that publish and list. */
const SHARED: CommandCounts = {
  "aggregate entities": 2,
  "commitTransaction admin": 2,
  "delete outbox": 1,
  "find latest_answers": 2,
  // Only of vendors that this process did not write lately.
  "find vendors": 1,
  "insert outbox": 2,
  "insert verifications": 2,
  "update vendors": 1,
};

/** Returns the commands that are more than these. */
function beyond(most: CommandCounts, counts: CommandCounts): CommandCounts {
  return Object.fromEntries(Object.entries(counts).filter(([name, count]) => count > (most[name] ?? 0)));
}

describe("16 cached calls that come while another one runs share each command", () => {
  test("where they name entities", async () => {
    const before = stack.asked.length;
    expect(beyond(SHARED, await costsTogether(() => ({}), holdSubjects()))).toEqual({});
    expect(stack.asked.slice(before)).toEqual([1, CALLS]);
  });

  test("where they name their vendors by an identifier", async () => {
    const before = stack.asked.length;
    const counts = await costsTogether(() => byUei, heldInResolution(["aggregate", "entities"]));
    expect(beyond(SHARED, counts)).toEqual({});
    expect(stack.asked.slice(before)).toEqual([]);
  });

  test("where they repeat their vendors' TINs", async () => {
    const held = heldInResolution(["find", "entity_identifiers"], ["find", "tin_fingerprint_keys"]);
    const most = {
      ...SHARED,
      "aggregate entities": 4,
      "aggregate remembered_identifiers": 2,
      "find entity_identifiers": 2,
      "find tin_fingerprint_keys": 2,
    };
    expect(beyond(most, await costsTogether(() => byTin, held))).toEqual({});
  });

  test("where they have Idempotency-Keys", async () => {
    const held = { ...stack.holdCommands("insertMany", "idempotency_calls"), arrived: stack.arrived };
    const most = { ...SHARED, "insert idempotency_calls": 2, "update idempotency_calls": 2 };
    expect(beyond(most, await costsTogether(withKey, held))).toEqual({});
  });
});

test("a realtime call that the files answer costs at most 10 commands, two of them for reads of the vendor's record and answers", async () => {
  const counts = costsOf(await stack.count(1, () => stack.verify(0, Mode.REALTIME)));
  expect(counts).toMatchObject({ "aggregate registry_loads": 1, "aggregate latest_answers": 1 });
  expect(total(counts)).toBeLessThanOrEqual(10);
});

test("realtime calls that come together cost at most two commands each", async () => {
  const counts = await costsTogether(() => ({}), holdSubjects(), Mode.REALTIME);
  expect(total(counts)).toBeLessThanOrEqual(2 * (CALLS + 1));
});

test("direct calls cause no record that change-detector or monitor decodes", () => {
  expect(stack.read).toEqual({ entity: expect.any(Number) });
});
