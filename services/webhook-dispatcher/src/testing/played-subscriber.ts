import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import { listening } from "@vvs/testing";

/** A POST that was received. */
export interface Post {
  readonly path: string;
  readonly eventId: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  /** Milliseconds of performance.now(). */
  readonly at: number;
}

export interface PlayedSubscriber {
  url(path: string): string;
  readonly posts: readonly Post[];
  /** Returns the highest number of unanswered POSTs to a path at any time. */
  mostAtOnce(path: string): number;
}

/** Starts a subscriber on loopback, until the tests of the file are over, that answers with `answer`, or with 200 if absent. */
export async function playSubscriber(
  answer: (post: Post, response: ServerResponse) => void = (_post, response) => void response.end("ok"),
): Promise<PlayedSubscriber> {
  const posts: Post[] = [];
  const open = new Map<string, number>();
  const most = new Map<string, number>();
  const server = createServer((request, response) => {
    const path = request.url!;
    const chunks: Buffer[] = [];
    const post = {
      path,
      eventId: String(request.headers["webhook-id"]),
      headers: request.headers,
      at: performance.now(),
      get body() {
        return Buffer.concat(chunks).toString();
      },
    };
    posts.push(post);
    open.set(path, (open.get(path) ?? 0) + 1);
    most.set(path, Math.max(most.get(path) ?? 0, open.get(path)!));
    response.once("close", () => open.set(path, open.get(path)! - 1));
    request.on("data", (chunk) => chunks.push(chunk)).once("end", () => answer(post, response));
  });
  const port = await listening(server);
  return {
    url: (path) => `http://127.0.0.1:${port}${path}`,
    posts,
    mostAtOnce: (path) => most.get(path) ?? 0,
  };
}
