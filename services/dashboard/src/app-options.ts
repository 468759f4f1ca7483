import type { Admit } from "@vvs/fair-queue";
import type { Logger } from "@vvs/logging";
import type { ApiKeyService } from "@vvs/proto/account/v1/api_keys";
import type { AuditLogService } from "@vvs/proto/account/v1/audit_log";
import type { EntryService } from "@vvs/proto/account/v1/entry";
import type { OrganizationService } from "@vvs/proto/account/v1/organization";
import type { PasskeyService } from "@vvs/proto/account/v1/passkeys";
import type { RequestLogService } from "@vvs/proto/account/v1/request_log";
import type { SessionService } from "@vvs/proto/account/v1/sessions";
import type { SingleSignOnService } from "@vvs/proto/account/v1/single_sign_on";
import type { UsageService } from "@vvs/proto/account/v1/usage";
import type { WebhookSecretService } from "@vvs/proto/account/v1/webhook_secrets";
import type { EntityService } from "@vvs/proto/entity/v1/entity";
import type { VendorListService } from "@vvs/proto/entity/v1/vendors";
import type { MonitorService } from "@vvs/proto/monitor/v1/monitor";
import type { VerificationService } from "@vvs/proto/verification/v1/verification";
import type { WebhookDispatcherService } from "@vvs/proto/webhook/v1/webhook";
import type { Client } from "@vvs/rpc";

/** What the dashboard is made of: the clients of the services that it calls, and its settings. */
export interface AppOptions {
  readonly sessions: Client<typeof SessionService>;
  readonly apiKeys: Client<typeof ApiKeyService>;
  readonly webhookSecrets: Client<typeof WebhookSecretService>;
  readonly usage: Client<typeof UsageService>;
  readonly requestLog: Client<typeof RequestLogService>;
  readonly auditLog: Client<typeof AuditLogService>;
  readonly organization: Client<typeof OrganizationService>;
  readonly singleSignOn: Client<typeof SingleSignOnService>;
  readonly passkeys: Client<typeof PasskeyService>;
  readonly entry: Client<typeof EntryService>;
  readonly deliveries: Client<typeof WebhookDispatcherService>;
  readonly verification: Client<typeof VerificationService>;
  readonly entities: Client<typeof EntityService>;
  readonly vendorList: Client<typeof VendorListService>;
  readonly monitors: Client<typeof MonitorService>;
  /** The queue in which pages of signed-in users wait for their turn. */
  readonly admit: Admit;
  /** The dashboard as browsers see it. */
  readonly url: URL;
  /** The API as its clients see it. */
  readonly apiBaseUrl: URL;
  readonly trustedProxyHops: number;
  /** Whether /mailbox shows the emails that the account service keeps; only for local runs. */
  readonly localMailbox: boolean;
  readonly logger: Logger;
  readonly now: () => Date;
}
