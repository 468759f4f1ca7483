import type { ChangeDetected } from "@vvs/proto/events/v1/events";
import type { CallerContext } from "@vvs/tenant";
import { type Random, randomOf } from "../bench/registry/random.ts";
import { playSamGov } from "../outside/sam-gov.ts";
import { type Product, startProduct } from "./product.ts";
import { completedBy, createSweeper, killedAt } from "./sweeper.ts";
import { createWorld, type Vendor } from "./world.ts";

const MINUTE_MS = 60_000;
/** How far a replica's clock may be off, in milliseconds. */
const CLOCK_OFF_MS = MINUTE_MS;

/** What a round of histories found. */
export interface Found {
  histories: number;
  /** Scheduled checks after which both baselines were compared: those whose real run in the twin was no error. */
  compared: number;
  /** Those of which the products differ since they asked SAM.gov at times between which its answer changed. */
  asked: number;
  /** Checks that the product's sweep found to be the same. */
  swept: number;
  /** Real runs, and events of both products. */
  runs: number;
  twinRuns: number;
  events: number;
  twinEvents: number;
  /** What is wrong, in words. */
  readonly wrong: string[];
}

/** A monitor of both products. */
export interface Watched {
  readonly id: string;
  readonly entityId: string;
  readonly caller: CallerContext;
  isCanceled: boolean;
}

/** Vendors and monitors of two organizations, and what happens to them. */
export interface History {
  readonly name: string;
  readonly random: Random;
  readonly organizations: readonly [string, string];
  readonly vendors: readonly [Vendor, Vendor];
  readonly monitors: Watched[];
  /** The vendor whose identifiers an organization gave an entity, by organization and entity. */
  readonly identified: Map<string, Vendor>;
}

export type Twins = Awaited<ReturnType<typeof startTwins>>;

/**
 * Starts a product with two replicas that sweep, and its naive twin: the same product, in which each scheduled check is a
 * real run and no file is announced. Both have the same monitors, files, calls and times.
 */
export async function startTwins() {
  const clock = { at: new Date(Date.UTC(new Date().getUTCFullYear() + 1, 0, 5)) };
  const [sam, twinSam] = await Promise.all([playSamGov(), playSamGov()]);
  const world = createWorld({ sams: [sam, twinSam], now: () => clock.at });
  const round = {
    random: randomOf(0, 0, 0),
    /** For what happens at the same time, in no certain order. */
    chance: randomOf(0, 0, 0),
    /** The versions of the rules by which verification's replicas judge: two during a rollout. */
    rules: [1],
    histories: [] as History[],
    found: undefined as unknown as Found,
    /** Called for each change that a product detects. */
    onChange: (_of: string, _change: ChangeDetected): void => undefined,
  };
  const product = await startProduct({
    ...{ world, sam, clock },
    hooks: (monitors) => ({
      registryChanged: (record) => monitors.records.registryChanged(record),
      completed: (record) => completedBy(record, round.chance.pick(round.rules)),
      changed: (record) => round.onChange("product", record),
      isRepeated: () => round.chance.chance(0.05),
    }),
  });
  const twin = await startProduct({
    ...{ world, sam: twinSam, clock },
    hooks: () => ({
      registryChanged: async () => undefined,
      changed: (record) => round.onChange("twin", record),
    }),
  });
  const products = [product, twin];
  const second = await product.replica();
  const checked = (findings: readonly string[]) => {
    round.found.swept += findings.filter((finding) => finding === "same").length;
  };
  const sweepers = [product.monitors, second].map((domain) => createSweeper(domain, { ...product, checked }));

  const twins = {
    ...{ world, clock, round, product, twin, products, second, sweepers },

    /** Sets the clocks; the second replica's is up to a minute off. */
    setTime(at: Date): void {
      clock.at = at;
      for (const { monitors } of products) monitors.clock.at = at;
      const offMs = Math.round((2 * round.random.next() - 1) * CLOCK_OFF_MS);
      second.clock.at = new Date(at.getTime() + offMs);
    },

    /** Starts and ends all runs that are due: in the twin, for each scheduled check. */
    async runDue({ settle, monitors }: Product, domain = monitors): Promise<void> {
      for (let due = 1; due > 0; ) {
        if (monitors === twin.monitors) {
          await monitors.monitors.updateMany({ standing: { $exists: true } }, { $unset: { standing: true } });
        }
        due = (await domain.scheduler.claimDue()).due;
        await settle();
      }
    },

    /** Lets replicas sweep, with kills and lost leases; at the end one has made all checks, and the runs that follow have ended. */
    async sweep(): Promise<void> {
      const { random } = round;
      const [first, other] = random.chance(0.5) ? sweepers : sweepers.toReversed();
      if (random.chance(0.3)) first!.killAt(random.pick(killedAt));
      else if (random.chance(0.2)) first!.loseLease(random.below(8));
      if (random.chance(0.4)) await Promise.all([first!.sweepAll(), other!.sweepAll()]);
      else await first!.sweepAll();
      if (random.chance(0.3)) await twins.runDue(product, random.pick(sweepers).domain);
      await sweepers[0]!.sweepAll();
      await twins.runDue(product);
    },

    /** Returns a monitor with its history. */
    watched(id: string): { history: History; watched: Watched } {
      for (const history of round.histories) {
        const watched = history.monitors.find((each) => each.id === id);
        if (watched) return { history, watched };
      }
      throw new Error(`no monitor ${id}`);
    },
  };
  return twins;
}

/** Returns the vendor of a monitor's entity. */
export function vendorOf({ identified }: History, { caller, entityId }: Watched): Vendor {
  return identified.get(`${caller.tenant.organizationId} ${entityId}`)!;
}
