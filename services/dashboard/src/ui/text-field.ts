import { type Html, html } from "../http/html.ts";

interface TextField {
  readonly name: string;
  readonly label: string;
  readonly type?: "text" | "email" | "password";
  readonly autocomplete: string;
  readonly maxLength: number;
  /** The initial value. */
  readonly value?: string;
  readonly hint?: string | undefined;
  readonly problem?: string | undefined;
  readonly autofocus?: boolean;
}

/** Renders a labelled field for one line of text, with its hint and its problem, if any. */
export function textField(options: TextField): Html {
  const { name, hint, problem } = options;
  const describedBy = [hint && `${name}-hint`, problem && `${name}-problem`].filter(Boolean).join(" ");
  return html`<label for="${name}">${options.label}</label>
  <input id="${name}" name="${name}" type="${options.type ?? "text"}" autocomplete="${options.autocomplete}" required maxlength="${options.maxLength}"${options.value && html` value="${options.value}"`}${describedBy && html` aria-describedby="${describedBy}"`}${problem && html` aria-invalid="true"`}${(problem || options.autofocus) && html` autofocus`}>
  ${hint && html`<p class="hint" id="${name}-hint">${hint}</p>`}
  ${problem && html`<p class="field-problem" id="${name}-problem" role="alert">${problem}</p>`}`;
}

/** Renders a field for an email address; `autocomplete` is "off" for another person's, such as one to invite. */
export function emailField(options: Partial<TextField>): Html {
  const own = { name: "email", label: "Email address", autocomplete: "username", maxLength: 254 };
  return textField({ ...own, ...options, type: "email" });
}

/** The rules for a new password, shown below its field. */
export const NEW_PASSWORD_HINT =
  "At least 8 characters of any kind. Longer is better. Symbols and capital letters are not required.";

/** Renders a labelled password field. It is always empty: passwords are never sent back to the browser. */
export function passwordField(options: Omit<TextField, "type" | "maxLength" | "value">): Html {
  return textField({ ...options, type: "password", maxLength: 1024 });
}
