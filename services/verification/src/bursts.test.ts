import { beforeEach, expect, test } from "@jest/globals";
import { newId } from "@vvs/ids";
import { CheckStatus, CheckType } from "@vvs/proto/common/v1/common";
import { Mode } from "@vvs/proto/verification/v1/verification";
import { eventually } from "@vvs/testing";
import { passing, putVendor, testProvider, verify } from "./testing/calls.ts";
import { startTestService } from "./testing/service.ts";

let [attacker, neighbour] = ["", ""];
/** Answers the attacker's questions in progress. */
let held: (() => void)[] = [];
let isHolding: boolean;
const provider = testProvider("slow", "tin_match", async ({ tenant }) => {
  if (tenant.organizationId === attacker && isHolding) await new Promise<void>((resolve) => held.push(resolve));
  return passing();
});

const service = await startTestService({ live: [provider, testProvider("other")] });

beforeEach(() => {
  [attacker, neighbour, isHolding] = [newId("org"), newId("org"), true];
});

const ask = (organizationId: string, mode: Mode, check = CheckType.TIN_MATCH) =>
  verify(service, putVendor(service, { organizationId, tinHash: Buffer.from("hash"), tin: "471829360" }), {
    ...{ checks: [check], mode },
    actor: newId("key"),
  });

const { REALTIME, CACHED } = Mode;
test.each([
  ["realtime", [REALTIME]],
  ["cached", [CACHED]],
  ["mixed", [REALTIME, CACHED]],
])(
  "a burst of one organization's %s verifications runs 16 at a time, beside its other checks and other organizations, and all end",
  async (_name, modes) => {
    const burst = Array.from({ length: 20 }, (_, index) => ask(attacker, modes[index % modes.length]!));
    await eventually(() => held.length === 16);
    const pass = { overallResult: CheckStatus.PASS };
    for (const mode of modes) {
      expect(await ask(neighbour, mode)).toMatchObject(pass);
      expect(await ask(attacker, mode, CheckType.SAM_REGISTRATION)).toMatchObject(pass);
    }
    expect(held).toHaveLength(16);
    isHolding = false;
    for (const end of held) end();
    held = [];
    for (const verified of await Promise.all(burst)) expect(verified).toMatchObject(pass);
    expect(held).toEqual([]);
  },
);
