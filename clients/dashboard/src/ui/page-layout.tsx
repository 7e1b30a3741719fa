import { useMutation, useQuery, type UseQueryResult } from "@tanstack/react-query";
import { Link, Outlet, useLocation } from "@tanstack/react-router";
import { reachesRole, type Role } from "../../../../domain/shared/roles.ts";
import { callIdentity, getApi } from "../api.ts";
import { OrganizationContext, roleQuery } from "../organization.ts";
import { type Organization, organizationsQuery } from "../organizations-query.ts";
import { Button } from "./button.tsx";
import { CreateOrganizationForm } from "./create-organization-form.tsx";
import { useTitle } from "./card-page.tsx";
import { Notice } from "./notice.tsx";
import { OrganizationPicker } from "./organization-picker.tsx";
import { QueryContent } from "./query-content.tsx";
import { RoleHint } from "./require-role.tsx";

/** Path, label, and the role that the page requires. */
const NAVIGATION = [
  ["/", "Apps", "member"],
  ["/agents", "Agents", "member"],
  ["/knowledge", "Knowledge", "member"],
  ["/projects", "Projects", "member"],
  ["/settings/tokens", "Tokens", "member"],
  ["/settings/members", "Members", "member"],
  ["/settings/organization", "Organization", "member"],
  ["/settings/audit", "Audit log", "owner"],
  ["/settings/account", "Account", "member"],
] as const;

const LINK_CLASS =
  "rounded-md px-2 py-2 sm:px-3 text-sm hover:bg-zinc-200 aria-[current=page]:bg-zinc-200 aria-[current=page]:font-medium dark:hover:bg-zinc-800 dark:aria-[current=page]:bg-zinc-800";

/**
 * The header and navigation around every page of a signed-in user.
 *
 * @param props.organizationId - the organization that the URL names
 */
export function PageLayout({ organizationId }: { organizationId: string | undefined }) {
  const organizations = useQuery(organizationsQuery);
  const selected = organizations.data?.find(({ id }) => id === organizationId);
  return (
    <>
      <a href="#content" className="sr-only focus:not-sr-only focus:absolute focus:p-3">
        Skip to content
      </a>
      <header className="border-b border-zinc-200 bg-white dark:border-zinc-800 dark:bg-zinc-900">
        <div className="mx-auto flex max-w-5xl flex-wrap items-center gap-x-6 gap-y-2 px-4 py-3">
          <span className="font-semibold">App Provisioning Service</span>
          {selected === undefined ? null : <Navigation organization={selected} />}
          <div className="ml-auto flex min-w-0 items-center gap-2">
            <OrganizationPicker organizations={organizations.data ?? []} selected={selected} />
            <SignOut />
          </div>
        </div>
      </header>
      <main id="content" tabIndex={-1} className="mx-auto max-w-5xl space-y-6 px-4 py-8">
        <QueryContent query={untilLoaded(organizations)}>
          {(data) => <Content organizations={data} selected={selected} />}
        </QueryContent>
      </main>
    </>
  );
}

function Content({ organizations, selected }: { organizations: Organization[]; selected: Organization | undefined }) {
  if (organizations.length === 0) return <CreateOrganizationForm first />;
  if (selected === undefined)
    return <Notice>You are not a member of the organization of this page. Select another organization.</Notice>;
  // The key discards what the page has shown of another organization, such as a new token.
  return <OrganizationPage key={selected.id} organization={selected} />;
}

function OrganizationPage({ organization }: { organization: Organization }) {
  const { id } = organization;
  return (
    <QueryContent query={untilLoaded(useQuery(roleQuery(id)))}>
      {(role) => (
        <OrganizationContext value={{ ...organization, role, api: getApi(id) }}>
          <PermittedPage role={role} />
        </OrganizationContext>
      )}
    </QueryContent>
  );
}

/** Leaves out the error of a later refresh: the page below shows the errors of its own calls. */
function untilLoaded<Data>(query: UseQueryResult<Data>) {
  const { data, error, isFetching, refetch } = query;
  return { data, error: data === undefined ? error : null, isFetching, refetch };
}

/** The page, if the role of the user permits it. The navigation has no link to any other page. */
function PermittedPage({ role }: { role: Role }) {
  const { pathname } = useLocation();
  const [, label, required] = NAVIGATION.find(([path]) => path === pathname) ?? [null, "", "member"];
  if (reachesRole(role, required)) return <Outlet />;
  return (
    <>
      <PageTitle>{label}</PageTitle>
      <RoleHint role={required} to="see this page" />
    </>
  );
}

function Navigation({ organization }: { organization: Organization }) {
  const { data: role = "member" } = useQuery(roleQuery(organization.id));
  return (
    <nav aria-label="Pages" className="flex flex-wrap gap-1 max-sm:-mx-2">
      {NAVIGATION.filter(([, , required]) => reachesRole(role, required)).map(([to, label]) => (
        <Link
          key={to}
          to={to}
          search={{ org: organization.id }}
          className={LINK_CLASS}
          activeOptions={{ exact: true, includeSearch: false }}
        >
          {label}
        </Link>
      ))}
    </nav>
  );
}

/** The heading of a page, and the title of the browser window. */
export function PageTitle({ children }: { children: string }) {
  useTitle(children);
  return <h1 className="text-2xl font-semibold tracking-tight">{children}</h1>;
}

function SignOut() {
  const signOut = useMutation({
    mutationFn: () => callIdentity("/sign-out", {}),
    // Loads the document again, so that nothing of the user stays in its memory.
    onSettled: () => location.assign("/sign-in"),
  });
  return (
    <Button busy={signOut.isPending} onClick={() => signOut.mutate()}>
      Sign out
    </Button>
  );
}
