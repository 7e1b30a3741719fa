import { ChevronsUpDown, CircleUser } from "lucide-react";
import type { ButtonHTMLAttributes } from "react";
import type { Organization } from "../organizations-query.ts";

const CLASS =
  "flex min-h-9 w-full min-w-0 items-center gap-2 rounded-md px-2 text-left hover:bg-hover pointer-coarse:min-h-10";

type ButtonProps = ButtonHTMLAttributes<HTMLButtonElement>;

/** Opens the menu of organizations. */
export function OrganizationButton({
  organization,
  ...rest
}: ButtonProps & { organization: Organization | undefined }) {
  const name = organization?.name ?? "Select an organization";
  return (
    <button type="button" aria-haspopup="menu" data-organization={organization?.id} {...rest} className={CLASS}>
      <span
        aria-hidden
        className="flex size-5 shrink-0 items-center justify-center rounded bg-accent text-xs font-semibold text-white"
      >
        {name.slice(0, String.fromCodePoint(name.codePointAt(0) ?? 32).length).toUpperCase()}
      </span>
      <span className="sr-only">Organization: </span>
      <span className="truncate font-medium">{name}</span>
      <ChevronsUpDown aria-hidden className="ml-auto size-3.5 shrink-0 text-muted" />
    </button>
  );
}

/** Opens the menu of the user. */
export function UserButton({ user, ...rest }: ButtonProps & { user: { name: string; email: string } | undefined }) {
  return (
    <button type="button" aria-haspopup="menu" {...rest} className={CLASS}>
      <CircleUser aria-hidden className="size-4 shrink-0 text-muted" />
      <span className="truncate">{user?.name === "" ? user.email : (user?.name ?? "User")}</span>
    </button>
  );
}
