import { queryOptions, useQuery } from "@tanstack/react-query";
import { reachesRole } from "../../../../domain/shared/roles.ts";
import { appsQuery } from "../apps-query.ts";
import { getApi } from "../api.ts";
import { roleQuery } from "../organization.ts";
import { NAVIGATION } from "./side-bar.tsx";

export interface Command {
  /** Unique in the menu. */
  value: string;
  label: string;
  /** What the command opens, such as `Agent`. */
  kind: string;
  to: string;
}

export interface CommandGroup {
  value: string;
  items: Command[];
}

const ACTIONS: readonly Command[] = [
  { value: "new-app", label: "New app", kind: "Action", to: "/apps/new" },
  { value: "connect-agent", label: "Connect an agent", kind: "Action", to: "/connect" },
  { value: "create-token", label: "Create a token", kind: "Action", to: "/settings/tokens" },
  { value: "connect-git", label: "Connect a git host", kind: "Action", to: "/settings/git-connections" },
  { value: "invite", label: "Invite a teammate", kind: "Action", to: "/settings/members" },
];

/** Everything that the user can open in an organization. */
export function useCommands(organizationId: string): CommandGroup[] {
  const { data: role = "member" } = useQuery(roleQuery(organizationId));
  const { data: apps = [] } = useQuery(appsQuery(organizationId));
  const { data: others } = useQuery(othersQuery(organizationId));
  const pages = NAVIGATION.flatMap(({ entries }) => entries)
    .filter((entry) => reachesRole(role, entry.role ?? "member"))
    .map(({ to, label }): Command => ({ value: `page ${to}`, label, kind: "Page", to }));
  return [
    { value: "Actions", items: [...ACTIONS] },
    { value: "Apps", items: toCommands("App", "apps", apps) },
    { value: "Agents", items: toCommands("Agent", "agents", others?.agents ?? []) },
    { value: "Documents", items: toCommands("Document", "knowledge", others?.documents ?? []) },
    { value: "Projects", items: toCommands("Project", "projects", others?.projects ?? []) },
    { value: "Pages", items: pages },
  ].filter(({ items }) => items.length > 0);
}

interface Named {
  id: string;
  name: string;
}

function toCommands(kind: string, path: string, items: readonly Named[]): Command[] {
  return items.map(({ id, name }) => ({ value: `${kind} ${id}`, label: name, kind, to: `/${path}/${id}` }));
}

/** The newest agents, documents and projects, in one request. */
function othersQuery(organizationId: string) {
  const api = getApi(organizationId);
  return queryOptions({
    queryKey: ["commands", organizationId],
    queryFn: async () => {
      const [{ servers }, { documents }, { projects }] = await Promise.all([
        api.servers.list.query({}),
        api.knowledge.list.query({}),
        api.projects.list.query({}),
      ]);
      const agents = servers.flatMap(({ agent }) => [agent, ...agent.specialized_agents]);
      return {
        agents: agents.map(({ agent_id: id, name }): Named => ({ id, name })),
        documents: documents.map(({ document_id: id, title: name }): Named => ({ id, name })),
        projects: projects.map(({ project_id: id, name }): Named => ({ id, name })),
      };
    },
  });
}
