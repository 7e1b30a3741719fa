import type { ButtonHTMLAttributes, ReactNode } from "react";

const VARIANTS = {
  primary: "bg-accent text-white hover:bg-accent-strong disabled:opacity-60 aria-disabled:opacity-60",
  plain:
    "border border-zinc-300 bg-white hover:bg-zinc-100 disabled:opacity-60 aria-disabled:opacity-60 dark:border-zinc-700 dark:bg-zinc-900 dark:hover:bg-zinc-800",
  danger:
    "border border-red-300 text-red-700 hover:bg-red-50 disabled:opacity-60 aria-disabled:opacity-60 dark:border-red-800 dark:text-red-300 dark:hover:bg-red-950",
} as const;

interface ButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  variant?: keyof typeof VARIANTS;
  /** Whether the action of the button is running. The button then keeps the focus, and ignores clicks. */
  busy?: boolean;
  children: ReactNode;
}

export function Button({
  variant = "plain",
  busy = false,
  type = "button",
  className = "",
  onClick,
  ...rest
}: ButtonProps) {
  return (
    <button
      {...rest}
      type={type}
      aria-busy={busy}
      // Not `disabled`: the browser takes the focus away from a disabled button.
      aria-disabled={busy || undefined}
      onClick={busy ? (event) => event.preventDefault() : onClick}
      className={`inline-flex min-h-10 items-center justify-center rounded-md px-4 text-sm font-medium ${VARIANTS[variant]} ${className}`}
    />
  );
}
