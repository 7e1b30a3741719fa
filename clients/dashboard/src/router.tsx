import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Link,
  Outlet,
  redirect,
  useLocation,
} from "@tanstack/react-router";
import { readAuthorizationUrl } from "./after-sign-in.ts";
import { getSession } from "./api.ts";
import { roleQuery } from "./organization.ts";
import { organizationsQuery } from "./organizations-query.ts";
import { AppsPage } from "./pages/apps/apps.tsx";
import { OverviewPage } from "./pages/overview/overview.tsx";
import { SignInPage } from "./pages/sign-in.tsx";
import { SignUpPage } from "./pages/sign-up.tsx";
import { queryClient } from "./query-client.ts";
import { sessionQuery } from "./session-query.ts";
import { signInOptionsQuery } from "./sign-in-options-query.ts";
import { Button } from "./ui/button.tsx";
import { CardPage } from "./ui/card-page.tsx";
import { Loading } from "./ui/loading.tsx";
import { ErrorNotice } from "./ui/notice.tsx";
import { PageLayout } from "./ui/page-layout.tsx";

/** Each page reads its own query parameters. The router only keeps them when the user changes between sign-in and sign-up. */
type Search = Record<string, unknown>;
const validateSearch = (search: Search): Search => search;

const root = createRootRoute({
  component: Outlet,
  notFoundComponent: NotFound,
  errorComponent: PageError,
  validateSearch,
});

/** Redirects a user without a session to sign in, or to sign up if this is the first run. */
async function requireSession({ location: { href } }: { location: { href: string } }): Promise<void> {
  // A session that has ended since is noticed by the next call.
  const session = queryClient.getQueryData(sessionQuery.queryKey) ?? (await queryClient.fetchQuery(sessionQuery));
  if (session !== null) return;
  const { first_run: firstRun } = await queryClient.ensureQueryData(signInOptionsQuery);
  redirect({ to: firstRun ? "/sign-up" : "/sign-in", search: { next: href }, throw: true });
}

interface PageLocation {
  location: { href: string; pathname: string };
  search: Search;
}

/**
 * Adds an organization to the URL of a page without one: the last that the user selected, else the first. Loads what the
 * header shows, so that it does not change after the page is shown.
 */
async function requireOrganization({ location, search }: PageLocation): Promise<void> {
  await requireSession({ location });
  const organizations = await queryClient.ensureQueryData({ ...organizationsQuery, revalidateIfStale: true });
  const { org } = search;
  if (typeof org === "string") {
    const isMember = organizations.some(({ id }) => id === org);
    if (isMember) await queryClient.ensureQueryData({ ...roleQuery(org), revalidateIfStale: true });
    return;
  }
  const activeId = queryClient.getQueryData(sessionQuery.queryKey)?.session.activeOrganizationId;
  const selected = organizations.find(({ id }) => id === activeId) ?? organizations[0];
  if (selected === undefined) return;
  redirect({ to: location.pathname, search: { ...search, org: selected.id }, replace: true, throw: true });
}

const layout = createRoute({
  getParentRoute: () => root,
  id: "layout",
  beforeLoad: requireOrganization,
  component: function LayoutRoute() {
    const { org: loaded } = layout.useSearch();
    // Changes with the URL: while another organization loads, nobody should act in the previous one.
    const { org = loaded } = useLocation().search;
    return <PageLayout organizationId={typeof org === "string" ? org : undefined} />;
  },
});

type LazyPage = ReturnType<typeof lazyRouteComponent<Record<string, () => React.ReactNode>, string>>;

/** Loads the file of a page when the page is opened for the first time. */
const page = <Name extends string>(load: () => Promise<Record<Name, () => React.ReactNode>>, name: Name) =>
  lazyRouteComponent(load, name as never) as LazyPage;

const layoutPage = (path: string, component: LazyPage) =>
  createRoute({ getParentRoute: () => layout, path, component });

const app = layoutPage(
  "/apps/$id",
  page(() => import("./pages/apps/app.tsx"), "AppPage"),
);

const appTab = (path: string, component: LazyPage) => createRoute({ getParentRoute: () => app, path, component });

const appTabs = app.addChildren([
  appTab(
    "/",
    page(() => import("./pages/apps/app-overview.tsx"), "AppOverview"),
  ),
  appTab(
    "/deployments",
    page(() => import("./pages/apps/deployments.tsx"), "DeploymentsTab"),
  ),
  appTab(
    "/deployments/$number",
    page(() => import("./pages/apps/deployment.tsx"), "DeploymentTab"),
  ),
  appTab(
    "/environments",
    page(() => import("./pages/apps/environments.tsx"), "EnvironmentsTab"),
  ),
  appTab(
    "/logs",
    page(() => import("./pages/apps/logs.tsx"), "LogsTab"),
  ),
  appTab(
    "/procedures",
    page(() => import("./pages/apps/procedures.tsx"), "ProceduresTab"),
  ),
  appTab(
    "/variables",
    page(() => import("./pages/apps/variables.tsx"), "VariablesTab"),
  ),
  appTab(
    "/storage",
    page(() => import("./pages/apps/storage.tsx"), "StorageTab"),
  ),
  appTab(
    "/settings",
    page(() => import("./pages/apps/app-settings.tsx"), "AppSettings"),
  ),
]);

