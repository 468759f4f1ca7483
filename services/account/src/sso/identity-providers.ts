import { z } from "@vvs/config";
import { normalizedEmail } from "../users/users.ts";

/** Where plaintext is no risk: a provider played on this machine. */
const LOOPBACK = new Set(["localhost", "127.0.0.1", "[::1]"]);

const domain = z
  .string()
  .toLowerCase()
  .regex(/^[a-z0-9-]+(\.[a-z0-9-]+)+$/);

const identityProvider = z.strictObject({
  /** Names it in addresses, also in the one that is registered with it. */
  id: z.string().regex(/^[a-z0-9-]{1,40}$/),
  /** Whose members it signs in. */
  organization_id: z.string().startsWith("org_"),
  /** For people, such as Acme. */
  name: z.string().min(1).max(60),
  /** Exactly as its discovery document and its tokens have it. */
  issuer: z.url().refine(isSafe, "must be https"),
  client_id: z.string().min(1),
  client_secret: z.string().min(1),
  /** Addresses of these domains alone are taken from it, and lead to it. */
  email_domains: z.array(domain).min(1),
  /** What somebody becomes whom it knows and the organization does not; absent, such a one is refused. */
  new_members: z.enum(["developer", "read_only"]).optional(),
  /** Are the organization's members refused any other sign-in? */
  required: z.boolean().default(false),
  /** Has the sign-in page a button for it, for everybody to see? */
  offered: z.boolean().default(false),
});

/** An organization's own identity provider. */
export type IdentityProvider = z.infer<typeof identityProvider>;

/** The identity providers of a JSON array; no two of one id, organization or domain. */
export const identityProvidersVariable = () =>
  z.string().transform((text, context): readonly IdentityProvider[] => {
    const parsed = z.array(identityProvider).safeParse(jsonOf(text));
    if (parsed.success && isUnambiguous(parsed.data)) return parsed.data;
    const where = parsed.error?.issues.map(({ path, message }) => `${path.join(".") || "it"}: ${message}`).join("; ");
    context.addIssue({
      code: "custom",
      message: where ?? "ids, organizations and e-mail domains must each belong to one provider",
    });
    return z.NEVER;
  });

export interface IdentityProviders {
  byId(id: string): IdentityProvider | undefined;
  /** By the domain of an address. */
  byEmail(email: string): IdentityProvider | undefined;
  byOrganization(organizationId: string): IdentityProvider | undefined;
  /** Those that the sign-in page offers to everybody. */
  readonly offered: readonly IdentityProvider[];
  readonly isUsed: boolean;
}

export function createIdentityProviders(providers: readonly IdentityProvider[]): IdentityProviders {
  return {
    byId: (id) => providers.find((provider) => provider.id === id),
    byEmail: (email) => providers.find((provider) => provider.email_domains.includes(domainOf(email))),
    byOrganization: (id) => providers.find(({ organization_id }) => organization_id === id),
    offered: providers.filter(({ offered }) => offered),
    isUsed: providers.length > 0,
  };
}

/** May this provider say who has this address? */
export function isOfProvider(provider: IdentityProvider, email: string): boolean {
  return provider.email_domains.includes(domainOf(email));
}

function domainOf(email: string): string {
  return normalizedEmail(email).split("@").at(-1)!;
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
