import { create } from "@bufbuild/protobuf";
import { type RegistryAnswer, RegistryAnswerSchema } from "@vvs/proto/entity/v1/entity";
import { type ExclusionsPart, effectInForce, newestParts, type Parts, registryDay } from "@vvs/registration";
import { type CallClass, callClassOf, perCallClass } from "../call-class.ts";
import { type Provider, ProviderError, type Question } from "../provider.ts";
import { createSingleFlight } from "../sharing/single-flight.ts";
import type { SamGovClient } from "./client.ts";
import { evidenceOf, fileRowsJson, keptBodiesOf, sourcesOf } from "./evidence.ts";
import { exclusionsPart, flaggedPart } from "./exclusion.ts";
import { FRESH_DAYS, filePartsOf, partsOnFile, usableFor, withoutFiles, withRowsWithoutUei } from "./file-parts.ts";
import { answerFrom, judge } from "./judge.ts";
import { lookUpExclusions, lookUpRegistration, type Vendor, type VendorRows } from "./look-up.ts";
import { chooseRegistration, type Registration, readRegistration, registrationPart } from "./registration.ts";
import { type RegistryReader, readRegistry, withRegistered } from "./registry-reader.ts";
import { withSameNames } from "./same-name-details.ts";
import { isOlder } from "./stale-data.ts";

/** How long after its start a call can be joined, in milliseconds. */
const JOIN_MS = 2_000;

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
 * organizations, since the identifiers are public; each caller gets its own answer and evidence. The registration's flag says
 * only that there are exclusions, so the Exclusions API is asked where no fresh exclusions file agrees with the flag. Where it
 * fails, a flag counts as a bar; without one, exclusions known from the files or the stored answer are used. So a vendor costs one call, or two without a fresh file; one without a registration
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
      const { uei = question.uei, cage = "", legal_name = "" } = registration?.listed ?? {};
      const vendor = { entities, question, registered: { uei, cage, legal_name } };
      const read = await reading.then((first) => first && withRegistered(first, vendor, signal)).catch(() => undefined);
      const files = usableFor({ uei }, read ?? create(RegistryAnswerSchema));
      // Without the files it is unknown which of them were withdrawn, so no stored part of a file may be used.
      const { stored, kept } = question;
      const onFile = partsOnFile(files, { stored: read ? stored : withoutFiles(stored), kept }, now());
      const received: Parts = { registration: registrationPart(registration, found.receivedAt) };
      let bodies = found.bodies;
      let failure: ProviderError | undefined;
      let excluded: ExclusionsPart | undefined;
      if (!areExclusionsKnown({ registration, files, onFile, now: now() })) {
        try {
          const rows = await exclusionsOf({ ...question, uei }, looking);
          bodies = [...bodies, ...rows.bodies];
          excluded = exclusionsPart(rows, registration);
        } catch (error) {
          if (!(error instanceof ProviderError)) throw error;
          failure = error;
          if (registration?.isFlagged) excluded = flaggedPart(found.receivedAt);
        }
      }
      const newest = newestParts(onFile, { ...received, ...(excluded && { exclusions: excluded }) });
      const parts = withRowsWithoutUei(newest, files, now());
      if (!parts.exclusions) throw failure ?? new ProviderError("internal_error");
      try {
        const verdict = judge(parts, { now: now(), hasApi: true });
        const { withdrawnLoads } = files;
        const usesFile = files.sameNames.length > 0 || Object.values(parts).some(({ load }) => load !== "");
        const more = { rests_on: parts, ...(usesFile && { files: fileRowsJson(files) }) };
        const content = evidenceOf([...bodies, ...keptBodiesOf(parts, question)], more);
        const answer = withSameNames(answerFrom(parts, verdict, content, now()), files);
        return { ...answer, sources: sourcesOf(parts, files), withdrawnLoads };
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
 * Are a vendor's exclusions known well enough, so that the Exclusions API need not be asked? They are where a fresh
 * exclusions file agrees with the registration's flag and nothing newer contradicts it, and where rows that SAM.gov gave in
 * the last day bar a vendor that is still flagged. A vendor without a registration has no flag and never passes, so for it
 * the file is enough, where it was searched by the vendor's UEI.
 */
function areExclusionsKnown(known: {
  registration: Registration | undefined;
  files: RegistryAnswer;
  onFile: Parts;
  now: Date;
}): boolean {
  const { registration, files, onFile, now } = known;
  const { exclusions } = filePartsOf(files, now).parts;
  const today = registryDay(now);
  const newest = onFile.exclusions && effectInForce(onFile.exclusions, today);
  if (registration?.isFlagged && newest === "bar" && isRecentAnswer(onFile.exclusions!, now)) return true;
  const isFresh = exclusions?.origin === "sam_gov_exclusions" && !isOlder(exclusions, FRESH_DAYS, now);
  if (!isFresh) return false;
  const effect = effectInForce(exclusions, today);
  if (effect !== newest) return false;
  if (!registration || registration.listed.id_only) return true;
  return registration.isFlagged ? effect !== undefined : registration.isClear && effect === undefined;
}

/** Are these rows that SAM.gov's API gave at most a day ago? */
function isRecentAnswer(part: ExclusionsPart, now: Date): boolean {
  return part.origin === "sam_gov_api" && !part.flagged && !isOlder(part, FRESH_DAYS, now);
}
