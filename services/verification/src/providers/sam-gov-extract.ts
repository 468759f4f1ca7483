import { toJson } from "@bufbuild/protobuf";
import { type GetRegistryRecordResponse, GetRegistryRecordResponseSchema } from "@vvs/proto/entity/v1/entity";
import { sortedJson } from "../sorted-json.ts";
import { type Answer, type Provider, ProviderError } from "./provider.ts";
import { excludedVerdict, registrationFacts, registrationVerdict, type Verdict } from "./registration-verdict.ts";
import { type RegistryReader, readRegistry } from "./registry-reader.ts";

const NAME = "sam_gov_extract";

/** What the loaded files can know, and the day that knowledge is of. */
export interface ExtractVerdict extends Verdict {
  /** The cut date of the file that decided, YYYY-MM-DD. */
  readonly dataDate: string;
}

/**
 * What SAM.gov's files say of a registration today (YYYY-MM-DD), or undefined where they are older than the question:
 * vendors register and renew every day, so a file knows nothing of a vendor that it lacks, nor of a registration that
 * ran out between its cut date and today. An active exclusion fails also a vendor that the registry file lacks.
 */
export function extractVerdict(files: GetRegistryRecordResponse, today: string): ExtractVerdict | undefined {
  const { record, exclusions, registryCutDate: cutDate } = files;
  if (record?.excluded) return { ...excludedVerdict, dataDate: cutDate };
  if (exclusions.length > 0) return { ...excludedVerdict, dataDate: files.exclusionsCutDate };
  if (!record || !cutDate) return undefined;
  const { expirationDate } = record;
  const mayBeRenewed = !record.idOnly && record.extractCode !== "E" && expirationDate >= cutDate;
  if (mayBeRenewed && expirationDate < today) return undefined;
  return { ...registrationVerdict(record, [], today), dataDate: cutDate };
}

/**
 * SAM.gov's public extract and exclusions file, as the entity service has them loaded. Throws `stale_source` where they
 * can't know. The evidence is what the files hold of the vendor, their names and cut dates.
 */
export function createSamGovExtract(options: { entities: RegistryReader; now: () => Date }): Provider {
  return {
    name: NAME,
    check: "sam_registration",
    async ask(question, { signal }): Promise<Answer> {
      const files = await readRegistry(options.entities, question, signal);
      const verdict = extractVerdict(files, options.now().toISOString().slice(0, 10));
      if (!verdict) throw new ProviderError("stale_source", { isFault: false });
      return {
        outcome: verdict.outcome,
        reason: verdict.reason,
        confidence: 1,
        dataDate: new Date(`${verdict.dataDate}T00:00:00Z`),
        facts: registrationFacts(files.record, verdict.registrationStatus),
        content: sortedJson(
          toJson(GetRegistryRecordResponseSchema, files, { useProtoFieldName: true, alwaysEmitImplicit: true }),
        ),
        contentType: "application/json",
      };
    },
  };
}
