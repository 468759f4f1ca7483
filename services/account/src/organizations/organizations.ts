import { newId } from "@vvs/ids";
import { inTransaction } from "@vvs/mongo";
import { environments } from "@vvs/tenant";
import type { ClientSession, Filter, UpdateFilter } from "mongodb";
import type { Actor, AuditEntry } from "../audit/audit.ts";
import {
  agreedBudget,
  budgetedProvider,
  limitPerMinute,
  type ProviderBudget,
  planTerms,
  providerBudgets,
} from "../model/plans.ts";
import type { Basics } from "../parts.ts";
import { checkedName, invalid, missing } from "../refusals.ts";
import { type OrganizationDocument, tenantKey } from "../store.ts";
import type { WebhookSecrets } from "../webhook-secrets/webhook-secrets.ts";

/** A plan; `limitPerMinute` only with Enterprise. */
interface PlanInput {
  readonly plan: string;
  readonly limitPerMinute?: number;
}

export const MAX_NAME_LENGTH = 200;
const MAX_PRIVATE_HOSTS = 20;
const HOST = /^[a-z0-9._-]{1,253}$/;

export type Organizations = ReturnType<typeof createOrganizations>;

export function createOrganizations(options: Basics & { webhookSecrets: Pick<WebhookSecrets, "insert"> }) {
  const { client, store, audit, now } = options;

  async function get(organizationId: string): Promise<OrganizationDocument> {
    const found = await store.organizations.findOne({ _id: organizationId });
    if (!found) throw missing("organization");
    return found;
  }

  /** Changes an organization, and notes it in the audit log if anything is different then. Errors: not_found. */
  async function change(
    by: Actor,
    id: string,
    update: UpdateFilter<OrganizationDocument>,
    { action, details, filter }: Pick<AuditEntry, "action" | "details"> & { filter?: Filter<OrganizationDocument> },
    alongside?: (session: ClientSession) => Promise<unknown>,
  ): Promise<OrganizationDocument> {
    await inTransaction(client, async (session) => {
      const { modifiedCount } = await store.organizations.updateOne({ ...filter, _id: id }, update, { session });
      if (modifiedCount === 0) return;
      await alongside?.(session);
      await audit.append(session, by, { action, organizationId: id, target: id, details });
    });
    return get(id);
  }

  /** Creates an organization with both environments' webhook secrets. Errors: invalid_request. */
  async function insert(
    session: ClientSession,
    by: Actor,
    input: PlanInput & { name: string },
  ): Promise<OrganizationDocument> {
    const terms = planTerms(input.plan, input.limitPerMinute);
    const at = now();
    const id = newId("org", at);
    const name = checkedName(input.name, "name", MAX_NAME_LENGTH);
    const organization: OrganizationDocument = {
      _id: id,
      name,
      ...terms,
      status: "active",
      live_tin_match: false,
      created_at: at,
    };
    await store.organizations.insertOne(organization, { session });
    await store.apiKeyLocks.insertMany(
      environments.map((environment) => ({
        _id: tenantKey({ organizationId: id, environment }),
        organization_id: id,
        environment,
        creations: 0,
      })),
      { session },
    );
    await options.webhookSecrets.insert(session, id);
    const details = { name, plan: terms.plan, limit_per_minute: limitPerMinute(terms) };
    await audit.append(session, by, { action: "organization.created", organizationId: id, target: id, details });
    return organization;
  }

  return {
    /** Errors: not_found. */
    get,

    insert,

    /** Creates an organization in a transaction of its own. Errors: invalid_request. */
    create: (by: Actor, input: Parameters<typeof insert>[2]) =>
      inTransaction(client, (session) => insert(session, by, input)),

    /** Returns all organizations, newest first. Only for the operator. */
    list: () => store.organizations.find().sort({ created_at: -1, _id: -1 }).toArray(),

    /** Returns the ids of all suspended organizations, for services that work without a caller. */
    async listSuspended(): Promise<string[]> {
      const found = await store.organizations.find({ status: "suspended" }, { projection: { _id: 1 } }).toArray();
      return found.map(({ _id }) => _id);
    },

    /** Suspends an organization: its keys are refused and its users are signed out. Repeatable. Errors: not_found. */
    suspend: (by: Actor, id: string) =>
      change(by, id, { $set: { status: "suspended" } }, { action: "organization.suspended" }, (session) =>
        store.sessions.deleteMany({ organization_id: id }, { session }),
      ),

    /** Ends a suspension. Repeatable. Errors: not_found. */
    resume: (by: Actor, id: string) =>
      change(by, id, { $set: { status: "active" } }, { action: "organization.resumed" }),

    /** Approves an organization for live tin_match, or withdraws the approval. Repeatable. Errors: not_found. */
    setLiveTinMatch(by: Actor, id: string, isApproved: boolean): Promise<OrganizationDocument> {
      const action = isApproved ? "organization.tin_match_approved" : "organization.tin_match_withdrawn";
      return change(by, id, { $set: { live_tin_match: isApproved } }, { action });
    },

    /**
     * Sets the hosts to which an organization's webhooks are delivered even at a private address. They apply within seconds,
     * and to no other organization. Repeatable. Errors: not_found, invalid_request.
     */
    async setPrivateHosts(by: Actor, id: string, typed: readonly string[]): Promise<OrganizationDocument> {
      const hosts = [...new Set(typed.map((host) => host.trim().toLowerCase()))].filter((host) => host !== "");
      if (hosts.length > MAX_PRIVATE_HOSTS) throw invalid("hosts", `must be at most ${MAX_PRIVATE_HOSTS}`);
      if (!hosts.every((host) => HOST.test(host))) throw invalid("hosts", "must be host names, separated by commas");
      const action = "organization.private_hosts_changed";
      // None is the same as an absent list.
      const filter = hosts.length === 0 ? { "private_hosts.0": { $exists: true } } : {};
      return change(
        by,
        id,
        { $set: { private_hosts: hosts } },
        { action, details: { hosts: hosts.join(", ") }, filter },
      );
    },

    /** Changes the plan. The new limit applies to all keys within seconds. Errors: not_found, invalid_request. */
    async setPlan(by: Actor, id: string, input: PlanInput): Promise<OrganizationDocument> {
      const { plan, limit_per_minute } = planTerms(input.plan, input.limitPerMinute);
      const update: UpdateFilter<OrganizationDocument> =
        limit_per_minute === undefined
          ? { $set: { plan }, $unset: { limit_per_minute: true, provider_budgets: true } }
          : { $set: { plan, limit_per_minute } };
      const details = { plan, limit_per_minute: limitPerMinute({ plan, limit_per_minute }) };
      return change(by, id, update, { action: "organization.plan_changed", details });
    },

    /**
     * Sets an Enterprise organization's budget at one provider; undefined: the plan's. It applies within seconds. Another
     * plan ends it. Errors: not_found, invalid_request.
     */
    async setProviderBudget(by: Actor, id: string, provider: string, agreed: ProviderBudget | undefined) {
      const name = budgetedProvider(provider);
      const { plan } = await get(id);
      if (plan !== "enterprise")
        throw invalid("organization", `has the plan ${plan}; only enterprise has its own budgets`);
      const budget = agreed ? agreedBudget(agreed) : providerBudgets({ plan })[name];
      const field = `provider_budgets.${name}` as const;
      const update = agreed ? { $set: { [field]: budget } } : { $unset: { [field]: true as const } };
      const details = { provider: name, ...budget };
      return change(by, id, update, { action: "organization.provider_budget_changed", details, filter: { plan } });
    },
  };
}
