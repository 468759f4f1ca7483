import { createGathering } from "../gathering.ts";
import type { Answer, Facts, Provider } from "../provider.ts";
import { createSingleFlight } from "../single-flight.ts";
import { MAX_VALUES, type ReceivedBody, type SamGovClient } from "./client.ts";
import { type Found, lookUpMany, lookUpOne } from "./look-up.ts";
import { chooseRegistration, type Registration, readRegistration } from "./registration.ts";
import { samGovVerdict } from "./verdict.ts";

/** A call under way may be joined so long after its start. */
const JOIN_MS = 2_000;

/**
 * SAM.gov's APIs. Direct questions on one vendor that come at the same time share a call, and scheduled runs are
 * gathered for `gatherMs` into calls for many, across organizations: the identifiers are public, and each asker gets an
 * answer and evidence of its own.
 */
export function createSamGovApi(options: { client: SamGovClient; gatherMs: number; now: () => Date }): Provider {
  const { client, now } = options;
  const flights = createSingleFlight<Found>({ joinMs: JOIN_MS });
  const runs = createGathering<Found>({
    windowMs: options.gatherMs,
    max: MAX_VALUES,
    call: (ueis, signal) => lookUpMany(client, ueis, signal),
  });
  return {
    name: "sam_gov_api",
    check: "sam_registration",
    async ask({ uei, cage, run }, { signal }) {
      const found = await (run && uei
        ? runs.ask(uei, signal)
        : flights.run(uei ? `uei ${uei}` : `cage ${cage}`, signal, (abandoned) =>
            lookUpOne(client, { uei, cage }, abandoned),
          ));
      return answerOf(found, now().toISOString().slice(0, 10));
    },
  };
}

/** The answer today (YYYY-MM-DD). Errors: ProviderError where what was found can't be read or does not suffice. */
export function answerOf(found: Found, today: string): Answer {
  const registration = chooseRegistration(found.rows.map(readRegistration));
  const { outcome, reason, registrationStatus } = samGovVerdict(registration, found.exclusions, today);
  return {
    outcome,
    reason,
    confidence: 1,
    dataDate: found.receivedAt,
    facts: registrationStatus ? factsOf(registration, registrationStatus) : {},
    content: evidenceOf(found.bodies),
    contentType: "application/json",
  };
}

function factsOf(registration: Registration | undefined, registrationStatus: string): Facts {
  return {
    registration_status: registrationStatus,
    ...(registration && {
      expiration_date: registration.expirationDate,
      legal_name: registration.legalName,
      cage: registration.cage,
      entity_type: registration.entityType,
    }),
  };
}

/** One JSON document of what was received, each body in it byte for byte, so that nothing is lost to a parser. */
function evidenceOf(bodies: readonly ReceivedBody[]): string {
  const answers = bodies.map(
    ({ url, receivedAt, text }) =>
      `{"url":${JSON.stringify(url)},"received_at":${JSON.stringify(receivedAt.toISOString())},"body":${text.trim()}}`,
  );
  return `{"answers":[${answers.join(",")}]}`;
}
