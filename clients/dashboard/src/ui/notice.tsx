import type { ReactNode } from "react";
import { formatError } from "../api.ts";

const VARIANTS = {
  success: "border-success/40 bg-success-soft text-success",
  plain: "border-line-strong bg-sunken",
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
    <div role="alert" className="rounded-md border border-danger/40 bg-danger-soft px-4 py-3 text-sm text-danger">
      {children}
    </div>
  );
}
