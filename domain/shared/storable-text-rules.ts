import { ServiceError } from "./errors.ts";

/** @throws {ServiceError} `invalid` for a text that the database cannot store */
export function checkStorableText(field: string, text: string): void {
  if (text.isWellFormed() && !text.includes("\0")) return;
  throw new ServiceError(
    "invalid",
    `${field}: must be Unicode text without NUL characters and without unpaired surrogates.`,
  );
}
