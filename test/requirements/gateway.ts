import { covered } from "./requirement.ts";

/** The clauses about the tool gateway and the ways to connect to it. */
export const GATEWAY_REQUIREMENTS = {
  // Ways to connect
  "gateway.clients.any": covered("1", "Any client that speaks the Model Context Protocol can use the gateway."),
  "gateway.clients.extension": covered(
    "1",
    "A desktop extension bundle connects after the user pastes a personal access token.",
  ),
  "gateway.clients.editor": covered("1", "A short JSON snippet in the workspace settings connects a code editor."),
  "gateway.clients.bridge": covered(
    "1",
    "The CLI's `mcp` command bridges stdio to the gateway for any client that can start a subprocess.",
  ),

  // Endpoint
  "gateway.endpoint": covered("4.2", "The gateway serves `POST /mcp` with MCP's Streamable HTTP transport."),
  "gateway.request.json": covered("4.2", "A request's content type is `application/json`."),
  "gateway.request.jsonrpc": covered("4.2", "A request is a JSON-RPC object whose `jsonrpc` is `2.0`."),
  "gateway.request.id": covered(
    "4.2",
    "A request's `id` is a number or a string, and the response carries the same one.",
  ),
  "gateway.request.method": covered("4.2", "A request's `method` is a string."),
  "gateway.tools_list": covered("4.2", "`tools/list` returns the tools of the caller."),
  "gateway.notification.202": covered("4.2", "A notification (a request without `id`) gets HTTP 202."),
  "gateway.response": covered("4.2", "Any other request gets a JSON-RPC 2.0 response."),

  // Tools
  "tool.service_execute": covered("4.3", "Runs TypeScript on the agent's managed runtime."),
  "tool.service_execute.result": covered("4.3", "Returns standard output, standard error and the exit code."),
  "tool.service_docs_search": covered("4.3", "Searches the procedures of the organization's apps."),
  "tool.service_docs_search.hits": covered("4.3", "Returns ranked hits with descriptions and snippets."),
  "tool.service_list_apps": covered("4.3", "Lists the organization's apps."),
  "tool.service_list_agents": covered("4.3", "Lists the organization's agents: one entry per server, its main agent."),
  "tool.service_list_agents.specialized": covered("4.3", "Each main agent nests its `specialized_agents`."),
  "tool.service_list_agent_sessions": covered("4.3", "Lists a server's stored sessions of all its agents."),
  "tool.service_list_agent_sessions.tokens": covered("4.3", "Each session has its token counters."),
  "tool.service_get_session_transcript": covered("4.3", "Returns the tail of one session's transcript."),
  "tool.service_list_agent_skills": covered("4.3", "Lists the skills that an agent can actually run."),
  "tool.service_get_agent_instructions": covered("4.3", "Returns an agent's `AGENTS.md` and a hash of its content."),
  "tool.service_set_agent_instructions": covered(
    "4.3",
    "Replaces an agent's `AGENTS.md` and returns its content before and after.",
  ),
  "tool.service_set_agent_instructions.reversible": covered("4.3", "A replaced `AGENTS.md` can be restored."),
  "tool.service_get_usage": covered("4.3", "Returns the current plan and quota."),
  "tool.company_knowledge_search": covered("4.3", "Searches the Company Knowledge and returns answers with citations."),
  "tool.company_knowledge_get": covered("4.3", "Returns one Company Knowledge document in full by its id."),
  "tool.projects_list": covered(
    "4.3",
    "Lists the Projects mounted on the agent: client, engagement or capability scopes.",
  ),
  "tool.project_search": covered("4.3", "Searches within one Project only."),
  "tool.memory_recall": covered("4.3", "Returns the agent's most relevant long-term memories."),
  "tool.memory_write": covered("4.3", "Saves a preference, commitment or fact to the agent's long-term memory."),
  "tool.direct": covered("4.3", "An app with five or fewer procedures has each as a tool named `<slug>_<procedure>`."),

  // Authentication
  "gateway.auth.required": covered("5.2", "Every call requires `Authorization: Bearer <token>`."),
  "gateway.auth.gateway_token": covered("5.2", "An agent calls with its own gateway token."),
  "gateway.auth.gateway_token.provisioned": covered(
    "5.2",
    "An agent gets its gateway token automatically when it is provisioned.",
  ),
  "gateway.auth.personal_access_token": covered(
    "5.2",
    "An external client calls with its user's personal access token.",
  ),
  "gateway.auth.personal_access_token.issued": covered("5.2", "A user gets a personal access token from the web app."),
  "gateway.auth.cli": covered("5.2", "The CLI uses the personal access token after its login command."),
  "gateway.auth.extension": covered(
    "5.2",
    "The desktop extension asks for the personal access token when it is installed.",
  ),
  "gateway.organization": covered(
    "5.2",
    "A call acts on one organization, which the gateway picks from the account's memberships.",
  ),
  "gateway.organization.override": covered(
    "5.2",
    "`X-Service-Org-Id` selects another organization of the user for one call.",
  ),

  // Responses and limits
  "gateway.success": covered("7.2", "A successful call gets a JSON-RPC 2.0 response."),
  "limits.direct_tools": covered("8", "An app with more than five procedures has no direct tools."),
  "limits.usage": covered("8", "The current plan and quota are readable with `service_get_usage`."),
};
