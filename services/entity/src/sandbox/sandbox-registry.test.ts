import { expect, test } from "@jest/globals";
import { isWellFormed } from "@vvs/identifiers";
import { ueiCheckDigit } from "@vvs/identifiers/oddities";
import { statusOf as statusAt } from "../model/status.ts";
import { sandboxRegistry } from "./sandbox-registry.ts";

const entities = sandboxRegistry();
const statusOf = ({ sam }: (typeof entities)[number], today: string) => statusAt({ sam, exclusions: [] }, today);

test("the registry has at least 500 entities, the same in every call", () => {
  expect(entities.length).toBeGreaterThanOrEqual(507);
  expect(sandboxRegistry()).toEqual(entities);
});

test.each([
  ["SANDBXACTVE1", "active"],
  ["SANDBXNACTV1", "inactive"],
  ["SANDBXEXPRD1", "expired"],
  ["SANDBXDEBAR1", "debarred"],
  ["SANDBXERRR01", "active"],
  ["SANDBXFALLB1", "active"],
  ["SANDBXCHNGE1", "active"],
  ["SANDBXEXP10D", "active"],
  ["SANDBXEXP40D", "active"],
  ["SANDBXEXP80D", "active"],
  ["SANDBXSAMEN2", "active"],
])("the documented entity %s is %s, now and in future years", (uei, status) => {
  const [entity, ...others] = entities.filter((one) => one.uei === uei);
  expect(others).toEqual([]);
  expect(statusOf(entity!, "2026-11-21")).toBe(status);
  expect(statusOf(entity!, "2050-01-01")).toBe(status);
  expect(entity!.sam.cage).toMatch(/^[A-Z0-9]{5}$/);
});

test("identifiers are well-formed, unique and never issued in reality", () => {
  for (const { uei } of entities.slice(7)) expect(uei.at(-1)).not.toBe(String(ueiCheckDigit(uei.slice(0, 11))));
  for (const { uei, sam } of entities) {
    expect(isWellFormed("uei", uei)).toBe(true);
    expect(isWellFormed("cage", sam.cage!)).toBe(true);
    expect(sam.cage).toContain("O");
  }
  expect(new Set(entities.map(({ uei }) => uei)).size).toBe(entities.length);
  expect(new Set(entities.map(({ sam }) => sam.cage)).size).toBe(entities.length);
});

test("every registration status is frequent, and none changes with time", () => {
  const counts: Record<string, number> = {};
  for (const entity of entities) {
    const status = statusOf(entity, "2026-11-21");
    counts[status] = (counts[status] ?? 0) + 1;
    expect(statusOf(entity, "2060-01-01")).toBe(status);
  }
  expect(Object.keys(counts).sort()).toEqual(["active", "debarred", "expired", "inactive"]);
  expect(Math.min(...Object.values(counts))).toBeGreaterThan(50);
});

test("every entity has a unique name and a US address", () => {
  for (const { addresses, legal_name } of entities) {
    expect(legal_name).not.toBe("");
    expect(addresses[0]).toMatchObject({ type: "physical", country: "USA", zip: expect.stringMatching(/^\d{5}$/) });
  }
  expect(new Set(entities.map(({ legal_name }) => legal_name)).size).toBe(entities.length);
});
