import { newId } from "@vvs/ids";
import { VendorListService } from "@vvs/proto/entity/v1/vendors";
import { createClient } from "@vvs/rpc";
import { toProtoCaller } from "@vvs/tenant";
import type { Product } from "../../../deploy/local/product.ts";
import { writePlace } from "../../../services/dashboard/src/vendors/vendor-list.ts";
import type { Collections } from "../../../services/entity/src/model/documents.ts";
import type { Row } from "../benchmark.ts";
import { median, percentile, sorted } from "../load.ts";
import { round } from "../round.ts";
import { openPages, pagePaths } from "./dashboard.ts";
import { lists, PAGE, type Place, places, positionsIn } from "./places.ts";
import { type Population, populate, startWithRegistry } from "./population.ts";

const SMALL = 100;
const WARM_UP_ROUNDS = 8;

/** One call, on the organization with few vendors and on the one with many. */
interface Pair {
  readonly name: string;
  readonly kind: Place | "count" | "page";
  readonly small: () => Promise<unknown>;
  readonly large: () => Promise<unknown>;
}

interface Latencies {
  readonly pair: Pair;
  readonly small: number[];
  readonly large: number[];
}

/** Compares pages of the lists of vendors of an organization with many vendors and of one with few. */
export const pagesRow: Row<"vendors" | "rounds"> = {
  name: "pages",
  sizes: { vendors: { long: 100_000, short: 20_000 }, rounds: { long: 60, short: 30 } },
  conditions: {
    pages_baseline: `the same pages of an organization with ${SMALL} vendors, alternating, one call at a time`,
    pages_lists: `all ${lists.length} lists of the dashboard (each filter in each order), ${PAGE} vendors a page; the page itself 50`,
    pages_processes: "the whole product, its stores and the caller on this machine",
  },
  targets: {
    first_p50_ratio: { at_most: 1.5 },
    first_p99_ratio: { at_most: 1.5 },
    middle_p50_ratio: { at_most: 1.5 },
    middle_p99_ratio: { at_most: 1.5 },
    last_p50_ratio: { at_most: 1.5 },
    last_p99_ratio: { at_most: 1.5 },
    slowest_list_p50_ratio: { at_most: 1.5 },
    page_p50_ratio: { at_most: 1.5 },
    page_p99_ratio: { at_most: 1.5 },
    count_p99_ratio: { at_most: 2 },
  },
  async measure(bench, { vendors, rounds }) {
    const { log } = bench;
    const started = await bench.share(`registry of ${vendors}`, (shared) => startWithRegistry(shared, vendors));
    const [small, large] = [await populate(started, SMALL), await populate(started, vendors)];
    log(`  ${small.vendors} and ${large.vendors} vendors`);
    const pairs = [
      ...(await callPairs({ ...started, onClose: bench.onClose }, small, large)),
      ...(await pagePairs(started, small, large)),
    ];
    const measured = await measurePairs(pairs, rounds);
    const listed = measured.filter(({ pair }) => pair.kind !== "count" && pair.kind !== "page");
    const slowest = bySlowness(listed).slice(0, 5);
    // Among many lists, the slowest is usually slow by chance. So the five slowest are measured again, for longer.
    const slowestPairs = slowest.map(({ pair }) => pair);
    const again = bySlowness(await measurePairs(slowestPairs, 3 * rounds));
    for (const { pair, ratio } of again) log(`  ${pair.name}: ${ratio.toFixed(2)}`);
    const figures = ([...places, "count", "page"] as const).map((kind) => figuresOf(kind, measured));
    return { ...Object.assign({}, ...figures), slowest_list_p50_ratio: round(again[0]!.ratio, 2) };
  },
};

