import { useQuery, type UseQueryResult } from "@tanstack/react-query";
import { Outlet, useLocation } from "@tanstack/react-router";
import { Menu as MenuIcon } from "lucide-react";
import { lazy, Suspense, useEffect, useRef, useState } from "react";
import { reachesRole, type Role } from "../../../../domain/shared/roles.ts";
import { getApi } from "../api.ts";
import { onOpenCommandMenu } from "../command-menu.ts";
import { useLiveUpdates } from "../live-updates.ts";
import { OrganizationContext, roleQuery } from "../organization.ts";
import { type Organization, organizationsQuery } from "../organizations-query.ts";
import { listenForToasts } from "../show-toast.ts";
import { CreateOrganizationForm } from "./create-organization-form.tsx";
import { Notice } from "./notice.tsx";
import { PageTitle } from "./page-header.tsx";
import { QueryContent } from "./query-content.tsx";
import { RoleHint } from "./require-role.tsx";
import { NAVIGATION, SideBar } from "./side-bar.tsx";

const Toasts = lazy(async () => ({ default: (await import("./toasts.tsx")).Toasts }));
const CommandMenu = lazy(async () => ({ default: (await import("./command-menu.tsx")).CommandMenu }));

/**
 * The side bar and the content of every page of a signed-in user. On a phone, the side bar is a menu.
 *
 * @param props.organizationId - the organization that the URL names
 */
export function PageLayout({ organizationId }: { organizationId: string | undefined }) {
  const organizations = useQuery(organizationsQuery);
  useLiveUpdates(organizationId);
  const selected = organizations.data?.find(({ id }) => id === organizationId);
  const sideBar = <SideBar organizations={organizations.data ?? []} selected={selected} />;
  return (
    <>
      <a href="#content" className="sr-only z-50 bg-raised focus:not-sr-only focus:absolute focus:p-3">
        Skip to content
      </a>
      <div className="md:grid md:grid-cols-[14rem_minmax(0,1fr)]">
        <div className="hidden border-r border-line md:sticky md:top-0 md:block md:h-dvh md:overflow-y-auto">
          {sideBar}
        </div>
        <div className="min-w-0">
          <PhoneBar title={selected?.name ?? "App Provisioning Service"}>{sideBar}</PhoneBar>
          <main id="content" tabIndex={-1} className="mx-auto max-w-6xl space-y-5 px-4 py-6 outline-none md:px-8">
            <QueryContent query={untilLoaded(organizations)}>
              {(data) => <Content organizations={data} selected={selected} />}
            </QueryContent>
          </main>
        </div>
      </div>
      {selected !== undefined && <CommandMenuOnDemand organization={selected} />}
      <ToastsOnDemand />
    </>
  );
}

/** The side bar of a phone, behind a button. It closes when another page opens. */
function PhoneBar({ title, children }: { title: string; children: React.ReactNode }) {
  const { href } = useLocation();
  const dialog = useRef<HTMLDialogElement>(null);
  const [isOpen, setOpen] = useState(false);
  useEffect(() => dialog.current?.close(), [href]);
  const open = (): void => {
    setOpen(true);
    dialog.current?.showModal();
  };
  return (
    <header className="flex items-center gap-2 border-b border-line px-2 py-1.5 md:hidden">
      <button type="button" aria-label="Menu" onClick={open} className="rounded-md p-2 hover:bg-hover">
        <MenuIcon aria-hidden className="size-5" />
      </button>
      <dialog
        ref={dialog}
        aria-label="Menu"
        onClose={() => setOpen(false)}
        // A click beside the menu.
        onClick={({ target, currentTarget }) => target === currentTarget && currentTarget.close()}
        className="m-0 h-dvh max-h-none w-64 border-r border-line bg-canvas p-0 text-ink"
      >
        {isOpen && children}
      </dialog>
      <span className="truncate font-medium">{title}</span>
    </header>
  );
}

/** Loads what shows toasts with the first one. */
function ToastsOnDemand() {
  const [isNeeded, setNeeded] = useState(false);
  useEffect(() => (isNeeded ? undefined : listenForToasts(() => setNeeded(true))), [isNeeded]);
  return (
    isNeeded && (
      <Suspense>
        <Toasts />
      </Suspense>
    )
  );
}

/** Loads the command menu when it is opened for the first time. */
function CommandMenuOnDemand({ organization }: { organization: Organization }) {
  const [isOpen, setOpen] = useState(false);
  const [wasOpened, setWasOpened] = useState(false);
  useEffect(
    () =>
      onOpenCommandMenu(() => {
        setWasOpened(true);
        setOpen(true);
      }),
    [],
  );
  if (!wasOpened) return null;
  return (
    <Suspense>
      <CommandMenu organizationId={organization.id} open={isOpen} onOpenChange={setOpen} />
    </Suspense>
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
  const entry = NAVIGATION.flatMap(({ entries }) => entries).find(({ to }) => to === pathname);
  const required = entry?.role ?? "member";
  if (reachesRole(role, required)) return <Outlet />;
  return (
    <>
      <PageTitle>{entry?.label ?? ""}</PageTitle>
      <RoleHint role={required} to="see this page" />
    </>
  );
}
