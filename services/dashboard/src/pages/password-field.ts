import { type Html, html } from "../http/html.ts";

/** What a new password has to be like, for people. */
export const NEW_PASSWORD_HINT =
  "At least 8 characters, of any kind. Longer is better; no symbols or capitals are asked for.";

/** A labelled field for a password, which is never filled in by us. */
export function passwordField(options: {
  name: string;
  label: string;
  autocomplete: "current-password" | "new-password";
  hint?: string;
  problem?: string;
  autofocus?: boolean;
}): Html {
  const { name, hint, problem } = options;
  const describedBy = [hint && `${name}-hint`, problem && `${name}-problem`].filter(Boolean).join(" ");
  return html`<label for="${name}">${options.label}</label>
  <input id="${name}" name="${name}" type="password" autocomplete="${options.autocomplete}" required maxlength="1024"${describedBy && html` aria-describedby="${describedBy}"`}${problem && html` aria-invalid="true"`}${(problem || options.autofocus) && html` autofocus`}>
  ${hint && html`<p class="hint" id="${name}-hint">${hint}</p>`}
  ${problem && html`<p class="field-problem" id="${name}-problem" role="alert">${problem}</p>`}`;
}
