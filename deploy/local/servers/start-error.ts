/** A start that failed for a reason the person at the terminal can act on: its message is one sentence, shown alone. */
export class StartError extends Error {
  override name = "StartError";
}
