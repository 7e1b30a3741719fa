import { readFileSync } from "node:fs";
import path from "node:path";

/** The rules of `_routes.json`, such as `/api/*`: which requests the script gets. The others get static files. */
export interface PagesRoutes {
  include: string[];
  exclude: string[];
}

export const ALL_REQUESTS: PagesRoutes = { include: ["/*"], exclude: [] };

const MAIN_MODULE = "__pages.js";
const ROUTES_MODULE = "__pages_routes.js";

/**
 * Returns the modules that apply the rules to the script of a Pages project. The rules of the edge platform's own static
 * routing differ: there a request without rule and static file goes to the script.
 */
export function pagesModules(
  script: string,
  routes: PagesRoutes,
): { mainModule: string; modules: { name: string; source: string }[] } {
  const original = JSON.stringify(`./${script}`);
  const main = `import worker from ${original};
import { routeRequests } from "./${ROUTES_MODULE}";
export * from ${original};
export default routeRequests(worker, ${JSON.stringify(routes)});
`;
  const functions = readFileSync(path.join(import.meta.dirname, "pages-routes.mjs"), "utf8");
  return {
    mainModule: MAIN_MODULE,
    modules: [
      { name: MAIN_MODULE, source: main },
      { name: ROUTES_MODULE, source: functions },
    ],
  };
}
