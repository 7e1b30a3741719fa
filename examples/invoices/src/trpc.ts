import { initTRPC, TRPCError } from "@trpc/server";

export interface Context {
  db: D1Database;
  /** Whether the caller has shown the app's token. */
  trusted: boolean;
}

/** What agents are told about a procedure. */
export interface Meta {
  description: string;
}

const t = initTRPC.context<Context>().meta<Meta>().create({
  // Else tRPC, which finds no NODE_ENV here, sends stack traces to callers.
  isDev: false,
});

export const router = t.router;

/** Reading is open to everyone. */
export const query = t.procedure;

/** Changing something takes the app's token. */
export const mutation = t.procedure.use(({ ctx, next }) => {
  if (!ctx.trusted) throw new TRPCError({ code: "UNAUTHORIZED", message: "This needs the app's token" });
  return next();
});
