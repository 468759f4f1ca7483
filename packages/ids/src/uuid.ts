import { createHash, randomUUID } from "node:crypto";

/** The 16 bytes of a UUIDv7 (RFC 9562): milliseconds since 1970 in front, so that ids sort by creation. */
export function uuidV7(at: Date, random: Uint8Array = tenRandomBytes()): Uint8Array {
  const bytes = new Uint8Array(16);
  new DataView(bytes.buffer).setBigUint64(0, BigInt(at.getTime()) << 16n);
  bytes.set(random.subarray(0, 10), 6);
  bytes[6] = (bytes[6]! & 0x0f) | 0x70;
  bytes[8] = (bytes[8]! & 0x3f) | 0x80;
  return bytes;
}

/** The same UUIDv7 for the same time and parts, whoever makes it: for ids that a retry must make again. */
export function deterministicUuidV7(at: Date, parts: readonly string[]): Uint8Array {
  const digest = createHash("sha256").update(JSON.stringify(parts)).digest();
  return uuidV7(at, digest);
}

/** Node keeps random bytes ready for its UUIDs, and asks the system for all others: loads make millions of ids. */
function tenRandomBytes(): Uint8Array {
  const uuid = Buffer.from(randomUUID().replaceAll("-", ""), "hex");
  // Six bytes before the version, and four behind the variant.
  return Uint8Array.of(...uuid.subarray(0, 6), ...uuid.subarray(10, 14));
}
