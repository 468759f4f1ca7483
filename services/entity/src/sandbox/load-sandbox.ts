import { inTransaction } from "@vvs/mongo";
import type { MongoClient } from "mongodb";
import type { Collections } from "../model/documents.ts";
import { applyRegistryBatch } from "../registry-load/apply.ts";
import type { Transact } from "../registry-load/load-lock.ts";
import { sandboxRegistry } from "./sandbox-registry.ts";

/** Loads the synthetic registry into the sandbox; a repetition changes nothing. */
export async function loadSandboxRegistry(options: {
  client: MongoClient;
  collections: Collections;
  now: () => Date;
}): Promise<void> {
  const { client, collections } = options;
  const now = options.now();
  const source = { name: "sandbox_registry", retrieved_at: now };
  const items = sandboxRegistry().map((facts) => ({ uei: facts.uei, facts }));
  const transact: Transact = (work) => inTransaction(client, work);
  await applyRegistryBatch({ transact, collections, loadId: undefined, source, actor: "registry:sandbox", now }, items);
}
