import { formatError } from "../../api.ts";

/** The message of an error, which is shown at the field that it names, or below the form. */
export interface FormError<Name extends string> {
  field: Name | null;
  message: string;
}

/**
 * Reads which field of a form an error of the service is about: `token: … does not accept it` is about the field `token`.
 *
 * @returns `null` without an error
 */
export function readFieldError<Name extends string>(error: unknown, fields: readonly Name[]): FormError<Name> | null {
  if (error === null || error === undefined) return null;
  const text = formatError(error);
  const field = fields.find((name) => text.startsWith(`${name}: `)) ?? null;
  if (field === null) return { field, message: text };
  const message = text.slice(field.length + 2);
  // A message can begin with the name of a host, which stays as it is.
  return { field, message: message.replace(/^[a-z]+(?= )/, (word) => word.charAt(0).toUpperCase() + word.slice(1)) };
}