async function loadSignInOptions(): Promise<void> {
  await queryClient.ensureQueryData(signInOptionsQuery);
}

/** A user who signed in in another tab meanwhile continues with the request of the client. */
async function continueIfSignedIn(): Promise<void> {
  await loadSignInOptions();
  const authorizationUrl = readAuthorizationUrl();
  if (authorizationUrl === null || (await getSession()) === null) return;
  redirect({ href: authorizationUrl, throw: true, reloadDocument: true });
}

const signIn = createRoute({
  getParentRoute: () => root,
  path: "/sign-in",
  beforeLoad: continueIfSignedIn,
  component: SignInPage,
});

const signUp = createRoute({
  getParentRoute: () => root,
  path: "/sign-up",
  beforeLoad: loadSignInOptions,
  component: SignUpPage,
});

const device = createRoute({
  getParentRoute: () => root,
  path: "/device",
  beforeLoad: requireSession,
  component: page(() => import("./pages/device.tsx"), "DevicePage"),
});

const invitation = createRoute({
  getParentRoute: () => root,
  path: "/invitations/$id",
  component: page(() => import("./pages/invitation.tsx"), "InvitationPage"),
});

const consent = createRoute({
  getParentRoute: () => root,
  path: "/consent",
  component: page(() => import("./pages/consent.tsx"), "ConsentPage"),
});

const PAGES = [
  // Most visits begin with these two. On a slow network, a file of their own would take another half a second.
  ["/", OverviewPage],
  ["/apps", AppsPage],
  ["/apps/new", page(() => import("./pages/apps/new-app.tsx"), "NewAppPage")],
  ["/agents", page(() => import("./pages/agents/agents.tsx"), "AgentsPage")],
  ["/agents/$id", page(() => import("./pages/agents/agent.tsx"), "AgentPage")],
  ["/sessions/$id", page(() => import("./pages/agents/transcript.tsx"), "TranscriptPage")],
  ["/projects", page(() => import("./pages/projects/projects.tsx"), "ProjectsPage")],
  ["/projects/$id", page(() => import("./pages/projects/project.tsx"), "ProjectPage")],
  ["/skills", page(() => import("./pages/skills/skills.tsx"), "SkillsPage")],
  ["/skills/$name", page(() => import("./pages/skills/skill.tsx"), "SkillPage")],
  [
    "/projects/$id/documents/$documentId",
    page(() => import("./pages/projects/project-document.tsx"), "ProjectDocumentPage"),
  ],
  ["/knowledge", page(() => import("./pages/knowledge/knowledge.tsx"), "KnowledgePage")],
  ["/knowledge/$id", page(() => import("./pages/knowledge/document.tsx"), "DocumentPage")],
  ["/usage", page(() => import("./pages/usage/usage.tsx"), "UsagePage")],
  ["/connect", page(() => import("./pages/connect/connect.tsx"), "ConnectPage")],
  ["/settings/tokens", page(() => import("./pages/settings/tokens.tsx"), "TokensPage")],
  ["/settings/git-connections", page(() => import("./pages/settings/git-connections.tsx"), "GitConnectionsPage")],
  ["/settings/members", page(() => import("./pages/settings/members.tsx"), "MembersPage")],
  ["/settings/organization", page(() => import("./pages/settings/organization.tsx"), "OrganizationPage")],
  ["/settings/audit", page(() => import("./pages/settings/audit.tsx"), "AuditPage")],
  ["/settings/account", page(() => import("./pages/settings/account.tsx"), "AccountPage")],
] as const;

const routes = root.addChildren([
  signIn,
  signUp,
  consent,
  invitation,
  device,
  layout.addChildren([appTabs, ...PAGES.map(([path, component]) => layoutPage(path, component))]),
]);

export const router = createRouter({
  routeTree: routes,
  defaultPreload: "intent",
  defaultPendingComponent: PendingPage,
});

function PendingPage() {
  return (
    <main className="mx-auto max-w-5xl px-4 py-8">
      <Loading />
    </main>
  );
}

function NotFound() {
  return (
    <CardPage title="Page not found">
      <StartPageLink />
    </CardPage>
  );
}

function PageError({ error }: { error: unknown }) {
  return (
    <CardPage title="Something went wrong">
      <ErrorNotice error={error} />
      <div className="flex flex-wrap items-center gap-4">
        <Button onClick={() => void router.invalidate()}>Try again</Button>
        <StartPageLink />
      </div>
    </CardPage>
  );
}

function StartPageLink() {
  return (
    <Link to="/" className="font-medium underline">
      Go to the start page
    </Link>
  );
}
