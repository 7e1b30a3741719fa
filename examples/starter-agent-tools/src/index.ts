import { fetchRequestHandler } from "@trpc/server/adapters/fetch";
import { appRouter } from "./router.ts";

// The platform finds the app's procedures through this export and offers them to agents.
export { appRouter };

export default {
  fetch(request: Request, env: { DB: D1Database }): Response | Promise<Response> {
    if (!new URL(request.url).pathname.startsWith("/trpc")) {
      return new Response("The procedures are at /trpc.\n");
    }
    return fetchRequestHandler({
      endpoint: "/trpc",
      req: request,
      router: appRouter,
      // The platform's edge proxy sets this header when the app token is valid, and removes it from all other requests.
      createContext: () => ({ db: env.DB, trusted: request.headers.get("x-service-auth") === "app" }),
    });
  },
};
