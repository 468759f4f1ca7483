/**
 * Thrown by a handler for a record that can never be processed, whatever the state of the world: it contradicts itself,
 * or names what can't exist. The record goes to the dead-letter topic. Anything else thrown is retried for ever.
 */
export class PoisonRecordError extends Error {
  override readonly name = "PoisonRecordError";
}
