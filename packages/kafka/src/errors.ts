/**
 * Thrown by a handler for a record that can never be processed, because it contradicts itself or refers to something
 * that can't exist. The record goes to the dead-letter topic. After any other error it is tried again, without limit.
 */
export class PoisonRecordError extends Error {
  override readonly name = "PoisonRecordError";
}
