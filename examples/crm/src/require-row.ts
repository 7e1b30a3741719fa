import { TRPCError } from "@trpc/server";

/** @throws 404 when there is no such row */
export function found<T>(row: T | null, what: string): T {
  if (row === null) throw new TRPCError({ code: "NOT_FOUND", message: `There is no such ${what}` });
  return row;
}
