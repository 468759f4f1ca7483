import { hash, randomUUID } from "node:crypto";

/**
 * Returns the 16 bytes of a UUIDv7 (RFC 9562). It begins with the milliseconds since 1970, so that ids sort by
 * creation.
 */
export function uuidV7(at: Date, random: Uint8Array = tenRandomBytes()): Uint8Array {
  const bytes = new Uint8Array(16);
  new DataView(bytes.buffer).setBigUint64(0, BigInt(at.getTime()) << 16n);
  bytes.set(random.subarray(0, 10), 6);
  bytes[6] = (bytes[6]! & 0x0f) | 0x70;
  bytes[8] = (bytes[8]! & 0x3f) | 0x80;
  return bytes;
}

/** Returns the same UUIDv7 for the same time and parts in every process, for ids that a retry must create again. */
export function deterministicUuidV7(at: Date, parts: readonly string[]): Uint8Array {
  const digest = hash("sha256", JSON.stringify(parts), "buffer");
  return uuidV7(at, digest);
}

/** Returns random bytes of a UUID: Node has those ready, which is faster where loads create millions of ids. */
function tenRandomBytes(): Uint8Array {
  const uuid = Buffer.from(randomUUID().replaceAll("-", ""), "hex");
  // Six bytes before the version, and four after the variant.
  return Uint8Array.of(...uuid.subarray(0, 6), ...uuid.subarray(10, 14));
}
