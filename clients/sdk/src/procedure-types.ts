import type { Procedures } from "./generated/procedures.ts";

type Call = (input: never, ...options: never[]) => Promise<unknown>;

/** The input of a procedure: `Input<"apps", "deploy">`. */
export type Input<N extends keyof Procedures, P extends keyof Procedures[N]> = Procedures[N][P] extends Call
  ? NonNullable<Parameters<Procedures[N][P]>[0]>
  : never;

/** The output of a procedure: `Output<"apps", "get">`. */
export type Output<N extends keyof Procedures, P extends keyof Procedures[N]> = Procedures[N][P] extends Call
  ? Awaited<ReturnType<Procedures[N][P]>>
  : never;
