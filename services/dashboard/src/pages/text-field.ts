import { type Html, html } from "../http/html.ts";

/** A labelled field for a line of text, with what is wrong with it. */
export function textField(options: {
  name: string;
  label: string;
  type?: "text" | "email" | "password";
  autocomplete: string;
  maxLength: number;
  /** What the field holds already. */
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

/** The field for an address that people sign in with. */
export function emailField(options: {
  value: string;
  problem?: string;
  autofocus?: boolean;
  /** "off" for the address of somebody else. */
  autocomplete?: "username" | "off";
}): Html {
  return textField({
    autocomplete: "username",
    ...options,
    name: "email",
    label: "E-mail address",
    type: "email",
    maxLength: 254,
  });
}
