import { environmentDatabases } from "@vvs/mongo";
import { MongoClient } from "mongodb";
import {
  type AttemptCountDocument,
  attemptCountsOf,
} from "../../services/verification/src/provider-health/attempt-counts.ts";

const HOUR_MS = 60 * 60 * 1000;
const PROVIDERS = {
  live: [
    ["sam_gov_api", "sam_registration"],
    ["sam_gov_extract", "sam_registration"],
    ["taxbandits", "tin_match"],
  ],
  sandbox: [
    ["sandbox_primary", "sam_registration"],
    ["sandbox_secondary", "tin_match"],
  ],
} as const satisfies Record<string, readonly (readonly [string, AttemptCountDocument["check_type"]])[]>;

/** Adds the attempts that verification would have counted: mostly answers, some bad days, weekends without calls. */
export async function addProviderHistory(variables: Readonly<Record<string, string>>, days: number): Promise<void> {
  const client = new MongoClient(variables.MONGODB_URI!);
  const databases = environmentDatabases(client, variables.MONGODB_DATABASE_PREFIX!, "verification");
  const currentHour = Math.floor(Date.now() / HOUR_MS) * HOUR_MS;
  for (const environment of ["live", "sandbox"] as const) {
    const counts: AttemptCountDocument[] = [];
    for (const [place, [provider, check_type]] of PROVIDERS[environment].entries()) {
      for (let at = currentHour - days * 24 * HOUR_MS; at < currentHour; at += HOUR_MS) {
        const hour = new Date(at);
        if ([0, 6].includes(hour.getUTCDay()) && place > 0) continue;
        const isBad = (at / HOUR_MS / 24 + place * 3) % 11 < 1;
        counts.push({
          _id: `${provider}:${check_type}:${hour.toISOString()}`,
          provider,
          check_type,
          hour,
          answered: 100,
          unanswered: isBad ? 60 : hour.getUTCHours() % 8,
          durations: { 7: 60, 9: 36, 11: 4 },
        });
      }
    }
    await attemptCountsOf(databases[environment]).insertMany(counts);
  }
  await client.close();
}
