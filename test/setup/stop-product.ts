/** Jest's globalTeardown of the system tests: stops the product and removes its databases, topics and files. */
export default async function teardown(): Promise<void> {
  await globalThis.stopTestProduct?.();
}
