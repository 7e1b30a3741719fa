const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Whether an argument is an id of the service, and not a name. */
export function isId(text: string): boolean {
  return UUID.test(text);
}
