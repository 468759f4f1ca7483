import { eventually } from "@vvs/testing";

/** Returns how many spans the sink of a benchmark has taken so far. */
export async function spansAt(url: string): Promise<number> {
  return Number(await (await fetch(url)).text());
}

/** Returns the number of spans once it has stopped growing: exporters send every few seconds. */
export async function settledSpans(read: () => Promise<number>): Promise<number> {
  let last = -1;
  await eventually(
    async () => {
      const before = last;
      last = await read();
      return last === before;
    },
    { everyMs: 6_000 },
  );
  return last;
}
