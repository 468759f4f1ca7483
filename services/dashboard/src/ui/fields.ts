import { checkDefinitions, checkNames } from "@vvs/checks";
import { type Html, html } from "../http/html.ts";
import { checkTitle } from "./parts.ts";

interface Field {
  readonly name: string;
  readonly label: string;
  readonly hint?: Html | string | undefined;
  readonly problem?: string | undefined;
}

/** The attributes of inputs for ids, URLs and the like, which browsers must neither complete nor correct. */
export const VERBATIM: Html = html` autocomplete="off" autocapitalize="off" spellcheck="false"`;

/** Renders an input with its label, hint and problem. */
export function input(options: Field & { readonly attributes: Html; readonly value: string }): Html {
  const { name, attributes, value } = options;
  return labelled(
    options,
    html`<input id="${name}" name="${name}"${attributes} value="${value}"${described(options)}>`,
  );
}

/** Renders an input as one of several fields beside or below each other. */
export function inputField(options: Parameters<typeof input>[0]): Html {
  return html`<div class="field">${input(options)}</div>`;
}

/** Renders a choice of one of several options, with its label, hint and problem. */
export function selectField(options: Field & { readonly options: readonly Html[] }): Html {
  const { name } = options;
  const select = html`<select id="${name}" name="${name}"${described(options)}>${options.options}</select>`;
  return html`<div class="field">${labelled(options, select)}</div>`;
}

function labelled({ name, label, hint, problem }: Field, control: Html): Html {
  return html`<label for="${name}">${label}</label>
  ${control}
  ${hint && html`<p class="hint" id="${name}-hint">${hint}</p>`}
  ${problemLine(name, problem)}`;
}

/** Renders one option of a selectField; without a text of its own it shows its value. The empty one is the default. */
export function option(value: string, selected: string, text?: string): Html {
  return html`<option${text !== undefined && html` value="${value}"`}${value !== "" && value === selected && html` selected`}>${text ?? value}</option>`;
}

/** Renders a group of checkboxes or radio buttons. Each choice has a value, a label and, where that is not enough, a meaning. */
export function choiceGroup(options: {
  readonly type: "checkbox" | "radio";
  readonly name: string;
  readonly legend: Html | string;
  readonly choices: readonly { readonly value: string; readonly label: Html | string; readonly meaning?: string }[];
  readonly picked: readonly string[];
  /** Browsers ask for one of the radio buttons where none is picked. */
  readonly required?: boolean;
  readonly hint?: Html | undefined;
  readonly problem?: string | undefined;
}): Html {
  const { type, name, legend, choices, picked, required, hint, problem } = options;
  return html`<fieldset${problem && html` aria-describedby="${name}-problem"`}>
    <legend>${legend}</legend>
    ${choices.map(
      ({ value, label, meaning }) =>
        html`<label class="check"><input type="${type}" name="${name}" value="${value}"${required && html` required`}${picked.includes(value) && html` checked`}> <span>${label}${meaning && html` <span class="hint">${meaning}</span>`}</span></label>`,
    )}
    ${hint}
    ${problemLine(name, problem)}
  </fieldset>`;
}

/** Renders the choice of checks. */
export function checksField(picked: readonly string[], hint: Html | undefined, problem: string | undefined): Html {
  const choices = checkNames.map((value) => {
    const { type, question } = checkDefinitions[value];
    return { value, label: checkTitle(type), meaning: question };
  });
  return choiceGroup({ type: "checkbox", name: "checks", legend: "Checks", choices, picked, hint, problem });
}

export function problemLine(name: string, problem: string | undefined): Html | undefined {
  return problem === undefined ? undefined : html`<p class="field-problem" id="${name}-problem">${problem}</p>`;
}

/** Renders the attributes that connect an input to its hint and its problem. */
function described({ name, hint, problem }: Field): Html {
  const ids = [hint && `${name}-hint`, problem && `${name}-problem`].filter(Boolean).join(" ");
  return html`${ids && html` aria-describedby="${ids}"`}${problem && html` aria-invalid="true"`}`;
}

interface TextField extends Field {
  readonly type?: "text" | "email" | "password";
  readonly autocomplete: string;
  readonly maxLength: number;
  /** The initial value. */
  readonly value?: string;
  /** Whether it has the focus at first; a refused field always has. */
  readonly autofocus?: boolean;
}

/** Renders a required field for one line of text. */
export function textField({ type = "text", autocomplete, maxLength, autofocus, ...field }: TextField): Html {
  const isFocused = autofocus || field.problem;
  const attributes = html` type="${type}" autocomplete="${autocomplete}" required maxlength="${maxLength}"${isFocused && html` autofocus`}`;
  return input({ value: "", ...field, attributes });
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
