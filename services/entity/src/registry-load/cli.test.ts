import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { startScript } from "@vvs/testing";
import { verifySnapshots } from "../model/verify-snapshots.ts";
import { startTestApplication } from "../testing/application.ts";
import { extractRowText, extractText, writeText } from "./testing/registry-files.ts";

const app = await startTestApplication();

/** Runs the command as an operator does. */
function run(args: string[]) {
  const env = { MONGODB_URI: process.env.MONGODB_URI, MONGODB_DATABASE_PREFIX: app.prefix };
  return startScript(join(import.meta.dirname, "cli.ts"), args, { env });
}

test("a load that was killed continues when the file is loaded again, and each entity is complete", async () => {
  const count = 4_000;
  const rows = Array.from({ length: count }, (_, index) =>
    extractRowText({ 1: `KILL${String(index).padStart(8, "0")}`, 4: "", 12: `ENTITY NUMBER ${index} LLC` }),
  );
  const path = await writeText("big.dat", extractText(rows));
  const killed = run(["load", "--registry", path]);
  while ((await app.live.entities.countDocuments()) === 0 && killed.child.exitCode === null) await null;
  killed.child.kill("SIGKILL");
  expect((await killed.ended).code).toBeNull();
  const before = await app.live.entities.countDocuments();
  const snapshotsBefore = await app.live.snapshots.find().sort({ _id: 1 }).toArray();
  expect(before).toBeLessThan(count);
  expect(await verifySnapshots(app.live, undefined, () => undefined)).toEqual({ entities: before, faults: 0 });

  const again = await run(["load", "--registry", path]).ended;
  expect(again.stdout).toMatch(new RegExp(`rows ${count}, new ${count - before}, changed 0, unchanged ${before},`));
  expect(again.code).toBe(0);
  const verified = await run(["verify-snapshots"]).ended;
  expect(verified).toMatchObject({ code: 0, stdout: `${count} chains checked, 0 broken\n` });
  expect(await app.live.snapshots.countDocuments()).toBe(count);
  const kept = snapshotsBefore.map(({ _id }) => _id);
  const stillThere = await app.live.snapshots
    .find({ _id: { $in: kept } })
    .sort({ _id: 1 })
    .toArray();
  expect(stillThere).toEqual(snapshotsBefore);
  const changes = await run(["changes", "big.dat"]).ended;
  expect(changes.stdout.trimEnd().split("\n").at(-1)).toBe(`added ${count}, changed 0, gone 0`);
  expect(new Set(changes.stdout.match(/^added\tent_\w+\tKILL\d{8}\tversion 1\t$/gm)).size).toBe(count);
});

test("a file that must not be loaded is refused with its reason and exit code 1", async () => {
  const path = await writeText("short.dat", extractText([extractRowText({})], { count: 2 }));
  const { code, stdout, stderr } = await run(["load", "--registry", path]).ended;
  expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
  expect(stderr).toBe("short.dat: the header promises 2 rows, the file has 1\n");
});

test("a broken chain is found", async () => {
  const { _id } = (await app.sandbox.entities.findOne({ "identifiers.uei": "SANDBXACTVE1" }))!;
  await app.sandbox.snapshots.updateOne({ entity_id: _id }, { $set: { "entity.legal_name": "Forged" } });
  const { code, stdout, stderr } = await run(["verify-snapshots", "--environment", "sandbox"]).ended;
  expect(code).toBe(1);
  expect(stdout).toMatch(/chains checked, 1 broken/);
  expect(stderr).toBe(`${_id}: the hash of version 1 is wrong\n`);
});
