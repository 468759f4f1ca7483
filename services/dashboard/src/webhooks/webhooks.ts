import type { Timestamp } from "@bufbuild/protobuf/wkt";
import type { WebhookSecret } from "@vvs/proto/account/v1/webhook_secrets";
import type { Response } from "express";
import type { EnvironmentView } from "../http/environments.ts";
import { field } from "../http/form.ts";
import { type Html, html } from "../http/html.ts";
import { unlessRefused } from "../http/refusal.ts";
import { permissionHint } from "../http/roles.ts";
import type { PageHandlers, Visit } from "../http/session.ts";
import type { PageContext } from "../page/page-context.ts";
import { unavailableNote } from "../page/panels.ts";
import { choiceGroup, input, VERBATIM } from "../ui/fields.ts";
import { type Refusal, type RefusalTexts, refusalOf } from "../ui/form-refusal.ts";
import { listing } from "../ui/listing.ts";
import { CONFIRMED, card, copyable, formTokenField, noticeOf, section, time } from "../ui/parts.ts";
import { table } from "../ui/table.ts";
import { deliveryColumns, KEPT, NO_DELIVERIES } from "./delivery-list.ts";
import { endpointsSection } from "./endpoints-page.ts";

const DELIVERIES_SHOWN = 5;
const ENDPOINTS_SHOWN = 20;

const notices = {
  confirmed: CONFIRMED,
  set: "Your secret was set. New attempts are signed with it.",
  rotated:
    "The secret was replaced. New attempts are signed with the new secret. Show it, and set it in the systems that receive your webhooks.",
  dismissed: "The endpoint was dismissed. It appears here again when the next event is sent to it.",
  ended: "The previous secret has ended. New attempts are signed only with the current secret.",
};

const refusals: RefusalTexts = {
  sentBefore:
    "This form was already sent, so nothing else was changed. Check the secret below before you send the form again.",
  fields: { value: "secret" },
};

export function createWebhookHandlers(context: PageContext) {
  const { webhookSecrets, deliveries, readVendors, readEndpoints, readPanel, layout } = context;

  async function send(
    response: Response,
    visit: Visit,
    shown: Partial<Refusal> & { showsValue?: boolean },
  ): Promise<void> {
    const { caller } = visit;
    const { showsValue = false, status, notice, problems } = shown;
    const recent = { caller, page: { limit: DELIVERIES_SHOWN } };
    const [{ secret }, found, endpoints] = await Promise.all([
      webhookSecrets.getWebhookSecret(showsValue ? visit.bySession : { caller, withoutValue: true }),
      readPanel(visit, "deliveries", (call) => deliveries.listDeliveries(recent, call)),
      readEndpoints(visit, { limit: ENDPOINTS_SHOWN }),
    ]);
    const vendors = await readVendors(visit, found?.deliveries ?? []);
    const path = `${visit.view.path}/webhooks`;
    const content = html`${webhookSecretSection(visit, showsValue ? secret! : { ...secret!, value: "" }, problems)}
${section("deliveries", "Latest deliveries")`${listing(found?.deliveries, {
  unavailable: unavailableNote("Deliveries", KEPT),
  empty: NO_DELIVERIES,
  list: (latest) => html`${table("list", latest, deliveryColumns(visit, vendors))}
<p class="actions"><a href="${path}/deliveries">View all deliveries</a> <a href="${path}/deliveries?status=failed">View failing deliveries</a> <a href="${path}/deliveries?tests=only">View test events</a></p>`,
})}`}
${endpointsSection(visit, endpoints)}`;
    const beside = html`<p class="choices"><a class="button quiet" href="${path}/deliveries">View all deliveries</a>${visit.may("manage_webhooks") && html` <a class="button" href="${path}/test">Send a test event</a>`}</p>`;
    layout.sendPage(response, { visit, title: "Webhooks", beside, status, notice, content });
  }

  async function change(
    response: Response,
    visit: Visit,
    done: keyof typeof notices,
    run: (submission: string) => Promise<unknown>,
  ): Promise<void> {
    try {
      await visit.forms.once(run);
      response.redirect(303, `${visit.view.path}/webhooks?done=${done}`);
    } catch (error) {
      await send(response, visit, refusalOf(response, error, refusals));
    }
  }

  return {
    view: (request, response, visit) => send(response, visit, { notice: noticeOf(request, notices) }),

    showSecret: (_request, response, visit) => send(response, visit, { showsValue: true }),

    setSecret(request, response, visit) {
      const endPreviousNow = field(request, "previous") === "end";
      // Pasted text sometimes ends with a line break.
      const secret = { ...visit.bySession, value: field(request, "value").trim(), endPreviousNow };
      return change(response, visit, "set", (submission) => webhookSecrets.setWebhookSecret({ ...secret, submission }));
    },

    rotateSecret(request, response, visit) {
      const endPreviousNow = field(request, "previous") === "end";
      return change(response, visit, "rotated", (submission) =>
        webhookSecrets.rotateWebhookSecret({ ...visit.bySession, endPreviousNow, submission }),
      );
    },

    async dismissEndpoint(request, response, visit) {
      const dismissed = { caller: visit.caller, webhookUrl: field(request, "url") };
      await unlessRefused(deliveries.dismissEndpoint(dismissed), "not_found");
      response.redirect(303, `${visit.view.path}/webhooks?done=dismissed#endpoints`);
    },

    endPreviousSecret: (_request, response, visit) =>
      change(response, visit, "ended", () => webhookSecrets.endPreviousWebhookSecret(visit.bySession)),
  } satisfies PageHandlers;
}

