import { Session } from "node:inspector";
import { regExpSteps } from "./regexp-steps.ts";

/** Counts the work of code that is loaded after it was made, in steps: the same on every machine. */
export function createWorkMeter() {
  const session = new Session();
  session.connect();
  session.post("Profiler.enable");
  session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: true });

  /** Returns how often blocks of code ran since the last call. */
  function blocks(): number {
    let count = 0;
    session.post("Profiler.takePreciseCoverage", (error, coverage) => {
      if (error) throw error;
      const own = coverage.result.filter(({ url }) => url.startsWith("file:") && !url.includes("/packages/testing/"));
      for (const { functions } of own) {
        for (const { ranges } of functions) for (const range of ranges) count += range.count;
      }
    });
    return count;
  }

  return {
    /** Returns the work of a call: blocks of code that ran, and characters and elements that built-in functions compared. */
    async count(run: () => unknown): Promise<number> {
      let read = 0;
      const restore = watchBuiltIns((steps) => {
        read += steps;
      });
      blocks();
      try {
        await run();
      } finally {
        restore();
      }
      return read + blocks();
    },
    close: () => session.disconnect(),
  };
}

/** Reports the work of built-in functions that read all of a text or an array. Returns a function that ends this. */
function watchBuiltIns(note: (steps: number) => void): () => void {
  const restores: (() => void)[] = [];
  let isCounting = false;
  // biome-ignore lint/suspicious/noExplicitAny: any built-in function
  const watch = (owner: any, names: readonly string[], stepsOf: (self: any, argument: any, from: any) => number) => {
    for (const name of names) {
      const original = owner[name];
      owner[name] = function (this: unknown, ...parameters: unknown[]) {
        if (!isCounting) {
          isCounting = true;
          note(stepsOf(this, parameters[0], parameters[1]));
          isCounting = false;
        }
        return Reflect.apply(original, this, parameters);
      };
      restores.push(() => {
        owner[name] = original;
      });
    }
  };
  // biome-ignore lint/suspicious/noExplicitAny: a text or an array, and what is searched for in it
  const searched = (self: any, wanted: any, from = 0): number => {
    const found = self.indexOf(wanted, from);
    return (found < 0 ? self.length : found + 1) - from;
  };
  // Every method that takes a pattern calls exec.
  watch(RegExp.prototype, ["exec"], (self: RegExp, text: unknown) => regExpSteps(self, String(text)));
  for (const owner of [Array.prototype, String.prototype]) watch(owner, ["indexOf", "includes"], searched);
  watch(Array.prototype, ["join", "slice"], (self: unknown[]) => self.length);
  watch(String.prototype, ["split", "trim", "normalize"], (self: string) => self.length);
  watch(JSON, ["parse"], (_self, text: unknown) => String(text).length);
  return () => {
    for (const restore of restores) restore();
  };
}
