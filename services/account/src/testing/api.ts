import type { DescService } from "@bufbuild/protobuf";
import { afterAll, beforeAll } from "@jest/globals";
import { translateMongoError } from "@vvs/mongo";
import { type Client, createClient, type RpcServer, serveRpc } from "@vvs/rpc";
import { keysServices, peopleServices } from "../api/api.ts";
import { createKeyFeed } from "../api-keys/key-feed.ts";
import { createAccountMetrics } from "../metrics.ts";
import { logger, testAccount } from "./account.ts";

/** Returns an account whose services of both parts are served while the tests of the file run, and clients of them. */
export function testApi() {
  const account = testAccount();
  const clients: { close(): void }[] = [];
  let server: RpcServer;

  beforeAll(async () => {
    const { domain } = account;
    const { store, keyRecords: records } = domain;
    const keyFeed = createKeyFeed({ store, records, logger, onWatchers: () => undefined });
    const mailing = { isConfigured: false, mailbox: undefined };
    const [first, ...beside] = [
      ...keysServices({ domain, keyFeed }),
      ...peopleServices({ domain, mailing, signUpOpen: true, metrics: createAccountMetrics(), logger }),
    ];
    const address = { host: "127.0.0.1", port: 0, tls: undefined };
    server = await serveRpc({ ...first!, beside, ...address, logger, translate: translateMongoError });
  });
  afterAll(async () => {
    for (const client of clients) client.close();
    await server.close(100);
  });

  /** Returns a client that calls as another service. */
  function clientOf<S extends DescService>(service: S, caller: string): Client<S> {
    const client = createClient(service, { address: `127.0.0.1:${server.port}`, caller, tls: undefined });
    clients.push(client);
    return client;
  }
  return { account, clientOf };
}
