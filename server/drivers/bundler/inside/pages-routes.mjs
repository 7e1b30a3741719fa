// Runs in the app. Sends each request of a Pages project to its script or to its static files.

/**
 * @param {{ fetch(request: Request, env: unknown, context: unknown): unknown }} worker
 * @param {{ include: string[], exclude: string[] }} routes - rules such as `/api/*`. An excluded path goes to the static
 *   files, also if it is included.
 */
export function routeRequests(worker, routes) {
  if (typeof worker?.fetch !== "function")
    throw new TypeError("The default export of the script has no fetch handler.");
  const include = routes.include.map(toPattern);
  const exclude = routes.exclude.map(toPattern);
  return {
    /** @param {Request} request @param {{ ASSETS: { fetch(request: Request): unknown } }} env @param {unknown} context */
    fetch(request, env, context) {
      const { pathname } = new URL(request.url);
      const isForScript =
        include.some((pattern) => pattern.test(pathname)) && !exclude.some((pattern) => pattern.test(pathname));
      return isForScript ? worker.fetch(request, env, context) : env.ASSETS.fetch(request);
    },
  };
}

/**
 * `/api/*` also matches `/api`, and a rule without `*` also matches with a slash at the end, as on Pages.
 *
 * @param {string} rule
 */
function toPattern(rule) {
  if (rule.endsWith("/*") && rule !== "/*") return new RegExp(`^${escape(rule.slice(0, -2))}(/.*)?$`);
  if (rule.endsWith("*") || rule === "/") return new RegExp(`^${escape(rule)}$`);
  return new RegExp(`^${escape(rule.replace(/\/$/, ""))}/?$`);
}

/** @param {string} rule */
function escape(rule) {
  return rule.replaceAll(/[\\^$+?.()|[\]{}]/g, String.raw`\$&`).replaceAll("*", ".*");
}
