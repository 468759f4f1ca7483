import type { SecretKey } from "@vvs/config";
import { ServiceError } from "@vvs/errors";
import { inTransaction } from "@vvs/mongo";
import { exactTime } from "@vvs/registration";
import { open, type Place, seal } from "@vvs/sealing";
import { environments, type Tenant } from "@vvs/tenant";
import type { ClientSession } from "mongodb";
import type { AuditAction } from "../audit/audit.ts";
import type { Notices } from "../mail/notices.ts";
import { requireSecretManager } from "../members/membership.ts";
import type { Basics } from "../parts.ts";
import { missing } from "../refusals.ts";
import type { Caller } from "../sessions/callers-by-session.ts";
import { ofTenant, type SealedSecret, tenantKey, type WebhookSecretDocument } from "../store.ts";
import { checkedWebhookSecret, newWebhookSecret, replaced, type SecretPair, signingNow } from "./secret-rotation.ts";

/** The current secret. */
export interface WebhookSecret {
  /** In plain text. */
  readonly value: string;
  readonly createdAt: Date;
  /** Until when the previous secret signs too; absent outside a rotation. */
  readonly previousValidUntil?: Date;
}

interface Replacement {
  readonly endPreviousNow: boolean;
  /** Identifies the submitted form, so that it replaces only one secret. */
  readonly submission?: string;
}

export type WebhookSecrets = ReturnType<typeof createWebhookSecrets>;

