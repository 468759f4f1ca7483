/** The address a connection would go to is not public. Its text never names the address: subscribers see it. */
export class AddressRefusedError extends Error {
  override name = "AddressRefusedError";
  constructor() {
    super("the host is, or resolves to, an address that is not public");
  }
}

/** The egress proxy did not do its part: nothing was learned about the host behind it, which is not to be blamed. */
export class EgressProxyError extends Error {
  override name = "EgressProxyError";
}
