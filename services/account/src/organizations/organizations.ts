import { ServiceError } from "@vvs/errors";
import { nameProblem } from "@vvs/identifiers/text";
import { newId } from "@vvs/ids";
import { inTransaction } from "@vvs/mongo";
import { environments } from "@vvs/tenant";
import type { ClientSession, MongoClient, UpdateFilter } from "mongodb";
import type { Actor, AuditLog } from "../audit/audit.ts";
import { type AccountStore, type OrganizationDocument, tenantKey } from "../store.ts";
import type { WebhookSecrets } from "../webhook-secrets/webhook-secret-store.ts";
import { limitPerMinute, planTerms } from "./plans.ts";

export interface Organizations {
  /**
   * Creates an organization with both environments' webhook secrets. `limitPerMinute` belongs to Enterprise alone.
   * Errors: invalid_request.
   */
  create(by: Actor, input: { name: string; plan: string; limitPerMinute?: number }): Promise<OrganizationDocument>;
  /** Adds an organization as `create` does. Errors: invalid_request. */
  insert(
    session: ClientSession,
    by: Actor,
    input: { name: string; plan: string; limitPerMinute?: number },
  ): Promise<OrganizationDocument>;
  /** All organizations, newest first: for the operator alone. */
  list(): Promise<OrganizationDocument[]>;
  /** The ids of all that are suspended: for services that work without a call of an organization. */
  listSuspended(): Promise<string[]>;
  /** Errors: not_found. */
  get(organizationId: string): Promise<OrganizationDocument>;
  /** Suspends an organization: its keys are refused and its users are signed out. Repeatable. Errors: not_found. */
  suspend(by: Actor, organizationId: string): Promise<OrganizationDocument>;
  /** Errors: not_found. */
  resume(by: Actor, organizationId: string): Promise<OrganizationDocument>;
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
  /** Creates the secrets that an organization has from the start. */
  webhookSecrets: Pick<WebhookSecrets, "insert">;
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
    await options.webhookSecrets.insert(session, id);
    const details = { name, plan: terms.plan, limit_per_minute: limitPerMinute(terms) };
    await audit.append(session, by, { action: "organization.created", organizationId: id, target: id, details });
    return organization;
  }

  return {
    get: getOrganization,
    insert: insertOrganization,
    list: () => store.organizations.find().sort({ created_at: -1, _id: -1 }).toArray(),
    async listSuspended() {
      const found = await store.organizations.find({ status: "suspended" }, { projection: { _id: 1 } }).toArray();
      return found.map(({ _id }) => _id);
    },
    suspend: (by, id) => setStatus(by, id, "suspended"),
    resume: (by, id) => setStatus(by, id, "active"),

    create: (by, input) => inTransaction(client, (session) => insertOrganization(session, by, input)),

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
  const message = nameProblem(name, MAX_NAME_LENGTH);
  if (message === undefined) return name;
  throw new ServiceError("invalid_request", { details: [{ path, message }] });
}
