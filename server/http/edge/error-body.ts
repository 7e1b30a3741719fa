export const NO_APP = "There is no app at this address.";
export const INVALID_APP_TOKEN = "The app token is not valid for this app.";
export const INVALID_TOKEN_HEADERS = { "www-authenticate": 'Bearer error="invalid_token"' };

/**
 * The body of a response that an edge platform sends in place of an app: `{"error": "..."}`, or a page for a browser.
 *
 * @param message - a text of the edge platform, without text of clients or apps
 * @param accept - the `Accept` header of the request
 */
export function edgeErrorBody(message: string, accept: string | undefined): { contentType: string; body: string } {
  if (accept?.includes("text/html") !== true)
    return { contentType: "application/json", body: JSON.stringify({ error: message }) };
  const head = '<meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Not available</title>';
  const body = `<!doctype html><html lang="en"><head>${head}</head><body><p>${message}</p></body></html>\n`;
  return { contentType: "text/html; charset=utf-8", body };
}
