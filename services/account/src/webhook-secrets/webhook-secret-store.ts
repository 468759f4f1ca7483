import type { SecretKey } from "@vvs/config";
import { ServiceError } from "@vvs/errors";
import { inTransaction } from "@vvs/mongo";
import { open, type Place, seal } from "@vvs/sealing";
import { type CallerContext, environments, type Tenant } from "@vvs/tenant";
import type { ClientSession, MongoClient } from "mongodb";
import type { AuditLog } from "../audit/audit.ts";
import { type AccountStore, ofTenant, type SealedSecret, tenantKey, type WebhookSecretDocument } from "../store.ts";
import { checkedWebhookSecret, newWebhookSecret, replaced, type SecretPair, signingNow } from "./webhook-secrets.ts";

/** The current secret in clear. */
export interface WebhookSecret {
  readonly value: string;
  readonly createdAt: Date;
  /** Until when the one before signs too; absent outside a rotation. */
  readonly previousValidUntil?: Date;
}

export interface WebhookSecrets {
  /** Audited, as the secret leaves in clear. Errors: not_found. */
  get(caller: CallerContext): Promise<WebhookSecret>;
  /** The same without the value, and so without a trace in the audit log. Errors: not_found. */
  describe(tenant: Tenant): Promise<Omit<WebhookSecret, "value">>;
  /**
   * Sets an own secret; the one that is set already changes nothing.
   * Errors: invalid_request, not_found, idempotency_conflict (the same submission made one of the two secrets).
   */
  set(caller: CallerContext, input: Replacement & { value: string }): Promise<WebhookSecret>;
  /** Errors: not_found, idempotency_conflict (the same submission made one of the two secrets). */
  rotate(caller: CallerContext, input: Replacement): Promise<WebhookSecret>;
  /** Lets the current secret alone sign from now on; where it does already, nothing is changed. Errors: not_found. */
  endPrevious(caller: CallerContext): Promise<Omit<WebhookSecret, "value">>;
  /** What signs now, the current one first. Errors: not_found. */
  getSigning(tenant: Tenant): Promise<string[]>;
  /** Makes both environments' secrets of a new organization. */
  insert(session: ClientSession, organizationId: string): Promise<void>;
}

export function createWebhookSecrets(options: {
  client: MongoClient;
  store: AccountStore;
  audit: AuditLog;
  keys: readonly SecretKey[];
  now: () => Date;
}): WebhookSecrets {
  const { client, store, audit, keys, now } = options;

  const sealed = (tenant: Tenant, value: string, submission?: string): SealedSecret => ({
    sealed: seal(keys, webhookSecretPlace(ofTenant(tenant)), value),
    created_at: now(),
    ...(submission && { submission }),
  });
  const opened = (tenant: Tenant, secret: SealedSecret) =>
    open(keys, webhookSecretPlace(ofTenant(tenant)), secret.sealed);

  async function find(tenant: Tenant, session?: ClientSession): Promise<WebhookSecretDocument> {
    const found = await store.webhookSecrets.findOne(ofTenant(tenant), { session });
    if (!found) throw new ServiceError("not_found", { message: "There is no such organization." });
    return found;
  }

  function described(pair: SecretPair<SealedSecret>): Omit<WebhookSecret, "value"> {
    const [current, previous] = signingNow(pair, now());
    return {
      createdAt: current!.created_at,
      ...(previous && { previousValidUntil: pair.previous!.valid_until }),
    };
  }

  function view(tenant: Tenant, pair: SecretPair<SealedSecret>): WebhookSecret {
    return { value: opened(tenant, pair.current), ...described(pair) };
  }

  function replace(
    caller: CallerContext,
    action: "webhook_secret.set" | "webhook_secret.rotated",
    input: Replacement & { value: string },
  ) {
    const { tenant } = caller;
    return inTransaction(client, async (session) => {
      const before = await find(tenant, session);
      refuseRepeated(before, input.submission);
      const isSame = opened(tenant, before.current) === input.value;
      const kept = input.endPreviousNow ? { current: before.current } : before;
      const after: SecretPair<SealedSecret> = isSame
        ? kept
        : replaced(before, sealed(tenant, input.value, input.submission), { ...input, now: now() });
      await store.webhookSecrets.replaceOne(
        ofTenant(tenant),
        {
          ...ofTenant(tenant),
          current: after.current,
          ...(after.previous && { previous: after.previous }),
        },
        { session },
      );
      const details = { previous: after.previous ? "kept for a while" : "ended" };
      await audit.append(session, caller, { action, ...targetOf(tenant), details });
      return view(tenant, after);
    });
  }

  return {
    get: (caller) =>
      inTransaction(client, async (session) => {
        const found = await find(caller.tenant, session);
        await audit.append(session, caller, { action: "webhook_secret.shown", ...targetOf(caller.tenant) });
        return view(caller.tenant, found);
      }),

    async describe(tenant) {
      return described(await find(tenant));
    },

    async set(caller, input) {
      return replace(caller, "webhook_secret.set", { ...input, value: checkedWebhookSecret(input.value) });
    },

    rotate: (caller, input) => replace(caller, "webhook_secret.rotated", { ...input, value: newWebhookSecret() }),

    endPrevious: (caller) =>
      inTransaction(client, async (session) => {
        const { tenant } = caller;
        const { current, previous } = await find(tenant, session);
        if (previous) {
          await store.webhookSecrets.updateOne(ofTenant(tenant), { $unset: { previous: "" } }, { session });
          await audit.append(session, caller, { action: "webhook_secret.previous_ended", ...targetOf(tenant) });
        }
        return described({ current });
      }),

    async getSigning(tenant) {
      return signingNow(await find(tenant), now()).map((secret) => opened(tenant, secret));
    },

    async insert(session, organizationId) {
      const documents = environments.map((environment): WebhookSecretDocument => {
        const tenant = { organizationId, environment };
        return { _id: tenantKey(tenant), ...ofTenant(tenant), current: sealed(tenant, newWebhookSecret()) };
      });
      await store.webhookSecrets.insertMany(documents, { session });
    },
  };
}

interface Replacement {
  readonly endPreviousNow: boolean;
  /** Identifies the submitted form, so that it replaces one secret only. */
  readonly submission?: string;
}

function refuseRepeated({ current, previous }: SecretPair<SealedSecret>, submission: string | undefined): void {
  if (!submission || ![current.submission, previous?.submission].includes(submission)) return;
  throw new ServiceError("idempotency_conflict", { message: "This form already replaced the secret." });
}

/** One place for the current secret and the one before: a rotation moves the box without opening it. */
export function webhookSecretPlace(owner: Pick<WebhookSecretDocument, "organization_id" | "environment">): Place {
  const tenant = { organizationId: owner.organization_id, environment: owner.environment };
  return [tenant.organizationId, tenant.environment, "webhook_secrets", tenantKey(tenant), "value"];
}

function targetOf(tenant: Tenant) {
  return { ...tenant, target: tenantKey(tenant) };
}
