import type { MongoClient } from "mongodb";
import type { Collections } from "../documents.ts";
import { sandboxRegistry } from "../sandbox-registry.ts";
import { applyRegistryBatch } from "./apply.ts";

/** Brings the sandbox's registry entities to what the made-up registry says; the same again changes nothing. */
export async function loadSandboxRegistry(options: {
  client: MongoClient;
  collections: Collections;
  now: () => Date;
}): Promise<void> {
  const { client, collections } = options;
  const now = options.now();
  const source = { name: "sandbox_registry", retrieved_at: now };
  const items = sandboxRegistry().map((facts) => ({ uei: facts.uei, facts }));
  const inTurn = <T>(work: () => Promise<T>) => work();
  await client.withSession((session) =>
    applyRegistryBatch(
      { session, inTurn, collections, loadId: undefined, source, actor: "registry:sandbox", now },
      items,
    ),
  );
}
