import type { EnvironmentDatabases } from "@vvs/mongo";
import type { SandboxCalls } from "./sandbox-providers.ts";

interface CallsDocument {
  /** org_… */
  readonly _id: string;
  readonly turns: number;
}

/** Counts an organization's calls in one document. */
export function createSandboxCalls(databases: EnvironmentDatabases): SandboxCalls {
  return {
    async next(tenant) {
      const calls = databases[tenant.environment].collection<CallsDocument>("sandbox_turns");
      const counted = await calls.findOneAndUpdate(
        { _id: tenant.organizationId },
        { $inc: { turns: 1 } },
        { upsert: true, returnDocument: "after" },
      );
      return counted!.turns;
    },
  };
}
