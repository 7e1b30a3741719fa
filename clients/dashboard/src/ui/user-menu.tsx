import { useMutation } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { callIdentity } from "../api.ts";
import { chooseTheme, readTheme, type Theme } from "../theme.ts";
import { Menu, MenuChoice, MenuItem, MenuLink, MenuSeparator } from "./menu.tsx";
import { UserButton } from "./side-bar-buttons.tsx";

const THEME_OPTIONS = [
  ["system", "Like the system"],
  ["light", "Light"],
  ["dark", "Dark"],
] as const satisfies readonly (readonly [Theme, string])[];

interface Props {
  user: { name: string; email: string } | undefined;
  organizationId: string | undefined;
}

/** The account of the user, the theme, and the way out. */
export function UserMenu({ user, organizationId }: Props) {
  const [theme, setTheme] = useState(readTheme);
  const signOut = useMutation({
    mutationFn: () => callIdentity("/sign-out", {}),
    // Loads the document again, so that nothing of the user stays in its memory.
    onSettled: () => location.assign("/sign-in"),
  });
  return (
    <Menu defaultOpen side="top" trigger={<UserButton user={user} />}>
      <p className="px-2 py-1 text-xs wrap-anywhere text-muted">{user?.email}</p>
      <MenuLink
        link={
          <Link to="/settings/account" search={{ org: organizationId }}>
            Your account
          </Link>
        }
      />
      <MenuSeparator />
      <MenuChoice
        label="Theme"
        value={theme}
        options={THEME_OPTIONS}
        onChange={(chosen) => {
          chooseTheme(chosen);
          setTheme(chosen);
        }}
      />
      <MenuSeparator />
      <MenuItem disabled={signOut.isPending} onClick={() => signOut.mutate()}>
        Sign out
      </MenuItem>
    </Menu>
  );
}
