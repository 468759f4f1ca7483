import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { Logger } from "@vvs/logging";
import type { EntityService } from "@vvs/proto/entity/v1/entity";
import type { Client } from "@vvs/rpc";
import { type CallerContext, toProtoCaller } from "@vvs/tenant";
import type { CheckSubject } from "./checks.ts";
import type { Conclusion } from "./conclusion.ts";

/**
 * Tells the entity service the facts that providers told just now of an entity that the organization itself created.
 * Registry entities change by registry loads alone, and sandbox answers change nothing. The verification is stored
 * already: where the entity service is away the facts wait for the next check.
 */
export async function passFactsOn(options: {
  entities: Pick<Client<typeof EntityService>, "updateFromProvider">;
  caller: CallerContext;
  subject: CheckSubject;
  conclusions: readonly Conclusion[];
  now: () => Date;
  logger: Logger;
}): Promise<void> {
  const { entities, caller, subject, conclusions, now, logger } = options;
  if (!subject.createdByOrganization || caller.tenant.environment !== "live") return;
  for (const conclusion of conclusions) {
    if (conclusion.kind !== "answered" || Object.keys(conclusion.answer.facts).length === 0) continue;
    const { facts } = conclusion.answer;
    try {
      await entities.updateFromProvider({
        caller: toProtoCaller(caller),
        entityId: subject.entityId,
        provider: conclusion.origin,
        retrievedAt: timestampFromDate(now()),
        registrationStatus: facts.registration_status,
        legalName: facts.legal_name,
        cage: facts.cage,
        expirationDate: facts.expiration_date,
        entityType: facts.entity_type,
      });
    } catch (err) {
      logger.warn({ err, entity_id: subject.entityId, provider: conclusion.origin }, "facts were not passed on");
    }
  }
}
