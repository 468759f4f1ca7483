import { join } from "node:path";
import { newId } from "@vvs/ids";
import { eventually } from "@vvs/testing";
import { collections } from "../../../services/monitor/src/store.ts";
import { startHelper } from "../../support/helper-process.ts";
import type { Row } from "../benchmark.ts";
import { percentile, sorted } from "../load.ts";
import { round } from "../round.ts";
import { type LiveDomain, openLiveDomain } from "./live-domain.ts";
import { insertMonitors } from "./monitors.ts";

const REPLICAS = 4;
const OTHERS = 500;
const HOUR_MS = 60 * 60 * 1_000;

/** What a replica has claimed. */
export interface ReplicaCounts {
  claimed: number;
  lost: number;
}

/** The time until overdue monitors are claimed, where one organization has half of them. */
export const fair: Row<"fair-monitors"> = {
  name: "fair",
  sizes: { "fair-monitors": { long: 127_000, short: 20_000 } },
  conditions: {
    fair_monitors: `overdue for an hour: half of one organization, the rest of ${OTHERS} others`,
    fair_replicas: `${REPLICAS} schedulers with outbox relays, each a process; records are sent to nowhere`,
    fair_lateness: "from the beginning of the catch-up until the claim",
    fair_telemetry: "off",
  },
  targets: { fair_ratio_others_to_giant: { at_most: 0.1 }, fair_wasted_percent: { at_most: 5 } },
  async measure({ servers, prefix, log, onClose }, { "fair-monitors": monitors }) {
    const domain = await openLiveDomain({ mongodbUri: servers.mongodbUri, prefix });
    onClose(() => domain.close());
    log(`storing ${monitors} monitors ...`);
    const giant = newId("org");
    const others = Array.from({ length: OTHERS }, () => newId("org"));
    const overdue = Date.now() - HOUR_MS;
    await insertMonitors(domain.db, {
      count: monitors,
      organizationId: (index) => (index % 2 === 0 ? giant : others[Math.floor(index / 2) % OTHERS]!),
      dueAt: (index) => new Date(overdue - index),
    });
    await domain.migrate();
    const script = join(import.meta.dirname, "replica.ts");
    const environment = { MONGODB_URI: servers.mongodbUri, PREFIX: prefix };
    const replicas: string[] = [];
    for (let index = 0; index < REPLICAS; index++) {
      const replica = await startHelper({ name: "replica", script, environment });
      onClose(() => replica.stop());
      replicas.push(replica.line);
    }
    log("catching up ...");
    const startedAt = domain.now();
    await Promise.all(replicas.map((url) => fetch(url)));
    const { runs } = collections(domain.db);
    await eventually(async () => (await runs.estimatedDocumentCount()) >= monitors, {
      timeoutMs: 20 * 60_000,
      everyMs: 1_000,
    });
    const counts = await Promise.all(replicas.map((url) => countsOf(url)));
    const lost = counts.reduce((sum, each) => sum + each.lost, 0);
    const latenessMs = await latenessOf(domain, startedAt);
    const p99 = (organizations: ReadonlySet<string>) =>
      percentile(
        sorted(latenessMs.filter(({ organization }) => organizations.has(organization)).map(({ ms }) => ms)),
        99,
      );
    const [giantMs, othersMs] = [p99(new Set([giant])), p99(new Set(others))];
    return {
      fair_giant_p99_s: round(giantMs / 1_000, 2),
      fair_others_p99_s: round(othersMs / 1_000, 2),
      fair_ratio_others_to_giant: round(othersMs / giantMs, 3),
      fair_wasted_percent: round((100 * lost) / monitors, 2),
      fair_claims_per_second: round(monitors / (percentile(sorted(latenessMs.map(({ ms }) => ms)), 100) / 1_000), 0),
    };
  },
};

async function countsOf(replica: string): Promise<ReplicaCounts> {
  const answer = await fetch(`${replica}/counts`, { headers: { connection: "close" } });
  return (await answer.json()) as ReplicaCounts;
}

async function latenessOf({ db }: LiveDomain, startedAt: Date): Promise<{ organization: string; ms: number }[]> {
  const claimed = await collections(db)
    .runs.find({}, { projection: { organization_id: 1, claimed_at: 1 } })
    .toArray();
  return claimed.map(({ organization_id, claimed_at }) => ({
    organization: organization_id,
    ms: claimed_at.getTime() - startedAt.getTime(),
  }));
}
