import type { AnyTRPCProcedure } from "@trpc/server";
import type { Caller } from "../domain/shared/caller.ts";
import { account } from "./account.ts";
import { agentWorkspaces } from "./agent-workspaces.ts";
import { agents, servers } from "./agents.ts";
import { apps } from "./apps.ts";
import { archives } from "./archives.ts";
import { audit } from "./audit.ts";
import { getAccessError } from "./core/access.ts";
import type { Context } from "./core/context.ts";
import { type Meta, router } from "./core/trpc.ts";
import { deployments } from "./deployments.ts";
import { environments } from "./environments.ts";
import { events } from "./events.ts";
import { execution } from "./execution.ts";
import { gitConnections } from "./git-connections.ts";
import { instructions } from "./instructions.ts";
import { knowledge } from "./knowledge.ts";
import { knowledgeSources } from "./knowledge-sources.ts";
import { memories } from "./memories.ts";
import { organization } from "./organization.ts";
import { projectDocuments } from "./project-documents.ts";
import { projects } from "./projects.ts";
import { oauthConnections } from "./oauth-connections.ts";
import { procedures } from "./procedures.ts";
import { pushDeploy } from "./push-deploy.ts";
import { runtimeLogs } from "./runtime-logs.ts";
import { sessions } from "./sessions.ts";
import { agentRuntimes, agentSkills, skills } from "./skills.ts";
import { storage } from "./storage.ts";
import { tokens } from "./tokens.ts";
import { usage } from "./usage.ts";
import { variables } from "./variables.ts";

export const appRouter = router({
  account,
  agentRuntimes,
  agents,
  agentWorkspaces,
  agentSkills,
  apps,
  archives,
  audit,
  deployments,
  environments,
  events,
  execution,
  gitConnections,
  instructions,
  knowledge,
  knowledgeSources,
  memories,
  oauthConnections,
  organization,
  procedures,
  projectDocuments,
  projects,
  pushDeploy,
  runtimeLogs,
  servers,
  sessions,
  skills,
  storage,
  tokens,
  usage,
  variables,
});

export type AppRouter = typeof appRouter;

const PROCEDURES = appRouter._def.procedures as unknown as Readonly<Record<string, AnyTRPCProcedure>>;

/**
 * Calls a procedure in this process.
 *
 * @param path - the dotted path of the procedure
 * @param readInput - called when the procedure has checked the caller, perhaps more than once
 * @throws {TRPCError} whose cause is what the procedure threw
 */
export async function callRouterProcedure(
  context: Context,
  path: string,
  readInput: () => unknown,
  signal?: AbortSignal,
): Promise<unknown> {
  const procedure = PROCEDURES[path];
  if (procedure === undefined) throw new Error(`the router has no procedure ${path}`);
  return procedure({
    ctx: context,
    path,
    type: procedure._def.type,
    getRawInput: async () => readInput(),
    signal,
    batchIndex: 0,
  });
}

/**
 * Whether a caller may call a procedure, as the procedure itself decides it. A transport asks before it reads the body of a
 * request, so that nobody makes the service keep a body that it then rejects.
 *
 * @param path - the dotted path, also of an unknown procedure
 */
export function mayCallProcedure(caller: Caller, path: string): boolean {
  if (!Object.hasOwn(PROCEDURES, path)) return false;
  const { type, meta } = (PROCEDURES[path] as AnyTRPCProcedure)._def;
  return getAccessError(caller, type, (meta as Meta | undefined)?.access) === null;
}

export function isMutation(path: string): boolean {
  return Object.hasOwn(PROCEDURES, path) && PROCEDURES[path]?._def.type === "mutation";
}
