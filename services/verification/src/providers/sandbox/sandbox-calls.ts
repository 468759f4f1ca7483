import type { EnvironmentDatabases } from "@vvs/mongo";
import type { Tenant } from "@vvs/tenant";

/** Counts an organization's direct calls about the changing UEI, in one document: 1, 2, … */
export type CountSandboxCall = (tenant: Tenant) => Promise<number>;

export function createCountSandboxCall(databases: EnvironmentDatabases): CountSandboxCall {
  return async ({ environment, organizationId }) => {
    const calls = databases[environment].collection<{ _id: string; turns: number }>("sandbox_turns");
    const upsert = { upsert: true, returnDocument: "after" } as const;
    return (await calls.findOneAndUpdate({ _id: organizationId }, { $inc: { turns: 1 } }, upsert))!.turns;
  };
}
