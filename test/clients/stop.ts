/** Jest's globalTeardown: stops the product and its servers. */
export default async function teardown(): Promise<void> {
  await globalThis.stopTestProduct?.();
  await globalThis.stopTestServers?.();
}
