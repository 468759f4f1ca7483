import type { Html } from "../http/html.ts";
import { textField } from "./text-field.ts";

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
  return textField({ ...options, type: "password", maxLength: 1024 });
}
