import type { AccountStore } from "../store.ts";

/**
 * Approves live tin_match for the organizations that existed when this first ran, since they could use it before. It may run
 * again: then it finishes what a crash left. Organizations that a replica of an older version creates later stay unapproved.
 */
export async function approveExisting({ organizations, migrations }: AccountStore): Promise<void> {
  const first = await migrations.findOneAndUpdate(
    { _id: "live_tin_match" },
    [{ $set: { at: { $ifNull: ["$at", "$$NOW"] } } }],
    { upsert: true, returnDocument: "after" },
  );
  await organizations.updateMany(
    { live_tin_match: { $exists: false }, created_at: { $lte: first!.at } },
    { $set: { live_tin_match: true } },
  );
}
