// A simulated account service in its own process, which prints its port. It returns signing secrets (SECRETS lists them, the
// current one first; they are the same for all organizations), approves every organization for live tin_match, and suspends none.
import { OrganizationStatusService } from "@vvs/proto/account/v1/organization_status";
import { WebhookSecretService } from "@vvs/proto/account/v1/webhook_secrets";
import { answering, serveBare } from "./bare-grpc.ts";

const secrets = (process.env.SECRETS ?? "").split(",");

serveBare(
  answering(OrganizationStatusService, {
    getOrganizationSettings: () => ({ liveTinMatch: true, tinFailuresPerDay: 1_000_000 }),
    listSuspended: () => ({ organizationIds: [] }),
  }),
  answering(WebhookSecretService, { getSigningSecrets: () => ({ secrets }) }),
);
