import { join } from "node:path";
import { serverCacheDir } from "../../deploy/local/servers/index.ts";
import { type KafkaServer, startKafka } from "../../deploy/local/servers/kafka.ts";

/** A broker for one test only, which the test may stop. */
export interface OwnBroker {
  readonly brokers: string[];
  /** Stops it: nothing answers at its address until `restore`. */
  takeAway(): Promise<void>;
  /** Starts it again at the same address, with its data. */
  restore(): Promise<void>;
  stop(): Promise<void>;
}

export async function startOwnBroker(folder: string): Promise<OwnBroker> {
  const place = { dataDir: join(folder, "kafka"), cacheDir: serverCacheDir(process.env), log: () => undefined };
  const options = { ...place, isBrief: true };
  const first = await startKafka(options);
  let running: KafkaServer | undefined = first;
  const stop = async () => {
    await running?.stop();
    running = undefined;
  };
  return {
    brokers: first.brokers,
    takeAway: stop,
    async restore() {
      running = await startKafka({ ...options, port: first.port });
    },
    stop,
  };
}
