import { expect, test } from "@jest/globals";
import { Environment } from "@vvs/proto/common/v1/common";
import type { Admit } from "./admission.ts";
import { admitted } from "./admitted.ts";
import type { CallContext } from "./guard.ts";
import type { Handlers } from "./handlers.ts";
import type { TextService } from "./testing.ts";

const context: CallContext = { caller: "gateway", signal: new AbortController().signal };
const handlers = {
  ask: async () => ({ value: "asked" }),
  getText: async () => ({ value: "text" }),
} as unknown as Handlers<TextService>;

test("only the named calls are admitted, each for its caller's organization", async () => {
  const asked: unknown[] = [];
  const admit: Admit = (owner, leaving, work) => {
    asked.push([owner, leaving]);
    return work();
  };
  const { ask, getText } = admitted<TextService>(handlers, { ask: admit });
  const call = { caller: { tenant: { organizationId: "org_a", environment: Environment.LIVE } } } as never;
  expect(await ask(call, context)).toEqual({ value: "asked" });
  expect(await getText(call, context)).toEqual({ value: "text" });
  expect(asked).toEqual([[{ organizationId: "org_a", environment: "live" }, context.signal]]);
  await expect(ask({} as never, context)).rejects.toMatchObject({ code: "invalid_request" });
});
