import { randomUUID } from "node:crypto";
import { describe, expect, test } from "@jest/globals";
import { ApiKeyService } from "@vvs/proto/account/v1/api_keys";
import { AuditLogService } from "@vvs/proto/account/v1/audit_log";
import { WebhookSecretService } from "@vvs/proto/account/v1/webhook_secrets";
import { createClient } from "@vvs/rpc";
import { toProtoCaller } from "@vvs/tenant";
import { withAccounts } from "../../deploy/local/seed.ts";
import { createKey, createOrganization, type TestOrganization } from "../support/organization.ts";
import { sharedProduct } from "../support/product.ts";
import { ATTACK_TIMEOUT_MS, createNeighbour } from "./neighbour.ts";
import { openPage, sendForm, signIn } from "./sign-in.ts";

const { environment } = sharedProduct();

const [neighbour, attacker] = await Promise.all([createNeighbour(), createOrganization()]);

/** Signs in as a new member of the attacker's organization; returns a browser's cookies and the user's id. */
async function memberWith(role: string) {
  const member = { email: `${randomUUID()}@test.example`, password: randomUUID() };
  const { _id: userId } = await withAccounts(environment, (accounts) =>
    accounts.users.create({ actor: "test", requestId: "test" }, { organizationId: attacker.id, ...member, role }),
  );
  const { cookies } = await signIn(member);
  const page = await openPage("/live/webhooks", cookies);
  const [, formToken = ""] = /name="form_token" value="([\w-]+)"/.exec(page.text) ?? [];
  const sessionToken = cookies.find((cookie) => cookie.startsWith("__Host-session="))!.split("=", 2)[1]!;
  return { userId, sessionToken, cookies, formToken };
}

/** A monitor and a key of the neighbour, which attackers name. */
async function victims() {
  const { sandbox } = neighbour.organization;
  const [monitor] = (await sandbox.get("/v1/monitors")).body.monitors;
  return { monitor, key: await createKey(neighbour.organization, "sandbox") };
}

describe("a member with too few rights", () => {
  test(
    "changes nothing with the forms of its own organization, and nothing of another organization's by naming it",
    async () => {
      const { monitor, key } = await victims();
      const reader = await memberWith("read_only");
      const developer = await memberWith("developer");
      const own = (await createKey(attacker, "sandbox")).id;
      const forms: readonly (readonly [typeof reader, string, Record<string, string>, number])[] = [
        [reader, "/test/api-keys", { name: "Stolen" }, 403],
        [reader, `/test/api-keys/${own}/revoke`, {}, 403],
        [reader, "/test/webhooks/secret/show", {}, 403],
        [reader, "/test/webhooks/secret/rotate", {}, 403],
        [reader, `/test/vendors/${monitor.entity_id}/monitor`, {}, 403],
        [reader, "/test/verifications", {}, 403],
        [reader, "/test/organization/members/invitations", { email: "me@test.example", role: "owner" }, 403],
        [developer, `/test/organization/members/${developer.userId}`, { role: "owner" }, 403],
        [developer, `/test/api-keys/${key.id}/revoke`, {}, 404],
        [developer, `/test/api-keys/${key.id}/roll`, { overlap: "0" }, 404],
        [developer, `/test/monitors/${monitor.id}/cancel`, {}, 404],
        [developer, `/test/monitors/${monitor.id}/change`, { frequency: "monthly" }, 404],
      ];
      const statuses = await neighbour.worksDuring(async () => {
        const answers: (readonly [string, number])[] = [];
        for (const [{ cookies, formToken }, path, fields] of forms) {
          const { status } = await sendForm(path, { form_token: formToken, ...fields }, { cookies });
          answers.push([path, status]);
        }
        return answers;
      });
      expect(statuses).toEqual(forms.map(([, path, , status]) => [path, status]));
      expect((await key.api.get(`/v1/monitors/${monitor.id}`)).body).toMatchObject({
        status: "active",
        frequency: monitor.frequency,
      });
    },
    ATTACK_TIMEOUT_MS,
  );
});

describe("a faulty dashboard", () => {
  test("cannot act for another organization than that of the session that it holds", async () => {
    const { key } = await victims();
    const { userId: actor, sessionToken } = await memberWith("owner");
    const naming = ({ id: organizationId }: TestOrganization) => ({
      caller: toProtoCaller({ tenant: { organizationId, environment: "sandbox" }, actor, requestId: "test" }),
      sessionToken,
    });
    const request = naming(neighbour.organization);
    const common = { address: environment.ACCOUNT_ADDRESS!, caller: "dashboard", tls: undefined } as const;
    const keys = createClient(ApiKeyService, common);
    const secrets = createClient(WebhookSecretService, common);
    const auditLog = createClient(AuditLogService, common);
    const calls = [
      () => keys.createApiKey({ ...request, name: "Stolen" }),
      () => keys.revokeApiKey({ ...request, keyId: key.id }),
      () => secrets.getWebhookSecret(request),
      () => secrets.rotateWebhookSecret(request),
      () => auditLog.listAuditEntries({ ...request, page: { limit: 1 } }),
    ];
    const own = await secrets.getWebhookSecret(naming(attacker));
    expect(own.secret!.value).toBe(attacker.webhookSecrets.sandbox);
    for (const call of calls) await expect(call()).rejects.toMatchObject({ code: "forbidden" });
    for (const client of [keys, secrets, auditLog]) client.close();
    expect((await key.api.get("/v1/monitors")).status).toBe(200);
  });
});