/** Renders the secret; its value is empty unless it is shown. The problems are those of the form that sets the user's own. */
function webhookSecretSection(visit: Visit, secret: WebhookSecret, problems: Refusal["problems"]): Html {
  const { view } = visit;
  const mayManage = visit.may("manage_webhooks");
  return card("secret", `${view.name} signing secret`)`
<p>Every ${view.name.toLowerCase()} webhook is signed with this secret, so that you can verify that it comes from us.</p>
${secret.value ? shown(view, secret.value) : hidden(view, mayManage)}
<p class="hint">Set ${time(secret.createdAt)}.</p>
${secret.previousValidUntil && overlap(visit, secret.previousValidUntil)}
${mayManage ? html`${rotateForm(visit)}${ownForm(visit, problems)}` : permissionHint(view, "manage_webhooks", "view, rotate and set the secret")}`;
}

function hidden(view: EnvironmentView, mayShow: boolean): Html {
  const dots = html`<pre aria-label="The secret is hidden"><code>whsec_••••••••••••••••••••••••••••••••</code></pre>`;
  if (!mayShow) return html`<div class="copyable">${dots}</div>`;
  return html`<form method="post" action="${view.path}/webhooks/secret/show" class="copyable">
${dots}
<button class="quiet">Show</button>
</form>`;
}

function shown(view: EnvironmentView, value: string): Html {
  return html`${copyable("secret-value", "The signing secret", value)}
<p><a href="${view.path}/webhooks">Hide</a></p>`;
}

function overlap(visit: Visit, until: Timestamp): Html {
  const { view, may } = visit;
  return html`<div class="notice warning"><p>Webhooks are also signed with the previous secret until ${time(until)}. Both signatures are sent until then.</p>
${
  may("manage_webhooks") &&
  html`<form method="post" action="${view.path}/webhooks/secret/end-previous">
  ${formTokenField(visit)}
  <button class="quiet">End the previous secret now</button>
</form>`
}</div>`;
}

function rotateForm(visit: Visit): Html {
  return html`<details>
<summary>Rotate: replace the secret with a new random one</summary>
<form method="post" action="${visit.view.path}/webhooks/secret/rotate">
  ${formTokenField(visit)}
  ${overlapChoice}
  <button>Rotate secret</button>
</form>
</details>`;
}

function ownForm(visit: Visit, problems: Refusal["problems"]): Html {
  const problem = problems?.value;
  const attributes = html` required maxlength="200"${VERBATIM}${problem && html` autofocus`}`;
  const hint = html`<code>whsec_</code> followed by 24–64 random bytes in base64, for example from <code>echo whsec_$(openssl rand -base64 32)</code>.`;
  return html`<details${problem && html` open`}>
<summary>Set your own secret</summary>
<form method="post" action="${visit.view.path}/webhooks/secret">
  ${formTokenField(visit)}
  ${input({ name: "value", label: "Secret", attributes, value: "", hint, problem: problem && `${problem} Nothing was changed.` })}
  ${overlapChoice}
  <button>Set secret</button>
</form>
</details>`;
}

const overlapChoice = choiceGroup({
  type: "radio",
  name: "previous",
  legend: "The current secret",
  picked: ["keep"],
  choices: [
    { value: "keep", label: "Also signs for 24 more hours", meaning: "so that you can switch without losing events" },
    { value: "end", label: "Ends immediately", meaning: "if someone else may know it" },
  ],
});
