import type { EnvironmentDatabases } from "@vvs/mongo";
import type { SandboxTurns } from "./sandbox-providers.ts";

interface TurnsDocument {
  /** org_… */
  readonly _id: string;
  readonly turns: number;
}

/** Counts in one document per organization. */
export function createSandboxTurns(databases: EnvironmentDatabases): SandboxTurns {
  return {
    async next(tenant) {
      const turns = databases[tenant.environment].collection<TurnsDocument>("sandbox_turns");
      const counted = await turns.findOneAndUpdate(
        { _id: tenant.organizationId },
        { $inc: { turns: 1 } },
        { upsert: true, returnDocument: "after" },
      );
      return counted!.turns;
    },
  };
}
