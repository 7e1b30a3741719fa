import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import {
  BookOpen,
  Bot,
  Building2,
  ChartNoAxesColumn,
  CircleUser,
  FolderKanban,
  Gauge,
  GitBranch,
  KeyRound,
  type LucideIcon,
  PanelsTopLeft,
  Plug,
  ScrollText,
  Search,
  Sparkles,
  Users,
} from "lucide-react";
import { lazy, Suspense, useState } from "react";
import { reachesRole, type Role } from "../../../../domain/shared/roles.ts";
import { openCommandMenu } from "../command-menu.ts";
import { roleQuery } from "../organization.ts";
import type { Organization } from "../organizations-query.ts";
import { sessionQuery } from "../session-query.ts";
import { OrganizationButton, UserButton } from "./side-bar-buttons.tsx";

const loadOrganizationMenu = async () => ({ default: (await import("./organization-menu.tsx")).OrganizationMenu });
const OrganizationMenu = lazy(loadOrganizationMenu);
const loadUserMenu = async () => ({ default: (await import("./user-menu.tsx")).UserMenu });
const UserMenu = lazy(loadUserMenu);

interface Entry {
  to: string;
  label: string;
  icon: LucideIcon;
  /** The role that the page requires; by default `member`. */
  role?: Role;
  /** Whether pages below this one have no entry of their own. */
  isSection?: boolean;
}

/** The pages of the navigation. The command menu lists them too. */
export const NAVIGATION: readonly { title: string | null; entries: readonly Entry[] }[] = [
  {
    title: null,
    entries: [
      { to: "/", label: "Overview", icon: Gauge },
      { to: "/apps", label: "Apps", icon: PanelsTopLeft, isSection: true },
      { to: "/agents", label: "Agents", icon: Bot, isSection: true },
      { to: "/skills", label: "Skills", icon: Sparkles, isSection: true },
      { to: "/knowledge", label: "Knowledge", icon: BookOpen, isSection: true },
      { to: "/projects", label: "Projects", icon: FolderKanban, isSection: true },
      { to: "/usage", label: "Usage", icon: ChartNoAxesColumn },
      { to: "/connect", label: "Connect", icon: Plug },
    ],
  },
  {
    title: "Settings",
    entries: [
      { to: "/settings/tokens", label: "Tokens", icon: KeyRound },
      { to: "/settings/git-connections", label: "Git connections", icon: GitBranch },
      { to: "/settings/members", label: "Members", icon: Users },
      { to: "/settings/organization", label: "Organization", icon: Building2 },
      { to: "/settings/audit", label: "Audit log", icon: ScrollText, role: "owner" },
      { to: "/settings/account", label: "Account", icon: CircleUser },
    ],
  },
];

interface Props {
  organizations: Organization[];
  selected: Organization | undefined;
}

/** Who acts where, and the pages: the organization on top, the user at the bottom. */
export function SideBar({ organizations, selected }: Props) {
  return (
    <div className="flex h-full flex-col gap-3 p-3">
      {organizations.length > 0 && <OrganizationSwitcher organizations={organizations} selected={selected} />}
      {selected !== undefined && (
        <>
          <SearchButton />
          <Navigation organization={selected} />
        </>
      )}
      <div className="mt-auto pt-2">
        <UserSwitcher organizationId={selected?.id} />
      </div>
    </div>
  );
}

const isApple = /mac|iphone|ipad/i.test(navigator.userAgent);

function SearchButton() {
  return (
    <button
      type="button"
      onClick={openCommandMenu}
      className="flex min-h-8 items-center gap-2 rounded-md border border-line bg-surface px-2 text-muted hover:bg-hover pointer-coarse:min-h-10"
    >
      <Search aria-hidden className="size-4" />
      Search
      <kbd aria-hidden className="ml-auto font-sans text-xs">
        {isApple ? "⌘K" : "Ctrl K"}
      </kbd>
    </button>
  );
}

const LINK_CLASS =
  "flex min-h-8 items-center gap-2 rounded-md px-2 text-muted hover:bg-hover hover:text-ink aria-[current=page]:bg-selected aria-[current=page]:font-medium aria-[current=page]:text-ink pointer-coarse:min-h-10";

function Navigation({ organization }: { organization: Organization }) {
  const { data: role = "member" } = useQuery(roleQuery(organization.id));
  return (
    <nav aria-label="Pages" className="space-y-4">
      {NAVIGATION.map(({ title, entries }) => (
        <div key={title} className="space-y-0.5">
          {title !== null && <p className="px-2 pb-1 text-xs font-medium text-muted">{title}</p>}
          {entries
            .filter((entry) => reachesRole(role, entry.role ?? "member"))
            .map(({ to, label, icon: Icon, isSection = false }) => (
              <Link
                key={label}
                to={to}
                search={{ org: organization.id }}
                className={LINK_CLASS}
                activeOptions={{ exact: !isSection, includeSearch: false }}
              >
                <Icon aria-hidden className="size-4 shrink-0" />
                {label}
              </Link>
            ))}
        </div>
      ))}
    </nav>
  );
}

/** The menu takes the place of its button when it is needed: the code of menus is a quarter of that of a page. */
function OrganizationSwitcher({ organizations, selected }: Props) {
  const [wasOpened, setOpened] = useState(false);
  const button = (
    <OrganizationButton
      organization={selected}
      onPointerEnter={() => void loadOrganizationMenu()}
      onClick={() => setOpened(true)}
    />
  );
  if (!wasOpened) return button;
  return (
    <Suspense fallback={button}>
      <OrganizationMenu organizations={organizations} selected={selected} />
    </Suspense>
  );
}

function UserSwitcher({ organizationId }: { organizationId: string | undefined }) {
  const { data: session } = useQuery(sessionQuery);
  const [wasOpened, setOpened] = useState(false);
  const user = session?.user;
  const button = <UserButton user={user} onPointerEnter={() => void loadUserMenu()} onClick={() => setOpened(true)} />;
  if (!wasOpened) return button;
  return (
    <Suspense fallback={button}>
      <UserMenu user={user} organizationId={organizationId} />
    </Suspense>
  );
}
