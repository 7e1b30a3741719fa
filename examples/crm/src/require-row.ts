import { TRPCError } from "@trpc/server";

/** @throws {TRPCError} NOT_FOUND when the row is null */
export function requireRow<T>(row: T | null, name: string): T {
  if (row === null) throw new TRPCError({ code: "NOT_FOUND", message: `${name} not found` });
  return row;
}
