import { isId } from "@vvs/ids";

/** The page of each kind of id, below the environment. Deliveries, requests and uses of keys are found by filters. */
const pages = {
  ent: (id: string) => `/vendors/${id}`,
  ver: (id: string) => `/verifications/${id}`,
  evd: (id: string) => `/evidence/${id}`,
  mon: (id: string) => `/monitors/${id}`,
  dlv: (id: string) => `/webhooks/deliveries/${id}`,
  evt: (id: string) => `/webhooks/deliveries?event_id=${id}`,
  req: (id: string) => `/requests?request_id=${id}`,
  key: (id: string) => `/usage?key=${id}`,
  usr: () => "/organization/members",
  inv: () => "/organization/members",
} as const;

/** Returns the path of the page of an id, below the environment; undefined for other texts and for ids without a page. */
export function idPath(text: string): string | undefined {
  const id = text.toLowerCase();
  const prefix = id.slice(0, 3);
  if (!Object.hasOwn(pages, prefix)) return undefined;
  return isId(prefix as keyof typeof pages, id) ? pages[prefix as keyof typeof pages](id) : undefined;
}
