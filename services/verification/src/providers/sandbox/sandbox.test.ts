import { create } from "@bufbuild/protobuf";
import { describe, expect, test } from "@jest/globals";
import { RegistryAnswerSchema } from "@vvs/proto/entity/v1/entity";
import { ProviderError } from "../provider.ts";
import { type SandboxProvider, type SandboxVerdict, sandboxRegistration, sandboxTinMatch } from "./sandbox.ts";

const active = { extractCode: "A", expirationDate: "2099-03-31" };
const registry = (facts: object) => create(RegistryAnswerSchema, { record: { uei: "X", ...facts } });

function said(ask: () => SandboxVerdict): string {
  try {
    const { outcome, reason } = ask();
    return `${outcome} ${reason}`.trim();
  } catch (error) {
    expect(error).toBeInstanceOf(ProviderError);
    expect((error as ProviderError).isFault).toBe(false);
    return "throw";
  }
}

const NOW = new Date("2026-11-21T10:00:00Z");

describe("sam_registration", () => {
  test.each<[string, object, string, string]>([
    ["SANDBXACTVE1", active, "pass", "pass"],
    ["SANDBXNACTV1", { ...active, extractCode: "" }, "fail inactive", "fail inactive"],
    ["SANDBXEXPRD1", { extractCode: "E", expirationDate: "2021-03-31" }, "fail expired", "fail expired"],
    ["SANDBXDEBAR1", { ...active, excluded: true }, "fail excluded", "fail excluded"],
    ["SANDBXERRR01", active, "throw", "throw"],
    ["SANDBXFALLB1", active, "throw", "pass"],
  ])("%s", (uei, facts, primary, secondary) => {
    const ask = (provider: SandboxProvider) =>
      said(() => sandboxRegistration({ provider, uei, registry: registry(facts), callNumber: 1, at: NOW }));
    expect([ask("sandbox_primary"), ask("sandbox_secondary")]).toEqual([primary, secondary]);
  });

  test("a vendor without an entry in the synthetic registry is not found", () => {
    const options = { provider: "sandbox_primary", uei: "ABCDEFGHJK12", callNumber: 1, at: NOW } as const;
    const empty = create(RegistryAnswerSchema);
    expect(said(() => sandboxRegistration({ ...options, registry: empty }))).toBe("fail not_found");
  });

  test.each([
    ["SANDBXEXP10D", "2026-12-01"],
    ["SANDBXEXP40D", "2026-12-31"],
    ["SANDBXEXP80D", "2027-02-09"],
  ])("%s is active and expires on %s, counted from the call", (uei, expires) => {
    const options = { provider: "sandbox_primary", uei, callNumber: 1, at: NOW } as const;
    const { outcome, facts } = sandboxRegistration({ ...options, registry: registry(active) });
    expect([outcome, facts.expiration_date]).toEqual(["pass", expires]);
  });

  test("an exclusion without identifiers bears the name of SANDBXSAMEN2, and changes no status", () => {
    const options = { provider: "sandbox_primary", callNumber: 1, at: NOW, registry: registry(active) } as const;
    const same = sandboxRegistration({ ...options, uei: "SANDBXSAMEN2" });
    expect([same.outcome, same.details?.same_name]).toEqual(["pass", [expect.objectContaining({ agency: "HHS" })]]);
    expect(sandboxRegistration({ ...options, uei: "SANDBXACTVE1" }).details).not.toHaveProperty("same_name");
    const asked = { ...options, uei: "SANDBXACTVE1", legalName: "Sandbox Same-Name L.L.C." };
    expect(sandboxRegistration(asked).details?.same_name).toHaveLength(1);
  });

  test("the changing vendor is active on odd calls and expired on even ones, and so is its date", () => {
    const at = (callNumber: number) => {
      const options = { provider: "sandbox_primary", uei: "SANDBXCHNGE1", at: NOW } as const;
      const { outcome, facts } = sandboxRegistration({ ...options, registry: registry(active), callNumber });
      return [outcome, facts.registration_status, facts.expiration_date! > "2026-11-21"];
    };
    expect([1, 2, 3].map(at)).toEqual([
      ["pass", "active", true],
      ["fail", "expired", false],
      ["pass", "active", true],
    ]);
  });
});

describe("tin_match depends on the TIN's last digit", () => {
  test.each([
    ["0", "pass", "pass"],
    ["1", "throw", "throw"],
    ["2", "fail not_issued", "fail not_issued"],
    ["3", "fail mismatch", "fail mismatch"],
    ["4", "throw", "throw"],
    ["5", "throw", "throw"],
    ["6", "pass", "pass"],
    ["7", "pass", "pass"],
    ["8", "pass", "pass"],
    ["9", "throw", "pass"],
  ])("%s", (digit, primary, secondary) => {
    const ask = (provider: SandboxProvider) => said(() => sandboxTinMatch(provider, `12345678${digit}`));
    expect([ask("sandbox_primary"), ask("sandbox_secondary")]).toEqual([primary, secondary]);
  });
});
