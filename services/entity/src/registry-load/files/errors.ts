/** A registry file that must not be loaded; its message says why, for the operator who supplied the file. */
export class RegistryFileError extends Error {
  override readonly name = "RegistryFileError";
}
