import type { ServerResponse } from "node:http";
import { playServer, type ReceivedCall } from "./played-server.ts";

/** How the storage misbehaves after it has started to answer. */
export type StorageMisbehaviour = "cut" | "silent" | "no_archive" | "short";

export interface PlayedSamGovFiles {
  readonly baseUrl: string;
  readonly apiKey: string;
  /** Calls to the API, and to the storage that it redirects to. */
  readonly apiCalls: readonly ReceivedCall[];
  readonly storageCalls: readonly ReceivedCall[];
  /** Publishes the file that the API returns for exactly these parameters, including the version. */
  publish(query: Readonly<Record<string, string>>, name: string, content: Uint8Array): void;
  /** Makes the API answer with this status from now on. */
  refuse(status: number): void;
  misbehave(how: StorageMisbehaviour): void;
}

/**
 * Simulates SAM.gov's extract download API as GSA documents it: a key in a header, 302 to a signed address of another
 * host that holds the file, 204 if there is no such file. `reachedAt` returns the URL at which clients reach one of its
 * servers, if not its own.
 */
export async function playSamGovFiles(
  reachedAt: (url: string) => Promise<string> = async (url) => url,
): Promise<PlayedSamGovFiles> {
  const apiKey = "SAM-played-key-8d20c4b1aa";
  const files: { query: string; name: string; content: Uint8Array }[] = [];
  let refusal: number | undefined;
  let misbehaviour: StorageMisbehaviour | undefined;

  const storage = await playServer(({ url }, response) => {
    const file = files.find(({ name }) => url.startsWith(`/falextracts/${name}?`));
    if (!file) response.writeHead(403).end();
    else send(response, file.content, misbehaviour);
  });
  const storageUrl = await reachedAt(storage.url);
  const api = await playServer(({ url, headers }, response) => {
    const { pathname, searchParams } = new URL(url, "http://played");
    if (refusal !== undefined) return void response.writeHead(refusal).end("refused");
    if (headers["x-api-key"] !== apiKey) return void response.writeHead(403).end("An invalid API key was supplied.");
    const file = pathname === "/data-services/v1/extracts" && files.find(({ query }) => query === sorted(searchParams));
    if (!file) return void response.writeHead(204).end();
    const location = `${storageUrl}/falextracts/${file.name}?X-Amz-Expires=3600&X-Amz-Signature=c0ffee`;
    response.writeHead(302, { location }).end();
  });
  return {
    baseUrl: await reachedAt(api.url),
    apiKey,
    apiCalls: api.calls,
    storageCalls: storage.calls,
    publish: (query, name, content) => void files.push({ query: sorted(new URLSearchParams(query)), name, content }),
    refuse(status) {
      refusal = status;
    },
    misbehave(how) {
      misbehaviour = how;
    },
  };
}

function sorted(query: URLSearchParams): string {
  return new URLSearchParams([...query].sort()).toString();
}

function send(response: ServerResponse, content: Uint8Array, how: StorageMisbehaviour | undefined): void {
  const half = content.subarray(0, content.length / 2);
  const type = { "content-type": "application/zip" };
  if (how === "no_archive") response.writeHead(200, type).end("<html>maintenance</html>");
  else if (how === "short") response.writeHead(200, type).end(half);
  else if (!how) response.writeHead(200, { ...type, "content-length": content.length }).end(content);
  else {
    response.writeHead(200, { ...type, "content-length": content.length });
    response.write(half, () => how === "cut" && response.destroy());
  }
}
