import type { ButtonHTMLAttributes, ReactNode } from "react";

const VARIANTS = {
  primary: "bg-accent text-white hover:bg-accent-strong",
  plain: "border border-line-strong bg-surface hover:bg-hover",
  quiet: "text-muted hover:bg-hover hover:text-ink",
  danger: "border border-danger/40 text-danger hover:bg-danger-soft",
} as const;

export type ButtonVariant = keyof typeof VARIANTS;

/** The classes of a button, for a link that looks like one. */
export function buttonClass(variant: ButtonVariant = "plain"): string {
  return `inline-flex min-h-8 shrink-0 items-center justify-center gap-1.5 rounded-md px-3 text-sm font-medium whitespace-nowrap pointer-coarse:min-h-10 disabled:opacity-60 aria-disabled:opacity-60 ${VARIANTS[variant]}`;
}

interface ButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  variant?: ButtonVariant;
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
      className={`${buttonClass(variant)} ${className}`}
    />
  );
}
