import type { Html } from "../http/html.ts";
import { textField } from "./text-field.ts";

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
