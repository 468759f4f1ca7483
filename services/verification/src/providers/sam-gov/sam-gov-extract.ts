import type { RegistryAnswer } from "@vvs/proto/entity/v1/entity";
import type { Parts } from "@vvs/registration";
import { mayFailUntil } from "../../questions/rules.ts";
import { type Answer, isLaterRun, type Provider, ProviderError, type Question } from "../provider.ts";
import { sortedJson } from "../sorted-json.ts";
import { askingAbout } from "./asking-about.ts";
import { earlierPartsOf, evidenceOf, fileRowsJson, keptBodiesOf, sourcesOf } from "./evidence.ts";
import { filePartsOf, partsOnFile, usableFor } from "./file-parts.ts";
import { answerFrom, judge, type RunRule } from "./judge.ts";
import { NO_UEI, type RegistryReader, readRegistry, withRegistered } from "./registry-reader.ts";
import { withSameNames } from "./same-name-details.ts";
import { canShowPass, staleSource } from "./stale-data.ts";

/** The loaded files: the days they were cut, and whether the exclusions file is too old to show a pass. */
export interface LoadedFiles {
  readonly registration: Date | undefined;
  readonly exclusions: Date | undefined;
  readonly isOutdated: boolean;
}

interface SamGovExtract extends Provider {
  /** Returns which files are loaded. Errors: service_unavailable. */
  readFiles(signal: AbortSignal): Promise<LoadedFiles>;
}

/**
 * Creates the provider that answers from SAM.gov's public extract and exclusions file, which the entity service has
 * loaded. Newer parts of the organization's stored answer, and of the answer that is kept for all, are preferred. It throws
 * `stale_source` where these do not suffice; for a monitor's run the error names what to ask the API. A direct call or a
 * first run is not answered without any file. The evidence is the files' rows of the vendor, the parts of earlier answers
 * that this one rests on, and the kept answer where it is used.
 */
export function createSamGovExtract(options: {
  entities: RegistryReader;
  /** SAM.gov's API is configured as well. */
  hasApi: boolean;
  laterRuns?: Provider["laterRuns"];
  now: () => Date;
}): SamGovExtract {
  const { entities, hasApi, laterRuns } = options;
  /** Is it a run for which the queue asks the API? */
  const isLater = ({ run }: Question) => hasApi && isLaterRun(run);

  /** Returns the rule by which the API can be asked for a run; undefined for other questions. */
  function runRule(question: Question, files: RegistryAnswer, now: Date): RunRule | undefined {
    if (!isLater(question)) return undefined;
    const knowledge = { kept: question.kept, wasParked: question.run?.wasParked === true };
    return {
      mayFailUntil: (part) => mayFailUntil(part, knowledge),
      asksExclusions: !filePartsOf(files, now).hasExclusionsFile,
    };
  }

  function verdictOn(parts: Parts, question: Question, files: RegistryAnswer, now: Date) {
    const run = runRule(question, files, now);
    try {
      if (!run && Object.keys(filePartsOf(files, now).parts).length === 0) throw staleSource();
      return judge(parts, { now, hasApi, run });
    } catch (error) {
      const canAsk = hasApi && question.run && error instanceof ProviderError;
      throw canAsk ? staleSource(askingAbout(question, { files, parts, now })) : error;
    }
  }

  const readFiles: SamGovExtract["readFiles"] = async (signal) => {
    const anyone = {
      tenant: { organizationId: "", environment: "live" as const },
      uei: NO_UEI,
      cage: "",
      legalName: "",
    };
    const now = options.now();
    const { parts, unknownSince } = filePartsOf(await readRegistry(entities, anyone, signal), now);
    return {
      registration: unknownSince.registration,
      exclusions: parts.exclusions?.date,
      isOutdated: !canShowPass(parts.exclusions, now),
    };
  };

  return {
    name: "sam_gov_extract",
    check: "sam_registration",
    ...(laterRuns && { laterRuns }),
    readFiles,
    isOutdated: async ({ signal }) => (await readFiles(signal)).isOutdated,
    async ask(question, { signal }): Promise<Answer> {
      const now = options.now();
      const first = await readRegistry(entities, question, signal);
      const { uei = question.uei, cage = "", legal_name = "" } = partsOnFile(first, question, now).registration ?? {};
      const registered = { uei, cage, legal_name };
      const files = usableFor({ uei }, await withRegistered(first, { entities, question, registered }, signal));
      const parts = partsOnFile(files, question, now);
      const verdict = verdictOn(parts, question, files, now);
      const kept = keptBodiesOf(parts, question);
      const known = { ...fileRowsJson(files), rests_on: earlierPartsOf(parts) };
      const content = kept.length > 0 ? evidenceOf(kept, known) : sortedJson(known);
      const { withdrawnLoads } = files;
      const answer = withSameNames(answerFrom(parts, verdict, content, now), files);
      return { ...answer, sources: sourcesOf(parts, files), withdrawnLoads };
    },
  };
}
