import type { Passkey } from "@vvs/proto/account/v1/passkeys";
import type { Response } from "express";
import { field, queryValue } from "../http/form.ts";
import { type Html, html } from "../http/html.ts";
import { confirmedPath, nextPath } from "../http/next-path.ts";
import { fieldProblem } from "../http/refusal.ts";
import { keepSession, type PageHandlers, type Visit } from "../http/session.ts";
import type { PageContext } from "../page/page-context.ts";
import { browserName } from "../ui/browser-name.ts";
import { textField } from "../ui/fields.ts";
import { card, problemNotice, time } from "../ui/parts.ts";
import { table } from "../ui/table.ts";

/** Creates the handlers for adding, removing and confirming with passkeys. */
export function createPasskeyHandlers({ passkeys, layout }: PageContext) {
  async function sendAdd(
    response: Response,
    visit: Visit,
    shown: { name: string; problem?: string; nameProblem?: string },
  ): Promise<void> {
    const { optionsJson } = await passkeys.beginPasskeyRegistration(visit.self);
    const { name, problem, nameProblem } = shown;
    layout.sendCard(response, {
      ...{ visit, title: "Add a passkey", status: problem || nameProblem ? 400 : 200, script: "passkeys.js" },
      ...{ notice: problem === undefined ? undefined : problemNotice(problem) },
      content: addPasskeyPage({ base: visit.view.path, optionsJson, name, problem: nameProblem }),
    });
  }

  async function sendConfirm(
    response: Response,
    visit: Visit,
    shown: { next: string; problem?: string },
  ): Promise<void> {
    const { optionsJson } = await passkeys.beginPasskeyReauthentication(visit.self);
    const base = `${visit.view.path}/security/confirm`;
    layout.sendCard(response, {
      ...{ visit, title: "Confirm with a passkey", status: shown.problem ? 400 : 200 },
      ...usePasskey({
        ...{ ...shown, optionsJson, action: `${base}/passkey` },
        reason: html`To protect the account of <strong>${visit.session.email}</strong>, use your passkey before you continue. You will not be asked again for 15 minutes.`,
        byPassword: { path: base, text: "Confirm with your password." },
      }),
    });
  }

  return {
    ask: (request, response, visit) =>
      sendAdd(response, visit, { name: browserName(request.headers["user-agent"] ?? "") }),

    async add(request, response, visit) {
      const name = field(request, "name");
      try {
        await passkeys.addPasskey({ ...visit.self, name, responseJson: field(request, "response") });
        response.redirect(303, `${visit.view.path}/security?done=passkey-added`);
      } catch (error) {
        const nameProblem = fieldProblem(error, "name");
        const problem =
          "No passkey was added, because your browser’s answer did not fit this page or came too late. Try again.";
        const shown = nameProblem ? { nameProblem: `The name ${nameProblem}.` } : { problem };
        await sendAdd(response, visit, { name, ...shown });
      }
    },

    async remove(request, response, visit) {
      const passkeyId = field(request, "passkey_id");
      await passkeys.removePasskey({ ...visit.self, passkeyId });
      response.redirect(303, `${visit.view.path}/security?done=passkey-removed`);
    },

    askToConfirm: (request, response, visit) =>
      sendConfirm(response, visit, { next: nextPath(queryValue(request, "next")) }),

    async confirm(request, response, visit) {
      const next = nextPath(field(request, "next"));
      try {
        const responseJson = field(request, "response");
        keepSession(response, await passkeys.reauthenticateWithPasskey({ ...visit.self, responseJson }));
        response.redirect(303, confirmedPath(next));
      } catch (error) {
        const problem = `This ${fieldProblem(error, "response")}.`;
        await sendConfirm(response, visit, { next, problem });
      }
    },
  } satisfies PageHandlers;
}

/** The passkeys section of the security page. */
export function passkeysSection(base: string, passkeys: readonly Passkey[]): Html {
  return card("passkeys", "Passkeys")`
<p>A passkey signs you in with your fingerprint, face or PIN instead of a password and a code. It works only on this site, so a fake site can’t steal it.</p>
${
  passkeys.length === 0
    ? html`<p>You have no passkeys yet.</p>`
    : table("", passkeys, [
        ["Name", ({ name }) => name],
        ["Added", ({ createdAt }) => time(createdAt)],
        ["Last used", ({ lastUsedAt }) => time(lastUsedAt) ?? "never"],
        [
          "Action",
          ({ id, name }) =>
            html`<form method="post" action="${base}/security/passkeys/remove"><input type="hidden" name="passkey_id" value="${id}"><button class="quiet">Remove<span class="unseen"> the passkey ${name}</span></button></form>`,
          "action",
        ],
      ])
}
<p class="actions"><a class="button" href="${base}/security/passkeys/new">Add a passkey</a></p>`;
}

/** The form that lets the browser create a passkey. */
function addPasskeyPage(options: {
  base: string;
  optionsJson: string;
  name: string;
  problem: string | undefined;
}): Html {
  const { base, optionsJson, name, problem } = options;
  return html`${noPasskeys(html`<a href="${base}/security">Go back</a> and keep signing in with your password.`)}
<form method="post" action="${base}/security/passkeys" data-passkey="create" data-options="${optionsJson}" hidden>
  <input type="hidden" name="response">
  ${textField({ name: "name", label: "Name", autocomplete: "off", maxLength: 100, value: name, hint: "A name that you will recognize, such as the device or password manager that keeps the passkey.", problem })}
  ${browserProblem}
  <p class="choices"><button>Add passkey</button> <a class="button quiet" href="${base}/security">Go back</a></p>
</form>`;
}

/** Renders the form that lets the browser use a passkey; it starts immediately unless the last try failed. */
export function usePasskey(options: {
  action: string;
  reason: Html;
  byPassword: { path: string; text: string };
  next: string;
  /** Identifies the sign-in, as several tabs may have one each. */
  ceremony?: string;
  optionsJson: string;
  problem?: string;
}) {
  const { next, ceremony, problem, byPassword } = options;
  const passwordPath = `${byPassword.path}?next=${encodeURIComponent(next)}`;
  const content = html`${noPasskeys(html`<a href="${passwordPath}">${byPassword.text}</a>`)}
<form method="post" action="${options.action}" data-passkey="get" data-options="${options.optionsJson}"${!problem && html` data-now`} hidden>
  <input type="hidden" name="response">
  <input type="hidden" name="next" value="${next}">
  ${ceremony && html`<input type="hidden" name="ceremony" value="${ceremony}">`}
  <p>${options.reason}</p>
  ${browserProblem}
  <p class="choices"><button>Use a passkey</button> <a class="button quiet" href="${passwordPath}">Use your password</a></p>
</form>`;
  const notice = problem === undefined ? undefined : problemNotice(problem);
  return { content, notice, script: "passkeys.js" } as const;
}

const browserProblem = html`<p class="field-problem" role="alert" data-passkey-problem hidden></p>`;

/** The note for browsers without passkeys; the script hides it in browsers with passkeys. */
function noPasskeys(instead: Html): Html {
  return html`<p data-no-passkeys>This browser does not support passkeys, or its scripts are turned off. ${instead}</p>`;
}
