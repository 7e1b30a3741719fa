import {
  createRootRoute,
  createRoute,
  createRouter,
  Link,
  Outlet,
  redirect,
  useLocation,
} from "@tanstack/react-router";
import { readAuthorizationUrl } from "./after-sign-in.ts";
import { getSession } from "./api.ts";
import { roleQuery } from "./organization.ts";
import { organizationsQuery } from "./organizations-query.ts";
import { AgentPage } from "./pages/agents/agent.tsx";
import { AgentsPage } from "./pages/agents/agents.tsx";
import { TranscriptPage } from "./pages/agents/transcript.tsx";
import { DocumentPage } from "./pages/knowledge/document.tsx";
import { KnowledgePage } from "./pages/knowledge/knowledge.tsx";
import { BuildLogPage } from "./pages/build-log.tsx";
import { AppsPage } from "./pages/apps.tsx";
import { ConsentPage } from "./pages/consent.tsx";
import { DevicePage } from "./pages/device.tsx";
import { InvitationPage } from "./pages/invitation.tsx";
import { ProjectPage } from "./pages/projects/project.tsx";
import { ProjectsPage } from "./pages/projects/projects.tsx";
import { AccountPage } from "./pages/settings/account.tsx";
import { AuditPage } from "./pages/settings/audit.tsx";
import { MembersPage } from "./pages/settings/members.tsx";
import { OrganizationPage } from "./pages/settings/organization.tsx";
import { TokensPage } from "./pages/settings/tokens.tsx";
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

const layoutPage = (path: string, component: () => React.JSX.Element) =>
  createRoute({ getParentRoute: () => layout, path, component });

const buildLog = createRoute({
  getParentRoute: () => layout,
  path: "/apps/$id/logs",
  component: function BuildLogRoute() {
    return <BuildLogPage appId={buildLog.useParams().id} />;
  },
});

const agent = createRoute({
  getParentRoute: () => layout,
  path: "/agents/$id",
  component: function AgentRoute() {
    return <AgentPage agentId={agent.useParams().id} />;
  },
});

const project = createRoute({
  getParentRoute: () => layout,
  path: "/projects/$id",
  component: function ProjectRoute() {
    return <ProjectPage projectId={project.useParams().id} />;
  },
});

const transcript = createRoute({
  getParentRoute: () => layout,
  path: "/sessions/$id",
  component: function TranscriptRoute() {
    const { server, entry } = transcript.useSearch();
    const serverId = typeof server === "string" ? server : undefined;
    const lastEntry = typeof entry === "number" && Number.isSafeInteger(entry) && entry > 0 ? entry : null;
    return <TranscriptPage sessionId={transcript.useParams().id} serverId={serverId} lastEntry={lastEntry} />;
  },
});

const knowledgeDocument = createRoute({
  getParentRoute: () => layout,
  path: "/knowledge/$id",
  component: function DocumentRoute() {
    return <DocumentPage documentId={knowledgeDocument.useParams().id} />;
  },
});

const invitation = createRoute({
  getParentRoute: () => root,
  path: "/invitations/$id",
  component: function InvitationRoute() {
    return <InvitationPage id={invitation.useParams().id} />;
  },
});

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
  component: DevicePage,
});

const routes = root.addChildren([
  signIn,
  signUp,
  createRoute({ getParentRoute: () => root, path: "/consent", component: ConsentPage }),
  invitation,
  device,
  layout.addChildren([
    layoutPage("/", AppsPage),
    buildLog,
    layoutPage("/agents", AgentsPage),
    agent,
    layoutPage("/projects", ProjectsPage),
    project,
    transcript,
    layoutPage("/knowledge", KnowledgePage),
    knowledgeDocument,
    layoutPage("/settings/tokens", TokensPage),
    layoutPage("/settings/members", MembersPage),
    layoutPage("/settings/organization", OrganizationPage),
    layoutPage("/settings/audit", AuditPage),
    layoutPage("/settings/account", AccountPage),
  ]),
]);

export const router = createRouter({
  routeTree: routes,
  defaultPreload: false,
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
