import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { generateSecrets, localSecrets } from "./secrets.ts";

test("a local run gets the key rings that its file of an earlier version lacks, and keeps the others", () => {
  const folder = mkdtempSync(join(tmpdir(), "vvs-secrets-"));
  try {
    const file = join(folder, "secrets.json");
    const { RECEIPT_KEYS: _later, ...earlier } = generateSecrets();
    writeFileSync(file, JSON.stringify(earlier));
    const secrets = localSecrets(file);
    expect(secrets).toEqual({ ...earlier, RECEIPT_KEYS: expect.stringMatching(/^local:.{44}$/) });
    expect(JSON.parse(readFileSync(file, "utf8"))).toEqual(secrets);
    expect(localSecrets(file)).toEqual(secrets);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
