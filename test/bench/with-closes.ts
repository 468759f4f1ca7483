/** Runs a function, and then its registered closes in reverse order, even if it failed. */
export async function withCloses<T>(run: (onClose: (close: () => unknown) => void) => Promise<T>): Promise<T> {
  const closes: (() => unknown)[] = [];
  try {
    return await run((close) => closes.push(close));
  } finally {
    for (const close of closes.toReversed()) await close();
  }
}
