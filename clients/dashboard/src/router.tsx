import { createRootRoute, createRoute, createRouter, Outlet, redirect } from "@tanstack/react-router";
import { readAuthorizationUrl } from "./after-sign-in.ts";
import { getSession } from "./api.ts";
import { organizationsQuery } from "./organizations-query.ts";
import { AppsPage } from "./pages/apps.tsx";
import { ConsentPage } from "./pages/consent.tsx";
import { DevicePage } from "./pages/device.tsx";
import { InvitationPage } from "./pages/invitation.tsx";
import { AccountPage } from "./pages/settings/account.tsx";
import { AuditPage } from "./pages/settings/audit.tsx";
import { MembersPage } from "./pages/settings/members.tsx";
import { TokensPage } from "./pages/settings/tokens.tsx";
import { SignInPage } from "./pages/sign-in.tsx";
import { SignUpPage } from "./pages/sign-up.tsx";
import { queryClient } from "./query-client.ts";
import { signInOptionsQuery } from "./sign-in-options-query.ts";
import { CardPage } from "./ui/card-page.tsx";
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

const sessionQuery = { queryKey: ["session"], queryFn: getSession };

/** Redirects a user without a session to sign in, or to sign up if this is the first run. */
async function requireSession({ location: { href } }: { location: { href: string } }): Promise<void> {
  const session = await queryClient.fetchQuery(sessionQuery);
  if (session !== null) return;
  const { first_run: firstRun } = await queryClient.ensureQueryData(signInOptionsQuery);
  redirect({ to: firstRun ? "/sign-up" : "/sign-in", search: { next: href }, throw: true });
}

interface PageLocation {
  location: { href: string; pathname: string };
  search: Search;
}

/** Adds an organization to the URL of a page without one: the last that the user selected, else the first. */
async function requireOrganization({ location, search }: PageLocation): Promise<void> {
  await requireSession({ location });
  if (typeof search["org"] === "string") return;
  const session = await queryClient.fetchQuery(sessionQuery);
  const organizations = await queryClient.fetchQuery(organizationsQuery);
  const activeId = session?.session.activeOrganizationId;
  const selected = organizations.find(({ id }) => id === activeId) ?? organizations[0];
  if (selected === undefined) return;
  redirect({ to: location.pathname, search: { ...search, org: selected.id }, replace: true, throw: true });
}

const layout = createRoute({
  getParentRoute: () => root,
  id: "layout",
  beforeLoad: requireOrganization,
  component: function LayoutRoute() {
    const { org } = layout.useSearch();
    return <PageLayout organizationId={typeof org === "string" ? org : undefined} />;
  },
});

const layoutPage = (path: string, component: () => React.JSX.Element) =>
  createRoute({ getParentRoute: () => layout, path, component });

const invitation = createRoute({
  getParentRoute: () => root,
  path: "/invitations/$id",
  component: function InvitationRoute() {
    return <InvitationPage id={invitation.useParams().id} />;
  },
});

const standalonePage = (path: string, component: () => React.JSX.Element) =>
  createRoute({ getParentRoute: () => root, path, component });

/** A user who signed in in another tab meanwhile continues with the request of the client. */
async function continueIfSignedIn(): Promise<void> {
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

const device = createRoute({
  getParentRoute: () => root,
  path: "/device",
  beforeLoad: requireSession,
  component: DevicePage,
});

const routes = root.addChildren([
  signIn,
  standalonePage("/sign-up", SignUpPage),
  standalonePage("/consent", ConsentPage),
  invitation,
  device,
  layout.addChildren([
    layoutPage("/", AppsPage),
    layoutPage("/settings/tokens", TokensPage),
    layoutPage("/settings/members", MembersPage),
    layoutPage("/settings/audit", AuditPage),
    layoutPage("/settings/account", AccountPage),
  ]),
]);

export const router = createRouter({ routeTree: routes, defaultPreload: false });

function NotFound() {
  return (
    <CardPage title="Page not found">
      <a href="/" className="font-medium underline">
        Go to the start page
      </a>
    </CardPage>
  );
}

function PageError({ error }: { error: unknown }) {
  return (
    <CardPage title="Something went wrong">
      <ErrorNotice error={error} />
      <a href="/" className="font-medium underline">
        Go to the start page
      </a>
    </CardPage>
  );
}
