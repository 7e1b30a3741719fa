import { apps } from "./apps.ts";
import { audit } from "./audit.ts";
import { execution } from "./execution.ts";
import { procedures } from "./procedures.ts";
import { tokens } from "./tokens.ts";
import { createCallerFactory, router } from "./core/trpc.ts";
import { usage } from "./usage.ts";

export const appRouter = router({ apps, audit, execution, procedures, tokens, usage });

export type AppRouter = typeof appRouter;

/** Calls procedures in this process, with a context of the caller's choosing. */
export const createCaller = createCallerFactory(appRouter);
