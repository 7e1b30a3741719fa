import { createRootRoute, createRoute, createRouter, Outlet, redirect } from "@tanstack/react-router";
import { currentSession } from "./api.ts";
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
import { queries } from "./query-client.ts";
import { signInOptions } from "./sign-in-options-query.ts";
import { CardPage } from "./ui/card-page.tsx";
import { Problem } from "./ui/notice.tsx";
import { Shell } from "./ui/page-layout.tsx";

/** Parameters of the address are read where they are used; they only have to survive going from page to page. */
type Search = Record<string, unknown>;
const validateSearch = (search: Search): Search => search;

const root = createRootRoute({
  component: Outlet,
  notFoundComponent: NotFound,
  errorComponent: Failed,
  validateSearch,
});

/** Where nobody is signed in, the way leads to whatever this installation wants first. */
async function signedIn({ location: { href } }: { location: { href: string } }): Promise<void> {
  const session = await queries.fetchQuery({ queryKey: ["session"], queryFn: currentSession });
  if (session !== null) return;
  const { first_run: firstRun } = await queries.ensureQueryData(signInOptions);
  redirect({ to: firstRun ? "/sign-up" : "/sign-in", search: { next: href }, throw: true });
}

const inside = createRoute({ getParentRoute: () => root, id: "inside", beforeLoad: signedIn, component: Shell });

const page = (path: string, component: () => React.JSX.Element) =>
  createRoute({ getParentRoute: () => inside, path, component });

const invitation = createRoute({
  getParentRoute: () => root,
  path: "/invitations/$id",
  component: function Invited() {
    return <InvitationPage id={invitation.useParams().id} />;
  },
});

const alone = (path: string, component: () => React.JSX.Element) =>
  createRoute({ getParentRoute: () => root, path, component });

const device = createRoute({
  getParentRoute: () => root,
  path: "/device",
  beforeLoad: signedIn,
  component: DevicePage,
});

const routes = root.addChildren([
  alone("/sign-in", SignInPage),
  alone("/sign-up", SignUpPage),
  alone("/consent", ConsentPage),
  invitation,
  device,
  inside.addChildren([
    page("/", AppsPage),
    page("/settings/tokens", TokensPage),
    page("/settings/members", MembersPage),
    page("/settings/audit", AuditPage),
    page("/settings/account", AccountPage),
  ]),
]);

export const router = createRouter({ routeTree: routes, defaultPreload: false });

function NotFound() {
  return (
    <CardPage title="No such page">
      <a href="/" className="font-medium underline">
        To the start
      </a>
    </CardPage>
  );
}

function Failed({ error }: { error: unknown }) {
  return (
    <CardPage title="That did not work">
      <Problem error={error} />
      <a href="/" className="font-medium underline">
        To the start
      </a>
    </CardPage>
  );
}
