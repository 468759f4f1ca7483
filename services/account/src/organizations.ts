import { ServiceError } from "@vvs/errors";
import { newId } from "@vvs/ids";
import { inTransaction } from "@vvs/mongo";
import { environments } from "@vvs/tenant";
import type { ClientSession, MongoClient, UpdateFilter } from "mongodb";
import type { Actor, AuditLog } from "./audit.ts";
import { limitPerMinute, planTerms } from "./plans.ts";
import { type AccountStore, type OrganizationDocument, tenantKey } from "./store.ts";

export interface Organizations {
  /**
   * Creates an organization with both environments' webhook secrets. `limitPerMinute` belongs to Enterprise alone.
   * Errors: invalid_request.
   */
  createOrganization(
    by: Actor,
    input: { name: string; plan: string; limitPerMinute?: number },
  ): Promise<OrganizationDocument>;
  /** Adds an organization as createOrganization does. Errors: invalid_request. */
  insertOrganization(
    session: ClientSession,
    by: Actor,
    input: { name: string; plan: string; limitPerMinute?: number },
  ): Promise<OrganizationDocument>;
  /** All organizations, newest first: for the operator alone. */
  listOrganizations(): Promise<OrganizationDocument[]>;
  /** Errors: not_found. */
  getOrganization(organizationId: string): Promise<OrganizationDocument>;
  /** Its keys are allowed nothing any more and its users are signed out; repeatable. Errors: not_found. */
  suspendOrganization(by: Actor, organizationId: string): Promise<OrganizationDocument>;
  /** Errors: not_found. */
  resumeOrganization(by: Actor, organizationId: string): Promise<OrganizationDocument>;
  /** The new limit holds for all of its keys within seconds. Errors: not_found, invalid_request. */
  setPlan(
    by: Actor,
    organizationId: string,
    input: { plan: string; limitPerMinute?: number },
  ): Promise<OrganizationDocument>;
}

const MAX_NAME_LENGTH = 200;

export function createOrganizations(options: {
  client: MongoClient;
  store: AccountStore;
  audit: AuditLog;
  /** Makes what an organization must have from its first moment. */
  insertWebhookSecrets: (session: ClientSession, organizationId: string) => Promise<void>;
  now: () => Date;
}): Organizations {
  const { client, store, audit, now } = options;

  async function getOrganization(organizationId: string): Promise<OrganizationDocument> {
    const found = await store.organizations.findOne({ _id: organizationId });
    if (!found) throw new ServiceError("not_found", { message: "There is no such organization." });
    return found;
  }

  async function setStatus(by: Actor, id: string, status: OrganizationDocument["status"]) {
    await inTransaction(client, async (session) => {
      const changed = await store.organizations.updateOne(
        { _id: id, status: { $ne: status } },
        { $set: { status } },
        { session },
      );
      if (changed.modifiedCount === 0) return;
      if (status === "suspended") await store.sessions.deleteMany({ organization_id: id }, { session });
      const action = status === "suspended" ? "organization.suspended" : "organization.resumed";
      await audit.append(session, by, { action, organizationId: id, target: id });
    });
    return getOrganization(id);
  }

  async function insertOrganization(
    session: ClientSession,
    by: Actor,
    input: { name: string; plan: string; limitPerMinute?: number },
  ): Promise<OrganizationDocument> {
    const terms = planTerms(input.plan, input.limitPerMinute);
    const at = now();
    const id = newId("org", at);
    const name = checkedName(input.name, "name");
    const organization: OrganizationDocument = { _id: id, name, ...terms, status: "active", created_at: at };
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
    await options.insertWebhookSecrets(session, id);
    const details = { name, plan: terms.plan, limit_per_minute: limitPerMinute(terms) };
    await audit.append(session, by, { action: "organization.created", organizationId: id, target: id, details });
    return organization;
  }

  return {
    getOrganization,
    insertOrganization,
    listOrganizations: () => store.organizations.find().sort({ created_at: -1, _id: -1 }).toArray(),
    suspendOrganization: (by, id) => setStatus(by, id, "suspended"),
    resumeOrganization: (by, id) => setStatus(by, id, "active"),

    createOrganization: (by, input) => inTransaction(client, (session) => insertOrganization(session, by, input)),

    async setPlan(by, id, input) {
      const { plan, limit_per_minute } = planTerms(input.plan, input.limitPerMinute);
      const change: UpdateFilter<OrganizationDocument> =
        limit_per_minute === undefined
          ? { $set: { plan }, $unset: { limit_per_minute: true } }
          : { $set: { plan, limit_per_minute } };
      await inTransaction(client, async (session) => {
        const changed = await store.organizations.updateOne({ _id: id }, change, { session });
        if (changed.modifiedCount === 0) return;
        const details = { plan, limit_per_minute: limitPerMinute({ plan, limit_per_minute }) };
        await audit.append(session, by, {
          action: "organization.plan_changed",
          organizationId: id,
          target: id,
          details,
        });
      });
      return getOrganization(id);
    },
  };
}

/** An organization's name. Errors: invalid_request at that path. */
export function checkedName(text: string, path: string): string {
  const name = text.trim();
  if (name.length >= 1 && name.length <= MAX_NAME_LENGTH) return name;
  throw new ServiceError("invalid_request", {
    details: [{ path, message: `must be 1–${MAX_NAME_LENGTH} characters` }],
  });
}
