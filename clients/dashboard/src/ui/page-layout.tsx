import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Outlet } from "@tanstack/react-router";
import { currentSession, forgetToken, identity } from "../api.ts";
import { organizations } from "../organizations-query.ts";
import { Button } from "./button.tsx";
import { NewOrganization } from "./create-organization-form.tsx";
import { useTitle } from "./card-page.tsx";
import { Problem } from "./notice.tsx";

const LINKS = [
  ["/", "Apps"],
  ["/settings/tokens", "Tokens"],
  ["/settings/members", "Members"],
  ["/settings/audit", "Audit log"],
  ["/settings/account", "Account"],
] as const;

const LINK =
  "rounded-md px-3 py-2 text-sm hover:bg-zinc-200 aria-[current=page]:bg-zinc-200 aria-[current=page]:font-medium dark:hover:bg-zinc-800 dark:aria-[current=page]:bg-zinc-800";

/** What every page inside has around it. */
export function Shell() {
  const mine = useQuery(organizations);
  return (
    <>
      <a href="#content" className="sr-only focus:not-sr-only focus:absolute focus:p-3">
        Skip to the content
      </a>
      <header className="border-b border-zinc-200 bg-white dark:border-zinc-800 dark:bg-zinc-900">
        <div className="mx-auto flex max-w-5xl flex-wrap items-center gap-x-6 gap-y-2 px-4 py-3">
          <span className="font-semibold">App Provisioning Service</span>
          <nav aria-label="Pages" className="flex flex-wrap gap-1">
            {LINKS.map(([to, label]) => (
              <a key={to} href={to} className={LINK} aria-current={location.pathname === to ? "page" : undefined}>
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
        <Problem error={mine.error} />
        {mine.data?.length === 0 ? <NewOrganization first /> : mine.data && <Outlet />}
      </main>
    </>
  );
}

/** The title of a page inside. */
export function PageTitle({ children }: { children: string }) {
  useTitle(children);
  return <h1 className="text-2xl font-semibold tracking-tight">{children}</h1>;
}

function OrganizationPicker() {
  const client = useQueryClient();
  const mine = useQuery(organizations);
  const session = useQuery({ queryKey: ["session"], queryFn: currentSession });
  const choose = useMutation({
    mutationFn: (organizationId: string) => identity("/organization/set-active", { organizationId }),
    onSuccess: async () => {
      forgetToken();
      await client.resetQueries();
    },
  });
  if (mine.data === undefined || mine.data.length < 2) return <span className="text-sm">{mine.data?.[0]?.name}</span>;
  const active = session.data?.session.activeOrganizationId ?? mine.data[0]?.id;
  return (
    <select
      aria-label="Organization"
      className="min-h-10 rounded-md border border-zinc-400 bg-white px-2 text-sm dark:border-zinc-600 dark:bg-zinc-900"
      value={active}
      onChange={(event) => choose.mutate(event.currentTarget.value)}
    >
      {mine.data.map(({ id, name }) => (
        <option key={id} value={id}>
          {name}
        </option>
      ))}
    </select>
  );
}

function SignOut() {
  const signOut = useMutation({
    mutationFn: () => identity("/sign-out", {}),
    onSettled: () => {
      forgetToken();
      location.assign("/sign-in");
    },
  });
  return (
    <Button busy={signOut.isPending} onClick={() => signOut.mutate()}>
      Sign out
    </Button>
  );
}
