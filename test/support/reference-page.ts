import { sharedProduct } from "./product.ts";

/** A block of code of the reference page. */
interface PageBlock {
  readonly title: string;
  readonly code: string;
}

/** Returns the text of escaped HTML. */
export const decoded = (text: string) =>
  text
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&quot;", '"')
    .replaceAll("&#39;", "'")
    .replaceAll("&amp;", "&");

/** Returns the blocks of code of the reference page by their id. */
export async function pageBlocks(): Promise<ReadonlyMap<string, PageBlock>> {
  const page = await (await fetch(`${sharedProduct().baseUrl}/docs`)).text();
  const blocks = page.matchAll(/<pre tabindex="0" aria-label="([^"]*)"><code id="([^"]+)">([^<]*)<\/code>/g);
  return new Map([...blocks].map(([, title, id, code]) => [id!, { title: decoded(title!), code: decoded(code!) }]));
}

/** Returns the block with the page's variables, with a key. */
export function withKey(blocks: ReadonlyMap<string, PageBlock>, key: string): string {
  const { code } = blocks.get("start-shell")!;
  if (!code.includes(sharedProduct().baseUrl) || !code.includes("=svc_test_...")) throw new Error(code);
  return code.replace("svc_test_...", key);
}
