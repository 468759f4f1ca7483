/** Refuses a registry file or load. Its message gives the operator the reason. */
export class RegistryFileError extends Error {
  override readonly name = "RegistryFileError";
}
