import type { GetSecondFactorResponse } from "@vvs/proto/account/v1/sessions";
import type { Response } from "express";
import { field } from "../http/form.ts";
import { type Html, html } from "../http/html.ts";
import { fieldProblem } from "../http/refusal.ts";
import type { PageHandlers, Visit } from "../http/session.ts";
import type { PageContext } from "../page/page-context.ts";
import { input } from "../ui/fields.ts";
import { card, copyable, time } from "../ui/parts.ts";
import { qrCode } from "../ui/qr-code.ts";

export function createTwoFactorHandlers({ sessions, layout }: PageContext) {
  async function sendSetUp(response: Response, visit: Visit, problem?: string): Promise<void> {
    const { secret, uri } = await sessions.beginTotp(visit.self);
    const content = setUpPage({ base: visit.view.path, secret, uri, problem });
    const page = {
      visit,
      title: "Set up an authenticator app",
      parents: [["/security", "Security"]] as const,
      content,
    };
    // Holds a secret, so it is not compressed.
    response.set("cache-control", "no-store, no-transform");
    layout.sendPage(response, { ...page, status: problem ? 400 : 200 });
  }

  return {
    setUp: (_request, response, visit) => sendSetUp(response, visit),

    async enable(request, response, visit) {
      try {
        const code = field(request, "code");
        const { recoveryCodes } = await sessions.enableTotp({ ...visit.self, code });
        const content = recoveryCodesPage(visit.view.path, recoveryCodes);
        layout.sendPage(response, { visit, title: "Two-factor sign-in is on", content });
      } catch (error) {
        await sendSetUp(response, visit, `This ${fieldProblem(error, "code")}.`);
      }
    },

    async disable(_request, response, visit) {
      await sessions.disableTotp(visit.self);
      response.redirect(303, `${visit.view.path}/security?done=two-factor-off`);
    },
  } satisfies PageHandlers;
}

/** The two-factor section of the security page. */
export function twoFactorSection(base: string, { enabledAt, recoveryCodesLeft }: GetSecondFactorResponse): Html {
  return card("two-factor", "Two-factor sign-in")`${
    enabledAt
      ? html`<p><span class="state active">on</span> since ${time(enabledAt)}. When you sign in, you also enter a code from your authenticator app.</p>
<p>${recoveryCodesLeft} of 10 recovery codes left. To get new ones, turn off two-factor sign-in and set it up again.</p>
<form method="post" action="${base}/security/two-factor/disable"><button class="danger">Turn off</button></form>`
      : html`<p>Two-factor sign-in is off: anyone who knows your password can sign in. If you set up an authenticator app, on your phone or in a password manager, a sign-in also needs a code from it.</p>
<p><a class="button" href="${base}/security/two-factor">Set up an app</a></p>`
  }`;
}

/** The page that shows the secret for the app, and asks for a code from it. */
function setUpPage(options: { base: string; secret: string; uri: string; problem?: string }): Html {
  const { base, secret, uri, problem } = options;
  const attributes = html` inputmode="numeric" autocomplete="one-time-code" required maxlength="10"${problem && html` autofocus`}`;
  return html`${card("step-1", "1. Scan this code with the app")`
<p>Add an account in the app and point the camera at the code.</p>
${qrCode(uri, "QR code with the key for the app")}
<p>If the app is on this device, select <em>Open in an app</em>. Or type this key, and choose “time-based” if the app asks.</p>
${copyable("totp-secret", "The key", secret.replaceAll(/(.{4})(?=.)/g, "$1 "))}
<p><a class="button quiet" href="${uri}">Open in an app</a></p>`}
${card("step-2", "2. Enter the code that the app shows")`<form method="post" action="${base}/security/two-factor">
  ${input({ name: "code", label: "Code", attributes, value: "", problem })}
  <p class="hint">Turning on two-factor sign-in ends all your other sessions.</p>
  <button>Turn on</button>
</form>`}`;
}

/** The page that shows the recovery codes, once. */
function recoveryCodesPage(base: string, codes: readonly string[]): Html {
  return card("codes", "Save your recovery codes")`
<p>If you lose the app, each code signs you in once. The codes are shown only now. Save them in a place that you can reach without your phone.</p>
${copyable("recovery-codes", "Recovery codes", codes.join("\n"))}
<p><a class="button" href="${base}/security">I have saved them</a></p>`;
}
