import type { Explanation } from "./explanations/explanation.ts";
import { DOMAIN_AGENT_WORKSPACES } from "./explanations/domain-agent-workspaces.ts";
import { DOMAIN_AGENTS } from "./explanations/domain-agents.ts";
import { DOMAIN_APPS } from "./explanations/domain-apps.ts";
import { DOMAIN_AUDIT } from "./explanations/domain-audit.ts";
import { DOMAIN_DEPLOYMENTS } from "./explanations/domain-deployments.ts";
import { DOMAIN_EXECUTION } from "./explanations/domain-execution.ts";
import { DOMAIN_KNOWLEDGE } from "./explanations/domain-knowledge.ts";
import { DOMAIN_MEMORY } from "./explanations/domain-memory.ts";
import { DOMAIN_ORGANIZATIONS } from "./explanations/domain-organizations.ts";
import { DOMAIN_PROCEDURES } from "./explanations/domain-procedures.ts";
import { DOMAIN_PROJECTS } from "./explanations/domain-projects.ts";
import { DOMAIN_RETENTION } from "./explanations/domain-retention.ts";
import { DOMAIN_RUNTIME_LOGS } from "./explanations/domain-runtime-logs.ts";
import { DOMAIN_SESSION_IMPORTS } from "./explanations/domain-session-imports.ts";
import { DOMAIN_SESSIONS } from "./explanations/domain-sessions.ts";
import { DOMAIN_SHARED } from "./explanations/domain-shared.ts";
import { DOMAIN_SKILLS } from "./explanations/domain-skills.ts";
import { DOMAIN_SEARCH } from "./explanations/domain-search.ts";
import { DOMAIN_STORAGE } from "./explanations/domain-storage.ts";
import { DOMAIN_TOKENS } from "./explanations/domain-tokens.ts";
import { DOMAIN_TYPE_DECLARATIONS } from "./explanations/domain-type-declarations.ts";
import { DOMAIN_USAGE } from "./explanations/domain-usage.ts";
import { DOMAIN_USERS } from "./explanations/domain-users.ts";
import { DOMAIN_VARIABLES } from "./explanations/domain-variables.ts";
import { EMBEDDED_PLATFORM } from "./explanations/embedded-platform.ts";
import { SERVER_AUTH } from "./explanations/server-auth.ts";
import { SERVER_IDENTITY } from "./explanations/server-identity.ts";
import { SERVER_MCP } from "./explanations/server-mcp.ts";
import { SERVER_REST } from "./explanations/server-rest.ts";

/** By the path of the source. */
export const EXPLANATIONS: Record<string, Explanation[]> = {
  ...SERVER_AUTH,
  ...DOMAIN_TOKENS,
  ...DOMAIN_AGENTS,
  ...DOMAIN_AGENT_WORKSPACES,
  ...DOMAIN_SKILLS,
  ...DOMAIN_PROJECTS,
  ...DOMAIN_MEMORY,
  ...DOMAIN_APPS,
  ...DOMAIN_ORGANIZATIONS,
  ...DOMAIN_USERS,
  ...DOMAIN_DEPLOYMENTS,
  ...DOMAIN_PROCEDURES,
  ...DOMAIN_SESSIONS,
  ...DOMAIN_SESSION_IMPORTS,
  ...DOMAIN_SHARED,
  ...DOMAIN_TYPE_DECLARATIONS,
  ...DOMAIN_AUDIT,
  ...DOMAIN_RETENTION,
  ...DOMAIN_RUNTIME_LOGS,
  ...DOMAIN_KNOWLEDGE,
  ...DOMAIN_SEARCH,
  ...DOMAIN_STORAGE,
  ...DOMAIN_USAGE,
  ...DOMAIN_EXECUTION,
  ...DOMAIN_VARIABLES,
  ...EMBEDDED_PLATFORM,
  ...SERVER_IDENTITY,
  ...SERVER_MCP,
  ...SERVER_REST,
};
