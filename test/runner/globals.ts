import { createRequire } from "node:module";
import type { ModernFakeTimers } from "@jest/fake-timers";
import type * as Globals from "@jest/globals";
import { ModuleMocker } from "jest-mock";
import { closeAll } from "../../packages/testing/src/at-end.ts";

// What test files import from @jest/globals. Jest-circus has put the functions into the global object.

const circus = globalThis as unknown as typeof Globals;

/** Returns a function that calls the current one of jest-circus, which has new ones for each file; this module is loaded once. */
const current = <Name extends keyof typeof Globals>(name: Name) =>
  new Proxy(() => undefined, {
    apply: (_target, _this, given) => Reflect.apply(circus[name] as () => unknown, undefined, given),
    get: (_target, key) => Reflect.get(circus[name], key),
  }) as unknown as (typeof Globals)[Name];

type Hook = "afterAll" | "afterEach" | "beforeAll" | "beforeEach";
const hooksOfModules: [Hook, unknown[]][] = [];

/** Registers a hook. A hook that a helper registers while it is loaded, not in a call from a test file, is kept for later files. */
const hook = (name: Hook) =>
  ((...given: unknown[]) => {
    if (!new Error().stack!.includes(".test.ts")) hooksOfModules.push([name, given]);
    Reflect.apply(circus[name], undefined, given);
  }) as (typeof Globals)[Hook];

/** Registers the kept hooks again, for the next file. */
export function registerHooksOfModules(): void {
  for (const [name, given] of hooksOfModules) Reflect.apply(circus[name], undefined, given);
}

/** Longest time for closing what the tests of a file have opened, in milliseconds. */
const CLOSE_MS = 120_000;

/** Registers that what a loaded file opens is closed after its own hooks. */
export function registerClosing(): void {
  circus.afterAll(closeAll, CLOSE_MS);
}

export const { expect } = circus;
export const [afterAll, afterEach] = [hook("afterAll"), hook("afterEach")];
export const [beforeAll, beforeEach] = [hook("beforeAll"), hook("beforeEach")];
export const [describe, it, test] = [current("describe"), current("it"), current("test")];

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
