import { type Html, html } from "../http/html.ts";

/** Renders a labelled field for one line of text, with its hint and its problem, if any. */
export function textField(options: {
  name: string;
  label: string;
  type?: "text" | "email" | "password";
  autocomplete: string;
  maxLength: number;
  /** The initial value. */
  value?: string;
  hint?: string;
  problem?: string;
  autofocus?: boolean;
}): Html {
  const { name, hint, problem } = options;
  const describedBy = [hint && `${name}-hint`, problem && `${name}-problem`].filter(Boolean).join(" ");
  return html`<label for="${name}">${options.label}</label>
  <input id="${name}" name="${name}" type="${options.type ?? "text"}" autocomplete="${options.autocomplete}" required maxlength="${options.maxLength}"${options.value && html` value="${options.value}"`}${describedBy && html` aria-describedby="${describedBy}"`}${problem && html` aria-invalid="true"`}${(problem || options.autofocus) && html` autofocus`}>
  ${hint && html`<p class="hint" id="${name}-hint">${hint}</p>`}
  ${problem && html`<p class="field-problem" id="${name}-problem" role="alert">${problem}</p>`}`;
}

/** Renders the field for the email address that people sign in with. */
export function emailField(options: {
  value: string;
  problem?: string;
  autofocus?: boolean;
  /** "off" if the address belongs to somebody else, such as a person to invite. */
  autocomplete?: "username" | "off";
}): Html {
  return textField({
    autocomplete: "username",
    ...options,
    name: "email",
    label: "Email address",
    type: "email",
    maxLength: 254,
  });
}

/** The rules for a new password, shown below its field. */
export const NEW_PASSWORD_HINT =
  "At least 8 characters of any kind. Longer is better. Symbols and capital letters are not required.";

/** Renders a labelled password field. It is always empty: passwords are never sent back to the browser. */
export function passwordField(options: {
  name: string;
  label: string;
  autocomplete: "current-password" | "new-password";
  hint?: string;
  problem?: string;
  autofocus?: boolean;
}): Html {
  return textField({ ...options, type: "password", maxLength: 1024 });
}
