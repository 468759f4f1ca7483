import type { DescService } from "@bufbuild/protobuf";
import { translateMongoError } from "@vvs/mongo";
import { type Client, createClient, serveRpc } from "@vvs/rpc";
import { atEnd, silentLogger as logger, untilEnd } from "@vvs/testing";
import { keysServices, peopleServices } from "../api/api.ts";
import { createKeyFeed } from "../api-keys/key-feed.ts";
import { createAccountMetrics } from "../metrics.ts";
import { testAccount } from "./account.ts";

/** Returns an account whose services of both parts are served until the tests of the file are over, and clients of them. */
export async function testApi() {
  const account = await testAccount();
  const { domain } = account;
  const { store, keyRecords: records } = domain;
  const keyFeed = createKeyFeed({ store, records, logger, onWatchers: () => undefined });
  const mailing = { isConfigured: false, mailbox: undefined };
  const [first, ...beside] = [
    ...keysServices({ domain, keyFeed }),
    ...peopleServices({ domain, mailing, signUpOpen: true, metrics: createAccountMetrics(), logger }),
  ];
  const address = { host: "127.0.0.1", port: 0, tls: undefined };
  const server = await serveRpc({ ...first!, beside, ...address, logger, translate: translateMongoError });
  atEnd(() => server.close(100));

  /** Returns a client that calls as another service. */
  const clientOf = <S extends DescService>(service: S, caller: string): Client<S> =>
    untilEnd(createClient(service, { address: `127.0.0.1:${server.port}`, caller, tls: undefined }));
  return { account, clientOf };
}
