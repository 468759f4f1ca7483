import { z } from "@vvs/config";
import { ServiceError } from "@vvs/errors";
import type { UserDocument } from "../store.ts";
import { normalizedEmail } from "../users/users.ts";

/** Hosts for which plaintext is no risk: a provider simulated on this machine. */
const LOOPBACK = new Set(["localhost", "127.0.0.1", "[::1]"]);

const domain = z
  .string()
  .toLowerCase()
  .regex(/^[a-z0-9-]+(\.[a-z0-9-]+)+$/);

const identityProvider = z.strictObject({
  /** Part of URLs, including the redirect URI that is registered with the provider. */
  id: z.string().regex(/^[a-z0-9-]{1,40}$/),
  /** The organization whose members it signs in. */
  organization_id: z.string().startsWith("org_"),
  /** Name for people, such as Acme. */
  name: z.string().min(1).max(60),
  /** Exactly as in its discovery document and its tokens. */
  issuer: z.url().refine(isSafe, "must be https"),
  client_id: z.string().min(1),
  client_secret: z.string().min(1),
  /** Domains of the email addresses that it may vouch for. Users with such an address are sent to it. */
  email_domains: z.array(domain).min(1),
  /**
   * Claims that the ID token must have, such as hd or tid: at an issuer that several organizations share, they say to
   * which one a person belongs.
   */
  required_claims: z.record(z.string().min(1), z.string().min(1)).default({}),
  /** Role of people whom the provider knows and the organization does not; absent: they are refused. */
  new_members: z.enum(["developer", "payables", "read_only"]).optional(),
  /** Whether members can't sign in any other way. */
  required: z.boolean().default(false),
  /** Whether the sign-in page shows everybody a button for it. */
  offered: z.boolean().default(false),
});

/** An organization's own identity provider. */
export type IdentityProvider = z.infer<typeof identityProvider>;

/** A JSON array of identity providers, no two with the same id, organization or email domain. */
export const identityProvidersVariable = () =>
  z.string().transform((text, context): readonly IdentityProvider[] => {
    const parsed = z.array(identityProvider).safeParse(jsonOf(text));
    if (parsed.success && isUnambiguous(parsed.data)) return parsed.data;
    const where = parsed.error?.issues.map(({ path, message }) => `${path.join(".") || "it"}: ${message}`).join("; ");
    context.addIssue({
      code: "custom",
      message: where ?? "ids, organizations and email domains must each belong to one provider",
    });
    return z.NEVER;
  });

export type IdentityProviders = ReturnType<typeof createIdentityProviders>;

export function createIdentityProviders(providers: readonly IdentityProvider[]) {
  return {
    byId: (id: string) => providers.find((provider) => provider.id === id),
    /** Returns the provider for the domain of an address. */
    byEmail: (email: string) => providers.find((provider) => isOfProvider(provider, email)),
    /** The providers that the sign-in page offers to everybody. */
    offered: providers.filter(({ offered }) => offered),
    isUsed: providers.length > 0,

    /** Errors: forbidden for a user who proved who they are, if the organization only signs in with its provider. */
    refuseOtherSignIn({ organization_id }: Pick<UserDocument, "organization_id">): void {
      const provider = providers.find((each) => each.organization_id === organization_id);
      if (!provider?.required) return;
      throw new ServiceError("forbidden", {
        message: `Your organization signs in with ${provider.name}. Use single sign-on.`,
      });
    },
  };
}

/** Returns whether a provider may vouch for an address. */
export function isOfProvider(provider: IdentityProvider, email: string): boolean {
  return provider.email_domains.includes(normalizedEmail(email).split("@").at(-1)!);
}

/** Returns whether the claims of an ID token are those of a person who belongs to the provider's organization. */
export function hasRequiredClaims({ required_claims }: IdentityProvider, claims: Readonly<Record<string, unknown>>) {
  return Object.entries(required_claims).every(
    ([name, value]) => Object.hasOwn(claims, name) && claims[name] === value,
  );
}

function isSafe(issuer: string): boolean {
  const { protocol, hostname } = new URL(issuer);
  return protocol === "https:" || (protocol === "http:" && LOOPBACK.has(hostname));
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isUnambiguous(providers: readonly IdentityProvider[]): boolean {
  return [
    providers.map(({ id }) => id),
    providers.map(({ organization_id }) => organization_id),
    providers.flatMap(({ email_domains }) => email_domains),
  ].every((names) => new Set(names).size === names.length);
}
