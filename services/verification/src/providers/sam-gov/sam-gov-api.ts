import { create } from "@bufbuild/protobuf";
import { type GetRegistryRecordResponse, GetRegistryRecordResponseSchema } from "@vvs/proto/entity/v1/entity";
import { type ExclusionsPart, isInForce, newestParts, type Parts, registryDay } from "@vvs/registration";
import { type CallClass, callClassOf, perCallClass } from "../call-class.ts";
import { type Provider, ProviderError, type Question } from "../provider.ts";
import { createSingleFlight } from "../sharing/single-flight.ts";
import type { SamGovClient } from "./client.ts";
import { evidenceOf, keptBodiesOf, registryFilesJson } from "./evidence.ts";
import { exclusionsPart, flaggedPart } from "./exclusion.ts";
import { filePartsOf, partsOnFile, withoutFiles } from "./file-parts.ts";
import { answerFrom, isOlder, judge } from "./judge.ts";
import { lookUpExclusions, lookUpRegistration, type Vendor, type VendorRows } from "./look-up.ts";
import { chooseRegistration, type Registration, readRegistration, registrationPart } from "./registration.ts";
import { type RegistryReader, readRegistry } from "./registry-reader.ts";

/** How long after its start a call can be joined, in milliseconds. */
const JOIN_MS = 2_000;
/** Maximum age of an exclusions file that confirms a registration's flag "no exclusion", in days. */
const MAX_CONFIRMING_AGE_DAYS = 1;

/** The provider that asks SAM.gov's APIs. It is not asked for later runs of monitors. */
export interface SamGovApi extends Provider {
  /** The client of the queue that asks for these runs. */
  readonly runsClient: SamGovClient;
}

/** Returns the provider of SAM.gov's APIs; undefined where it is not used. */
export function samGovApiOf(providers: readonly Provider[]): SamGovApi | undefined {
  return providers.find((provider): provider is SamGovApi => "runsClient" in provider);
}

/**
 * Creates the provider that asks SAM.gov's APIs. Questions about one vendor at the same time share a call, also across
 * organizations, since the identifiers are public; each caller gets its own answer and evidence. The Exclusions API is asked
 * only where neither the registration's flag nor a fresh exclusions file decides. Where it fails, exclusions known from the
 * files or the stored answer are used. So a vendor costs one call, or two without a fresh file; one without a registration
 * costs two or three.
 */
export function createSamGovApi(options: {
  /** Creates a client that counts its calls in a class; `onCall` is called before each of them. */
  clientOf: (callClass: CallClass, onCall?: () => Promise<void>) => SamGovClient;
  entities: RegistryReader;
  now: () => Date;
}): SamGovApi {
  const { clientOf, entities, now } = options;

  /** Looks up one vendor by a call that it shares with other questions of its class. */
  function createLookUp<Row>(
    lookUp: (client: SamGovClient, vendor: Vendor, signal: AbortSignal) => Promise<VendorRows<Row>>,
  ) {
    const flights = perCallClass(() => createSingleFlight<VendorRows<Row>>({ joinMs: JOIN_MS }));
    type Looking = { readonly signal: AbortSignal; readonly onCall: () => Promise<void> };
    return ({ uei, cage, run }: Pick<Question, "uei" | "cage" | "run">, { signal, onCall }: Looking) => {
      const callClass = callClassOf(run);
      const key = uei ? `uei ${uei}` : `cage ${cage}`;
      const look = (abandoned: AbortSignal) => lookUp(clientOf(callClass, onCall), { uei, cage }, abandoned);
      return flights[callClass].run(key, signal, look);
    };
  }
  const registrationOf = createLookUp(lookUpRegistration);
  const exclusionsOf = createLookUp(lookUpExclusions);

  return {
    name: "sam_gov_api",
    check: "sam_registration",
    laterRuns: "never",
    runsClient: clientOf("runs"),
    async ask(question, { signal, onFurtherCall }) {
      const reading = readRegistry(entities, question, signal).catch(() => undefined);
      const looking = { signal, onCall: afterFirst(onFurtherCall) };
      const found = await registrationOf(question, looking);
      const registration = chooseRegistration(found.rows.map(readRegistration));
      const read = await reading;
      const files = read ?? create(GetRegistryRecordResponseSchema);
      // Without the files it is unknown which of them were withdrawn, so no stored part of a file may be used.
      const onFile = partsOnFile(files, read ? question.stored : withoutFiles(question.stored), now());
      const received: Parts = { registration: registrationPart(registration, found.receivedAt) };
      let bodies = found.bodies;
      let failure: ProviderError | undefined;
      let excluded: ExclusionsPart | undefined;
      if (registration?.isExcluded) {
        excluded = flaggedPart(found.receivedAt);
      } else if (!isSettledByFile({ registration, question, files, onFile, now: now() })) {
        try {
          const uei = registration?.uei ?? question.uei;
          const rows = await exclusionsOf({ ...question, uei }, looking);
          bodies = [...bodies, ...rows.bodies];
          excluded = exclusionsPart(rows.rows, rows.receivedAt);
        } catch (error) {
          if (!(error instanceof ProviderError)) throw error;
          failure = error;
        }
      }
      const parts = newestParts(onFile, { ...received, ...(excluded && { exclusions: excluded }) });
      if (!parts.exclusions) throw failure ?? new ProviderError("internal_error");
      try {
        const verdict = judge(parts, { now: now(), hasApi: true });
        const { withdrawnLoads } = files;
        const usesFile = Object.values(parts).some(({ load }) => load !== "");
        const more = { rests_on: parts, ...(usesFile && { files: registryFilesJson(files) }) };
        const content = evidenceOf([...bodies, ...keptBodiesOf(parts, question)], more);
        return { ...answerFrom(parts, verdict, content), withdrawnLoads };
      } catch (error) {
        // Where the known exclusions are too old, the call that asked for newer ones failed.
        throw failure ?? error;
      }
    },
  };
}

/** Returns a function that runs `work` each time but the first. */
function afterFirst(work: (() => Promise<void>) | undefined): () => Promise<void> {
  let isFirst = true;
  return async () => {
    if (!isFirst) await work?.();
    isFirst = false;
  };
}

/**
 * Does the exclusions file settle a vendor's exclusions, so that the Exclusions API need not be asked? It does where it is
 * fresh, nothing newer contradicts it, and it agrees with the registration's flag. A vendor without a registration has no
 * flag and never passes, so for it the file is enough. A file's record of another identifier does not count.
 */
function isSettledByFile(known: {
  registration: Registration | undefined;
  question: Question;
  files: GetRegistryRecordResponse;
  onFile: Parts;
  now: Date;
}): boolean {
  const { registration, question, files, onFile, now } = known;
  const { exclusions } = filePartsOf(files, now).parts;
  const isFresh = exclusions?.origin === "sam_gov_exclusions" && !isOlder(exclusions, MAX_CONFIRMING_AGE_DAYS, now);
  if (!isFresh) return false;
  const isExcluded = isInForce(exclusions, registryDay(now));
  if (isExcluded !== isInForce(onFile.exclusions!, registryDay(now))) return false;
  if (!registration) return true;
  if (registration.listed.id_only) return registration.uei === question.uei;
  return registration.isClear && !isExcluded;
}
