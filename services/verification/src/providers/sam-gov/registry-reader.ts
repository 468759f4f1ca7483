import { equals } from "@bufbuild/protobuf";
import { createBatcher } from "@vvs/batching";
import { type EntityService, ExclusionSchema, type RegistryAnswer } from "@vvs/proto/entity/v1/entity";
import type { Client } from "@vvs/rpc";
import { type Environment, perEnvironment, toProtoEnvironment } from "@vvs/tenant";
import { readOwnData } from "../../own-data.ts";
import { orAbort } from "../../time-limit.ts";
import type { Question } from "../provider.ts";

/** Reads what the loaded files say. */
export interface RegistryReader {
  /** Returns what they say about one vendor; unknown identifiers are empty. Errors: those of entity, the signal's reason. */
  getRegistryRecord(
    vendor: {
      readonly environment: Environment;
      readonly uei: string;
      readonly cage: string;
      readonly names?: readonly string[];
    },
    signal?: AbortSignal,
  ): Promise<RegistryAnswer>;
  /** False: no exclusions are looked up by name. */
  readonly readsNames?: boolean;
}

/** No vendor has it: asking for it reads only which files are loaded. */
export const NO_UEI = "0".repeat(12);
/** Maximum number of vendors per call. */
const MAX_TOGETHER = 32;
/** Maximum number of calls in flight; further questions wait and share the next call. */
const CALLS_AT_ONCE = 2;

/**
 * Creates a reader whose questions at the same moment share a call to the entity service. Without `readsNames` no exclusions
 * are looked up by the vendor's name.
 */
export function createRegistryReader(
  entities: Pick<Client<typeof EntityService>, "getRegistryRecords">,
  { maxTogether = MAX_TOGETHER, readsNames = true }: { maxTogether?: number; readsNames?: boolean } = {},
): RegistryReader {
  const ask = perEnvironment((name) => {
    const environment = toProtoEnvironment(name);
    return createBatcher<{ uei: string; cage: string; names: string[] }, RegistryAnswer>({
      async run(asked) {
        return (await entities.getRegistryRecords({ environment, queries: [...asked] })).records;
      },
      maxSize: maxTogether,
      atOnce: CALLS_AT_ONCE,
    });
  });
  return {
    readsNames,
    getRegistryRecord({ environment, uei, cage, names = [] }, signal) {
      const asked = ask[environment]({ uei, cage, names: readsNames ? [...names] : [] });
      return signal ? orAbort(asked, signal, () => signal.reason) : asked;
    },
  };
}

/** Reads the loaded files' records of the vendor in question, with exclusions that bear one of its names. Errors: service_unavailable. */
export function readRegistry(
  entities: RegistryReader,
  question: Pick<Question, "tenant" | "uei" | "cage" | "legalName">,
  signal: AbortSignal,
  furtherNames: readonly string[] = [],
): Promise<RegistryAnswer> {
  const { tenant, uei, cage, legalName } = question;
  const names = [legalName, ...furtherNames].filter((name) => name !== "");
  return readOwnData(() => entities.getRegistryRecord({ environment: tenant.environment, uei, cage, names }, signal));
}

/**
 * Returns the files as read by what SAM.gov registers the vendor with too: reads them again where they were not looked up by this
 * UEI, CAGE or name (it is neither the question's nor the files' record's). An exclusion of the question's own CAGE stays.
 * Errors: service_unavailable.
 */
export async function withRegistered(
  files: RegistryAnswer,
  options: {
    entities: RegistryReader;
    question: Pick<Question, "tenant" | "uei" | "cage" | "legalName">;
    registered: { readonly uei: string; readonly cage: string; readonly legal_name: string };
    /** Further names by which the files were read. */
    names?: readonly string[];
  },
  signal: AbortSignal,
): Promise<RegistryAnswer> {
  const { entities, question, registered, names: furtherNames = [] } = options;
  const { record } = files;
  const { legalName } = question;
  const isNameKnown = ["", legalName, ...(legalName && [record?.legalName])].includes(registered.legal_name);
  const isLookedUp =
    ["", question.uei, record?.uei].includes(registered.uei) &&
    ["", question.cage, record?.cage].includes(registered.cage) &&
    (isNameKnown || entities.readsNames === false);
  if (isLookedUp) return files;
  const [uei, cage] = [registered.uei || question.uei, registered.cage || question.cage];
  const names = [registered.legal_name, record?.legalName ?? "", ...furtherNames];
  const again = await readRegistry(entities, { ...question, uei, cage }, signal, names);
  const byOwnCage = question.cage === cage ? [] : files.exclusions.filter(({ withoutUei }) => withoutUei);
  const isNew = (row: (typeof byOwnCage)[number]) => !again.exclusions.some((one) => equals(ExclusionSchema, one, row));
  return { ...again, exclusions: [...again.exclusions, ...byOwnCage.filter(isNew)] };
}
