import { createWriteStream } from "node:fs";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { newId } from "@vvs/ids";
import { type Caller, CheckStatus, CheckType, Environment } from "@vvs/proto/common/v1/common";
import { Mode } from "@vvs/proto/verification/v1/verification";
import type { VerificationStack } from "../../support/verification-stack.ts";
import { extractOf, nameModelOf } from "../registry/extract.ts";
import { ueiOf } from "../registry/identifiers.ts";

const SEED = 1;
const ORGANIZATIONS = 25;
const VENDORS = 100;
/** More than enough for 100 vendors with an active registration. */
const REGISTRY_ROWS = 200;
const DAY_MS = 86_400_000;

/** Caller and entity of one call. */
export interface Subject {
  readonly caller: Pick<Caller, "tenant" | "actor" | "requestId">;
  readonly entityId: string;
}

/** Writes a made-up registry, and returns its path. */
export async function writeRegistry(folder: string, size = REGISTRY_ROWS): Promise<string> {
  const path = join(folder, "registry.dat");
  const names = await nameModelOf(SEED);
  const cutDate = new Date(Date.now() - DAY_MS);
  await pipeline(Readable.from(extractOf({ seed: SEED, size, names, cutDate })), createWriteStream(path));
  return path;
}

/**
 * Stores answers about 100 vendors for one organization, and about four of them for each of 25 others, so that both verify
 * the same vendors. Returns the subjects of the one, and those of the others by turns.
 */
export async function seedSubjects(stack: VerificationStack): Promise<{ one: Subject[]; many: Subject[] }> {
  const [first, ...others] = Array.from({ length: ORGANIZATIONS + 1 }, () => callerOf(newId("org")));
  const one: Subject[] = [];
  const many: Subject[] = [];
  for (let index = 0; one.length < VENDORS; index++) {
    const uei = ueiOf(SEED, index);
    const subject = await storeAnswer(stack, first!, uei);
    if (!subject) continue;
    many.push((await storeAnswer(stack, others[one.length % ORGANIZATIONS]!, uei))!);
    one.push(subject);
  }
  return { one, many };
}

/** Returns the subject, or undefined where the vendor does not pass. */
async function storeAnswer(
  { entities, verifications }: VerificationStack,
  caller: Subject["caller"],
  uei: string,
): Promise<Subject | undefined> {
  const { entity } = await entities.lookUp({ caller, identifiers: { uei } });
  const subject = { caller, entityId: entity!.id };
  const { verification } = await verifications.verify(cachedCall(subject));
  return verification?.overallResult === CheckStatus.PASS ? subject : undefined;
}

/** Returns the request that is measured. */
export function cachedCall({ caller, entityId }: Subject) {
  return {
    caller,
    target: { case: "entityId" as const, value: entityId },
    checks: [CheckType.SAM_REGISTRATION],
    mode: Mode.CACHED,
  };
}

function callerOf(organizationId: string) {
  return {
    tenant: { organizationId, environment: Environment.LIVE },
    actor: newId("key"),
    requestId: newId("req"),
  } as Subject["caller"];
}
