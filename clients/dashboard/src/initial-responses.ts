/** As long as queries keep what they have read. In milliseconds. */
const MAX_AGE_MS = 5_000;

const loadedAt = performance.now();
/** Responses of the identity provider that the service sent with the page, by their paths below `/api/auth`. */
const responses = new Map(
  Object.entries(
    JSON.parse(document.querySelector("#initial-responses")?.textContent ?? "{}") as Record<string, unknown>,
  ),
);

/** Returns a response that came with the page; `undefined` if there is none. Each is used once, by the first page. */
export function takeInitialResponse(path: string): unknown {
  if (performance.now() - loadedAt > MAX_AGE_MS) discardInitialResponses();
  const response = responses.get(path);
  responses.delete(path);
  return response;
}

/** Call this before a request that changes something, such as the memberships of the user. */
export function discardInitialResponses(): void {
  responses.clear();
}
