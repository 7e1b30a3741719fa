/** Makes plain data unchangeable, all through, so that it can be handed to many. */
export function frozen<T>(data: T): T {
  if (typeof data !== "object" || data === null) return data;
  for (const part of Object.values(data)) frozen(part);
  return Object.freeze(data);
}
