import { createRequire } from "node:module";
import type { ModernFakeTimers } from "@jest/fake-timers";
import type * as Globals from "@jest/globals";
import { ModuleMocker } from "jest-mock";

// What test files import from @jest/globals. Jest-circus has put the functions into the global object.

export const { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, test } =
  globalThis as unknown as typeof Globals;

const mocks = new ModuleMocker(globalThis);
let timers: ModernFakeTimers | undefined;

function fakeTimers(): ModernFakeTimers {
  if (!timers) {
    const fake = createRequire(import.meta.url)("@jest/fake-timers") as typeof import("@jest/fake-timers");
    const config = { fakeTimers: {} } as ConstructorParameters<typeof ModernFakeTimers>[0]["config"];
    timers = new fake.ModernFakeTimers({ global: globalThis, config });
  }
  return timers;
}

/** The part of jest's object that tests use. */
export const jest: Pick<
  typeof Globals.jest,
  "advanceTimersByTimeAsync" | "fn" | "restoreAllMocks" | "spyOn" | "useFakeTimers" | "useRealTimers"
> = {
  fn: mocks.fn.bind(mocks),
  spyOn: mocks.spyOn.bind(mocks),
  restoreAllMocks() {
    mocks.restoreAllMocks();
    return jest as typeof Globals.jest;
  },
  useFakeTimers(config) {
    fakeTimers().useFakeTimers(config as Parameters<ModernFakeTimers["useFakeTimers"]>[0]);
    return jest as typeof Globals.jest;
  },
  useRealTimers() {
    fakeTimers().useRealTimers();
    return jest as typeof Globals.jest;
  },
  advanceTimersByTimeAsync: (ms) => fakeTimers().advanceTimersByTimeAsync(ms),
};
