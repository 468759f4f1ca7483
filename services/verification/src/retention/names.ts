import { timestampDate } from "@bufbuild/protobuf/wkt";
import type { MonitorService } from "@vvs/proto/monitor/v1/monitor";
import type { Client } from "@vvs/rpc";
import { type Environment, toProtoEnvironment } from "@vvs/tenant";
import type { LatestAnswerDocument } from "../checks/latest-answers.ts";
import type { EvidenceDocument, VerificationDocument } from "../documents.ts";
import type { collectionsOf } from "../store.ts";

const DAY_MS = 86_400_000;
/** How long a verification stays where its evidence is named by what has no time of its own, before it is looked at again. */
const ASKED_AGAIN_MS = 30 * DAY_MS;

/** Verifications that are past their time, with their evidence and the newest answers about their vendors. */
export interface PastTime {
  readonly verifications: readonly VerificationDocument[];
  readonly evidence: readonly Pick<EvidenceDocument, "_id" | "verification_id" | "sha256">[];
  readonly latest: readonly LatestAnswerDocument[];
}

/** Returns which verifications are still named, and until when. Errors: those of the database and of monitor. */
export type ReadNames = (of: PastTime) => Promise<ReadonlyMap<string, Date>>;

/** The part of monitor that knows which verifications its monitors and events name. */
export type Monitors = Pick<Client<typeof MonitorService>, "releaseVerifications">;

/**
 * Creates the reader of one environment. A verification of a run is named by monitors and events. Its evidence is named by
 * cached calls, by evidence whose answer rests on a part of it, and by the newest answer to a question if that is another one
 * with a part of it.
 */
export function createReadNames(options: {
  environment: Environment;
  collections: ReturnType<typeof collectionsOf>;
  monitors: Monitors;
  now: () => Date;
}): ReadNames {
  const { environment, monitors, now } = options;
  const { verifications, evidence } = options.collections;

  async function byMonitors(list: readonly VerificationDocument[]): Promise<[string, Date][]> {
    const ofRuns = list.flatMap(({ _id: id, organization_id: organizationId, run }) =>
      run ? { id, organizationId, monitorId: run.monitor_id, runSeq: BigInt(run.run_seq) } : [],
    );
    if (ofRuns.length === 0) return [];
    const request = { environment: toProtoEnvironment(environment), verifications: ofRuns };
    const { named } = await monitors.releaseVerifications(request);
    return named.map(({ id, until }) => [id, timestampDate(until!)]);
  }

  return async ({ verifications: list, evidence: own, latest }) => {
    const again = new Date(now().getTime() + ASKED_AGAIN_MS);
    const verificationOf = new Map(own.map(({ _id, verification_id }) => [_id, verification_id]));
    const ids = [...verificationOf.keys()];
    const named = new Map<string, Date>();

    function name(verificationId: string | undefined, until: Date): void {
      if (verificationId && !(named.get(verificationId)! >= until)) named.set(verificationId, until);
    }

    for (const [id, until] of await byMonitors(list)) name(id, until);

    const cached = verifications.find(
      { mode: "cached", "results.evidence_id": { $in: ids } },
      { projection: { "results.evidence_id": 1, expires_at: 1 } },
    );
    for await (const { _id, results, expires_at = again } of cached) {
      const until = new Date(Math.max(expires_at.getTime(), now().getTime() + DAY_MS));
      for (const result of results) {
        const verificationId = verificationOf.get(result.evidence_id);
        if (verificationId !== _id) name(verificationId, until);
      }
    }

    const resting = evidence.find({ rests_on: { $in: ids } }, { projection: { rests_on: 1 } });
    for await (const { rests_on = [] } of resting) for (const id of rests_on) name(verificationOf.get(id), again);

    for (const { answer, parts } of latest) {
      for (const part of [parts?.registration, parts?.exclusions]) {
        if (part?.evidence_id && part.evidence_id !== answer._id) name(verificationOf.get(part.evidence_id), again);
      }
    }
    return named;
  };
}
