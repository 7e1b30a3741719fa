const RESERVED = /[.@](invalid|localdomain)$/i;

/** Whether nobody can have the address: the service gives such ones to placeholders and to people of other providers. */
export function isReservedEmail(email: string): boolean {
  return RESERVED.test(email);
}