/** Measures all pairs once a round, after rounds that don't count. */
async function measurePairs(pairs: readonly Pair[], rounds: number): Promise<Latencies[]> {
  const measured = pairs.map((pair): Latencies => ({ pair, small: [], large: [] }));
  for (let each = -WARM_UP_ROUNDS; each < rounds; each++) {
    for (const { pair, ...latencies } of measured) {
      const sides = each % 2 === 0 ? (["small", "large"] as const) : (["large", "small"] as const);
      for (const side of sides) {
        const began = performance.now();
        await pair[side]();
        if (each >= 0) latencies[side].push(performance.now() - began);
      }
    }
  }
  return measured;
}

/** Returns the pairs with the largest ratio of medians first. */
function bySlowness(measured: readonly Latencies[]): { readonly pair: Pair; readonly ratio: number }[] {
  return measured
    .map(({ pair, ...sides }) => ({ pair, ratio: median(sides.large) / median(sides.small) }))
    .toSorted((a, b) => b.ratio - a.ratio);
}

async function callPairs(
  {
    product,
    collections,
    onClose,
  }: { product: Product; collections: Collections; onClose: (close: () => Promise<unknown>) => void },
  small: Population,
  large: Population,
): Promise<Pair[]> {
  const address = product.environment.ENTITY_ADDRESS!;
  const client = createClient(VendorListService, { address, caller: "dashboard", tls: undefined });
  onClose(async () => client.close());
  const callerOf = ({ id: organizationId }: Population) =>
    toProtoCaller({ tenant: { organizationId, environment: "live" }, actor: newId("usr"), requestId: newId("req") });
  const page = async (by: Population, list: (typeof lists)[number], place: Place) => {
    const after = (await positionsIn(collections, by.id, list))[place];
    const { name: _name, ...request } = list;
    const caller = callerOf(by);
    return async () => {
      const { vendors, next } = await client.listVendors({ caller, ...request, limit: PAGE, ...(after && { after }) });
      if (vendors.length !== PAGE || (place === "last" && next))
        throw new Error(`${list.name}, ${place}: ${vendors.length} vendors${next ? ", and more" : ""}`);
    };
  };
  const pairs: Pair[] = [];
  for (const list of lists) {
    for (const place of places) {
      const [ofSmall, ofLarge] = [await page(small, list, place), await page(large, list, place)];
      pairs.push({ name: `${list.name}, ${place}`, kind: place, small: ofSmall, large: ofLarge });
    }
  }
  const count = (by: Population) => {
    const caller = callerOf(by);
    return () => client.countVendors({ caller });
  };
  return [...pairs, { name: "count", kind: "count", small: count(small), large: count(large) }];
}

async function pagePairs(
  { product, collections }: { product: Product; collections: Collections },
  small: Population,
  large: Population,
): Promise<Pair[]> {
  const pages = async (by: Population) => {
    const open = await openPages(product, by);
    const { middle } = await positionsIn(collections, by.id, lists[0]!);
    return [...pagePaths, `/live/vendors?after=${encodeURIComponent(writePlace(middle!))}`].map(
      (path) => () => open(path),
    );
  };
  const [ofSmall, ofLarge] = [await pages(small), await pages(large)];
  return ofSmall.map((page, index) => ({ name: `page ${index}`, kind: "page", small: page, large: ofLarge[index]! }));
}

function figuresOf(kind: Pair["kind"], measured: readonly Latencies[]): Record<string, number> {
  const of = (side: "small" | "large") =>
    sorted(measured.filter(({ pair }) => pair.kind === kind).flatMap((each) => each[side]));
  const [small, large] = [of("small"), of("large")];
  const both = (percent: number) => [percentile(small, percent), percentile(large, percent)] as const;
  const figures = [50, 99].map((percent) => {
    const [few, many] = both(percent);
    return {
      [`${kind}_small_p${percent}_ms`]: round(few, 2),
      [`${kind}_large_p${percent}_ms`]: round(many, 2),
      [`${kind}_p${percent}_ratio`]: round(many / few, 2),
    };
  });
  return Object.assign({}, ...figures);
}
