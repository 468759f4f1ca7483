import { eventually } from "@vvs/testing";

/** How many spans the sink of a benchmark has taken so far. */
export async function spansAt(url: string): Promise<number> {
  return Number(await (await fetch(url)).text());
}

/** What a number of spans is once it has stopped growing: exporters send every few seconds. */
export async function settledSpans(read: () => Promise<number>): Promise<number> {
  let last = -1;
  return eventually(
    async () => {
      const now = await read();
      const stands = now === last;
      last = now;
      return stands && now;
    },
    { everyMs: 6_000 },
  );
}
