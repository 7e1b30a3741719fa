import type { ReactNode } from "react";
import { formatError } from "../api.ts";

const VARIANTS = {
  success: "border-green-300 bg-green-50 text-green-900 dark:border-green-800 dark:bg-green-950 dark:text-green-100",
  plain: "border-zinc-300 bg-zinc-100 dark:border-zinc-700 dark:bg-zinc-900",
} as const;

/** A status message. Screen readers read it when it appears. */
export function Notice({ variant = "plain", children }: { variant?: keyof typeof VARIANTS; children: ReactNode }) {
  return (
    <div role="status" className={`rounded-md border px-4 py-3 text-sm ${VARIANTS[variant]}`}>
      {children}
    </div>
  );
}

/** The message of an error; nothing without an error. */
export function ErrorNotice({ error }: { error: unknown }) {
  return error === null || error === undefined ? null : <Alert>{formatError(error)}</Alert>;
}

/** A message that interrupts the user. Screen readers read it at once. */
export function Alert({ children }: { children: string }) {
  return (
    <div
      role="alert"
      className="rounded-md border border-red-300 bg-red-50 px-4 py-3 text-sm text-red-900 dark:border-red-800 dark:bg-red-950 dark:text-red-100"
    >
      {children}
    </div>
  );
}
