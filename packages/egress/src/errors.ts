/** The address of a connection is not public. The text never names the address, because subscribers see it. */
export class AddressRefusedError extends Error {
  override name = "AddressRefusedError";
  constructor() {
    super("the host is, or resolves to, an address that is not public");
  }
}

/** The egress proxy failed. This says nothing about the host behind it. */
export class EgressProxyError extends Error {
  override name = "EgressProxyError";
}
