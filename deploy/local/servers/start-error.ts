/** A failed start that the user can repair. Only its message is shown, which is one sentence. */
export class StartError extends Error {
  override name = "StartError";
}
