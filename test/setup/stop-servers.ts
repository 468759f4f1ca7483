/** Jest's globalTeardown: stops what the setup started and removes its data. */
export default async function teardown(): Promise<void> {
  await globalThis.stopTestServers?.();
}
