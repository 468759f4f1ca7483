import type { ApiKey } from "@vvs/proto/account/v1/api_keys";
import type { Session } from "@vvs/proto/account/v1/sessions";
import { type Html, html } from "../http/html.ts";

/** The actor of an action, as shown on pages. */
export interface ActorView {
  readonly kind: "an API key" | "a user" | "a monitor" | "unknown";
  /** Empty where only the id is known. */
  readonly name: string;
  readonly id: string;
}

/** Renders an actor without its id; a kind that this version does not know has no words. */
export const actorWords = ({ kind, name }: ActorView): Html | undefined =>
  kind === "unknown" ? undefined : html`${kind}${name && html`, <strong>${name}</strong>`}`;

const kinds = { key: "an API key", usr: "a user", mon: "a monitor" } as const;

/** Returns the kind and name of an actor. Names come from what the visitor may see: the organization's API keys and their own email. */
export function actorView(
  id: string,
  known: { session: Pick<Session, "userId" | "email">; keys: readonly Pick<ApiKey, "id" | "name">[] },
): ActorView {
  const prefix = id.slice(0, 3);
  const kind = Object.hasOwn(kinds, prefix) ? kinds[prefix as keyof typeof kinds] : "unknown";
  const key = known.keys.find((each) => each.id === id);
  const name = id === known.session.userId ? known.session.email : (key?.name ?? "");
  return { kind, name, id };
}
