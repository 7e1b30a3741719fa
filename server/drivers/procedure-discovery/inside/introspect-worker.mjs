// Runs in a temporary workerd process beside the code of the app. Responds at two paths with the procedures of a tRPC router,
// and passes every other request on to the app.
import { createReport } from "./introspect.mjs";

/**
 * @param {Record<string, unknown>} app the namespace of the app's main module
 * @param {object} options those of `createReport`, and:
 * @param {{ exported: string, used: string }} options.paths the paths of the reports
 */
export function createIntrospection(app, { paths, ...options }) {
  return {
    async fetch(request, env, context) {
      const { pathname } = new URL(request.url);
      const finders = {
        [paths.exported]: () => findExportedRouter(app),
        [paths.used]: globalThis.__serviceFindCreatedRouter,
      };
      if (Object.hasOwn(finders, pathname)) return Response.json(await createReport(finders[pathname](), options));
      return forwardToApp(app.default, request, env, context);
    },
  };
}

function forwardToApp(entry, request, env, context) {
  if (typeof entry === "function") return new entry(context, env).fetch(request);
  if (typeof entry?.fetch === "function") return entry.fetch(request, env, context);
  return new Response(null, { status: 404 });
}

/** Prefers the export `appRouter`, which is the convention, to the first router among the other exports. */
function findExportedRouter(app) {
  for (const name of ["appRouter", ...Object.keys(app)]) {
    try {
      const candidate = app[name];
      if (candidate?._def?.router === true && candidate._def.procedures) return candidate;
    } catch {
      // An export whose getters throw is not a router.
    }
  }
  return null;
}
