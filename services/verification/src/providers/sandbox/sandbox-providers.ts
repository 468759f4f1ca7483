import { maskTin } from "@vvs/identifiers";
import type { EnvironmentDatabases } from "@vvs/mongo";
import type { Tenant } from "@vvs/tenant";
import { readOwnData } from "../../own-data.ts";
import type { Answer, Provider, Question } from "../provider.ts";
import { type RegistryReader, readRegistry } from "../sam-gov/registry-reader.ts";
import { sortedJson } from "../sorted-json.ts";
import { sentName } from "../tin-matching/irs-codes.ts";
import {
  CHANGING_UEI,
  type SandboxProvider,
  type SandboxVerdict,
  sandboxRegistration,
  sandboxTinMatch,
} from "./sandbox.ts";

/** Counts an organization's direct calls about the changing UEI, in one document: 1, 2, … */
export type CountSandboxCall = (tenant: Tenant) => Promise<number>;

export function createCountSandboxCall(databases: EnvironmentDatabases): CountSandboxCall {
  return async ({ environment, organizationId }) => {
    const calls = databases[environment].collection<{ _id: string; turns: number }>("sandbox_turns");
    const upsert = { upsert: true, returnDocument: "after" } as const;
    return (await calls.findOneAndUpdate({ _id: organizationId }, { $inc: { turns: 1 } }, upsert))!.turns;
  };
}

/** Creates a sandbox provider of sam_registration. Its answers come from the synthetic registry, dated by the call. */
export function createSandboxRegistration(options: {
  name: SandboxProvider;
  entities: RegistryReader;
  countCall: CountSandboxCall;
  now: () => Date;
}): Provider {
  const { name, entities, countCall, now } = options;
  const callNumberOf = async ({ uei, run, tenant }: Question) => {
    if (uei !== CHANGING_UEI) return 1;
    return run ? run.runSeq : readOwnData(() => countCall(tenant));
  };
  return {
    name,
    check: "sam_registration",
    async ask(question, { signal }) {
      const { uei, cage, legalName } = question;
      const registry = await readRegistry(entities, question, signal);
      const at = now();
      const callNumber = await callNumberOf(question);
      const verdict = sandboxRegistration({ provider: name, uei, legalName, registry, callNumber, at });
      const { outcome, reason, facts } = verdict;
      return toAnswer(verdict, at, { provider: name, asked: { uei, cage }, outcome, reason, facts });
    },
  };
}

/** Creates a sandbox provider of tin_match. Its answers depend on the TIN's last digit, dated by the call. */
export function createSandboxTinMatch(options: { name: SandboxProvider; now: () => Date }): Provider {
  const { name, now } = options;
  return {
    name,
    check: "tin_match",
    async ask(question, { signal }) {
      const tin = await question.tin(signal);
      const verdict = sandboxTinMatch(name, tin);
      const asked = { tin: maskTin(tin), name: sentName(question.legalName) };
      const { outcome, reason, details } = verdict;
      return toAnswer(verdict, now(), { provider: name, asked, ...details, outcome, reason });
    },
  };
}

function toAnswer(verdict: SandboxVerdict, at: Date, content: object): Answer {
  return {
    ...verdict,
    confidence: 1,
    dataDate: at,
    content: sortedJson({ ...content, answered_at: at.toISOString() }),
    contentType: "application/json",
  };
}
