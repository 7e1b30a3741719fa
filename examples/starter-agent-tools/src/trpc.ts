import { initTRPC, TRPCError } from "@trpc/server";

export interface Context {
  db: D1Database;
  /** Whether the request has a valid app token. */
  trusted: boolean;
}

/** The metadata of a procedure, which agents see. */
export interface Meta {
  description: string;
}

const t = initTRPC.context<Context>().meta<Meta>().create({
  // Without NODE_ENV, which is not set here, tRPC would send stack traces to callers.
  isDev: false,
});

export const router = t.router;

/** Queries need no token. */
export const query = t.procedure;

/** Mutations require the app's token. */
export const mutation = t.procedure.use(({ ctx, next }) => {
  if (!ctx.trusted) throw new TRPCError({ code: "UNAUTHORIZED", message: "App token required" });
  return next();
});
