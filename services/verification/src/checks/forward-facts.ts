import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { withoutDeadline } from "@vvs/deadline";
import { seatless } from "@vvs/fair-queue";
import type { Logger } from "@vvs/logging";
import type { EntityService } from "@vvs/proto/entity/v1/entity";
import type { Client } from "@vvs/rpc";
import { toProtoCaller } from "@vvs/tenant";
import { factsNotForwarded } from "../metrics.ts";
import type { CheckTask, Conclusion } from "./conclude.ts";

/** Maximum number of verifications whose facts are being forwarded; facts of further ones are dropped. */
const MAX_FORWARDING = 256;

export interface FactForwarder {
  /** Starts to forward the facts of a stored verification. The caller does not wait, and its deadline does not apply. */
  forward(verified: Verified, conclusions: readonly Conclusion[]): void;
  /** Resolves when no facts are being forwarded. */
  settled(): Promise<void>;
}

/**
 * Forwards facts of new answers to the entity service, for live entities that the organization itself created: registry
 * entities change only by registry loads, and sandbox answers change no entity. The verification is stored already, so
 * facts that can't be forwarded (the entity service is unavailable, or too many are in flight) are logged and counted;
 * the next check sends them again.
 */
export function createFactForwarder(options: {
  entities: Pick<Client<typeof EntityService>, "updateFromProvider">;
  now: () => Date;
  logger: Logger;
  /** 256 where absent. */
  maxForwarding?: number;
}): FactForwarder {
  const { entities, now, logger, maxForwarding = MAX_FORWARDING } = options;
  const inFlight = new Set<Promise<void>>();

  async function send({ caller, subject }: Verified, { origin, answer }: NewAnswer, answeredAt: Date): Promise<void> {
    const { facts, parts } = answer;
    try {
      await entities.updateFromProvider({
        caller: toProtoCaller(caller),
        entityId: subject.entityId,
        provider: origin,
        // The date of the data, since a part may come from an earlier answer: entity keeps the newer facts.
        retrievedAt: timestampFromDate((parts?.registration ?? parts?.exclusions)?.date ?? answeredAt),
        registrationStatus: facts.registration_status,
        legalName: facts.legal_name,
        cage: facts.cage,
        expirationDate: facts.expiration_date,
        entityType: facts.entity_type,
      });
    } catch (err) {
      factsNotForwarded.add(1, { cause: "failed" });
      logger.warn({ err, entity_id: subject.entityId, provider: origin }, "facts were not forwarded");
    }
  }

  return {
    forward({ caller, subject }, conclusions) {
      if (!subject.createdByOrganization || caller.tenant.environment !== "live") return;
      const answered = conclusions.filter(bringsFacts);
      if (answered.length === 0) return;
      if (inFlight.size >= maxForwarding) {
        factsNotForwarded.add(1, { cause: "too_many" });
        logger.warn({ entity_id: subject.entityId, in_flight: inFlight.size }, "facts were not forwarded");
        return;
      }
      const answeredAt = now();
      const sendAll = async () => {
        for (const conclusion of answered) await send({ caller, subject }, conclusion, answeredAt);
      };
      const forwarding = seatless(() => withoutDeadline(sendAll)).finally(() => inFlight.delete(forwarding));
      inFlight.add(forwarding);
    },
    async settled() {
      await Promise.all(inFlight);
    },
  };
}

type Verified = Pick<CheckTask, "caller" | "subject">;
type NewAnswer = Extract<Conclusion, { kind: "answered" }>;

function bringsFacts(conclusion: Conclusion): conclusion is NewAnswer {
  return conclusion.kind === "answered" && conclusion.answer.facts.registration_status !== undefined;
}
