import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Outlet } from "@tanstack/react-router";
import { getSession, clearAccessToken, callIdentity } from "../api.ts";
import { organizationsQuery } from "../organizations-query.ts";
import { Button } from "./button.tsx";
import { CreateOrganizationForm } from "./create-organization-form.tsx";
import { useTitle } from "./card-page.tsx";
import { ErrorNotice } from "./notice.tsx";

const NAVIGATION = [
  ["/", "Apps"],
  ["/settings/tokens", "Tokens"],
  ["/settings/members", "Members"],
  ["/settings/audit", "Audit log"],
  ["/settings/account", "Account"],
] as const;

const LINK_CLASS =
  "rounded-md px-3 py-2 text-sm hover:bg-zinc-200 aria-[current=page]:bg-zinc-200 aria-[current=page]:font-medium dark:hover:bg-zinc-800 dark:aria-[current=page]:bg-zinc-800";

/** The header and navigation around every page of a signed-in user. */
export function PageLayout() {
  const organizations = useQuery(organizationsQuery);
  return (
    <>
      <a href="#content" className="sr-only focus:not-sr-only focus:absolute focus:p-3">
        Skip to content
      </a>
      <header className="border-b border-zinc-200 bg-white dark:border-zinc-800 dark:bg-zinc-900">
        <div className="mx-auto flex max-w-5xl flex-wrap items-center gap-x-6 gap-y-2 px-4 py-3">
          <span className="font-semibold">App Provisioning Service</span>
          <nav aria-label="Pages" className="flex flex-wrap gap-1">
            {NAVIGATION.map(([to, label]) => (
              <a key={to} href={to} className={LINK_CLASS} aria-current={location.pathname === to ? "page" : undefined}>
                {label}
              </a>
            ))}
          </nav>
          <div className="ml-auto flex items-center gap-2">
            <OrganizationPicker />
            <SignOut />
          </div>
        </div>
      </header>
      <main id="content" className="mx-auto max-w-5xl space-y-6 px-4 py-8">
        <ErrorNotice error={organizations.error} />
        {organizations.data?.length === 0 ? <CreateOrganizationForm first /> : organizations.data && <Outlet />}
      </main>
    </>
  );
}

/** The heading of a page, and the title of the browser window. */
export function PageTitle({ children }: { children: string }) {
  useTitle(children);
  return <h1 className="text-2xl font-semibold tracking-tight">{children}</h1>;
}

function OrganizationPicker() {
  const client = useQueryClient();
  const organizations = useQuery(organizationsQuery);
  const session = useQuery({ queryKey: ["session"], queryFn: getSession });
  const setActive = useMutation({
    mutationFn: (organizationId: string) => callIdentity("/organization/set-active", { organizationId }),
    onSuccess: async () => {
      clearAccessToken();
      await client.resetQueries();
    },
  });
  if (organizations.data === undefined || organizations.data.length < 2)
    return <span className="text-sm">{organizations.data?.[0]?.name}</span>;
  const active = session.data?.session.activeOrganizationId ?? organizations.data[0]?.id;
  return (
    <select
      aria-label="Organization"
      className="min-h-10 rounded-md border border-zinc-400 bg-white px-2 text-sm dark:border-zinc-600 dark:bg-zinc-900"
      value={active}
      onChange={(event) => setActive.mutate(event.currentTarget.value)}
    >
      {organizations.data.map(({ id, name }) => (
        <option key={id} value={id}>
          {name}
        </option>
      ))}
    </select>
  );
}

function SignOut() {
  const signOut = useMutation({
    mutationFn: () => callIdentity("/sign-out", {}),
    onSettled: () => {
      clearAccessToken();
      location.assign("/sign-in");
    },
  });
  return (
    <Button busy={signOut.isPending} onClick={() => signOut.mutate()}>
      Sign out
    </Button>
  );
}