/** The webhook secrets of tenants. All methods throw not_found for an unknown organization. */
export function createWebhookSecrets(
  options: Basics & { keys: readonly SecretKey[]; notices: Pick<Notices, "tellOwners"> },
) {
  const { client, store, audit, notices, keys, now } = options;

  const sealed = (tenant: Tenant, value: string, submission?: string): SealedSecret => ({
    sealed: seal(keys, webhookSecretPlace(ofTenant(tenant)), value),
    created_at: now(),
    ...(submission && { submission }),
  });
  const opened = (tenant: Tenant, secret: SealedSecret) =>
    open(keys, webhookSecretPlace(ofTenant(tenant)), secret.sealed);

  async function find(tenant: Tenant, session?: ClientSession): Promise<WebhookSecretDocument> {
    const found = await store.webhookSecrets.findOne(ofTenant(tenant), { session });
    if (!found) throw missing("organization");
    return found;
  }

  function described(pair: SecretPair<SealedSecret>): Omit<WebhookSecret, "value"> {
    const [current, previous] = signingNow(pair, now());
    return { createdAt: current!.created_at, ...(previous && { previousValidUntil: pair.previous!.valid_until }) };
  }

  function view(tenant: Tenant, pair: SecretPair<SealedSecret>): WebhookSecret {
    return { value: opened(tenant, pair.current), ...described(pair) };
  }

  function replace(
    caller: Caller,
    action: "webhook_secret.set" | "webhook_secret.rotated",
    input: Replacement & { value: string },
  ): Promise<WebhookSecret> {
    const { tenant } = caller;
    return inTransaction(client, async (session) => {
      await requireSecretManager(store, caller, session);
      const before = await find(tenant, session);
      refuseRepeated(before, input.submission);
      if (opened(tenant, before.current) === input.value) {
        return view(tenant, input.endPreviousNow ? await endPrevious(session, caller, before) : before);
      }
      if (!input.endPreviousNow) refuseThird(before, now());
      const after = replaced(before, sealed(tenant, input.value, input.submission), { ...input, now: now() });
      const { current, previous } = after;
      await store.webhookSecrets.replaceOne(
        ofTenant(tenant),
        { ...ofTenant(tenant), current, ...(previous && { previous }) },
        { session },
      );
      const details = { previous: previous ? "kept for a while" : "ended" };
      await audit.append(session, caller, { ...entryOf(action, tenant), details });
      const what = `replaced the webhook secret of the ${tenant.environment} environment`;
      const change = { subject: "The webhook secret was replaced", what };
      await notices.tellOwners(session, caller, tenant.organizationId, change);
      return view(tenant, after);
    });
  }

  /** Ends the previous secret, if there is one. Returns the secret that is left. */
  async function endPrevious(session: ClientSession, caller: Caller, { current, previous }: SecretPair<SealedSecret>) {
    const { tenant } = caller;
    if (previous) {
      await store.webhookSecrets.updateOne(ofTenant(tenant), { $unset: { previous: "" } }, { session });
      await audit.append(session, caller, entryOf("webhook_secret.previous_ended", tenant));
      const what = `ended the previous webhook secret of the ${tenant.environment} environment`;
      const change = { subject: "The previous webhook secret was ended", what };
      await notices.tellOwners(session, caller, tenant.organizationId, change);
    }
    return { current };
  }

  return {
    /** Returns the secret in plain text, with an entry in the audit log. */
    get: (caller: Caller): Promise<WebhookSecret> =>
      inTransaction(client, async (session) => {
        await requireSecretManager(store, caller, session);
        const found = await find(caller.tenant, session);
        await audit.append(session, caller, entryOf("webhook_secret.shown", caller.tenant));
        return view(caller.tenant, found);
      }),

    /** Returns the secret without its value, and without an entry in the audit log. */
    describe: async (tenant: Tenant) => described(await find(tenant)),

    /**
     * Sets a secret that the user chose; the current one again only ends the previous one, if that is wanted. Errors: also
     * invalid_request (value; two secrets sign now and the current one is to be kept), idempotency_conflict (the same
     * submission made one of the two secrets).
     */
    async set(caller: Caller, input: Replacement & { value: string }): Promise<WebhookSecret> {
      return replace(caller, "webhook_secret.set", { ...input, value: checkedWebhookSecret(input.value) });
    },

    /** Generates a new secret. Errors: those of `set`. */
    rotate: (caller: Caller, input: Replacement) =>
      replace(caller, "webhook_secret.rotated", { ...input, value: newWebhookSecret() }),

    /** Ends the previous secret, so that only the current one signs. Repeatable. */
    endPrevious: (caller: Caller) =>
      inTransaction(client, async (session) => {
        await requireSecretManager(store, caller, session);
        return described(await endPrevious(session, caller, await find(caller.tenant, session)));
      }),

    /** Returns the secrets that sign now, the current one first. */
    async getSigning(tenant: Tenant): Promise<string[]> {
      return signingNow(await find(tenant), now()).map((secret) => opened(tenant, secret));
    },

    /** Creates both environments' secrets of a new organization. */
    async insert(session: ClientSession, organizationId: string): Promise<void> {
      const documents = environments.map((environment): WebhookSecretDocument => {
        const tenant = { organizationId, environment };
        return { _id: tenantKey(tenant), ...ofTenant(tenant), current: sealed(tenant, newWebhookSecret()) };
      });
      await store.webhookSecrets.insertMany(documents, { session });
    },
  };
}

function refuseRepeated({ current, previous }: SecretPair<SealedSecret>, submission: string | undefined): void {
  if (!submission || ![current.submission, previous?.submission].includes(submission)) return;
  throw new ServiceError("idempotency_conflict", { message: "This form already replaced the secret." });
}

/** A third secret would end the previous one, which receivers may still use. Errors: invalid_request. */
function refuseThird(pair: SecretPair<SealedSecret>, now: Date): void {
  if (signingNow(pair, now).length < 2) return;
  const until = exactTime(pair.previous!.valid_until, "minute");
  const message = `The previous secret still signs until ${until}. End it first, or choose that the current secret ends immediately, which ends both. Nothing was changed.`;
  throw new ServiceError("invalid_request", { message });
}

/** Returns the place of both secrets of a tenant: a rotation moves the encrypted secret as it is. */
export function webhookSecretPlace(owner: Pick<WebhookSecretDocument, "organization_id" | "environment">): Place {
  const tenant = { organizationId: owner.organization_id, environment: owner.environment };
  return [tenant.organizationId, tenant.environment, "webhook_secrets", tenantKey(tenant), "value"];
}

function entryOf(action: AuditAction, tenant: Tenant) {
  return { action, ...tenant, target: tenantKey(tenant) };
}
