import { held, later } from "./requirement.ts";

/** What the specification asks of the tool gateway and of the ways to connect to it. */
export const GATEWAY_REQUIREMENTS = {
  // Ways to connect
  "gateway.clients.any": held("1", "Any client that speaks the Model Context Protocol can use the gateway."),
  "gateway.clients.extension": later(
    "1",
    "A desktop extension bundle connects after the user pastes a personal access token.",
  ),
  "gateway.clients.editor": later("1", "A short JSON snippet in the workspace settings connects a code editor."),
  "gateway.clients.bridge": later(
    "1",
    "The CLI's `mcp` command bridges stdio to the gateway for any subprocess client.",
  ),

  // Endpoint
  "gateway.endpoint": held("4.2", "The gateway answers `POST /mcp` over MCP's Streamable HTTP transport."),
  "gateway.request.json": held("4.2", "A request's content type is `application/json`."),
  "gateway.request.jsonrpc": held("4.2", "A request is a JSON-RPC object whose `jsonrpc` is `2.0`."),
  "gateway.request.id": held("4.2", "A request's `id` is a number or a string, and the response carries the same one."),
  "gateway.request.method": held("4.2", "A request's `method` is a string."),
  "gateway.tools_list": held("4.2", "`tools/list` answers with the tools the caller has."),
  "gateway.notification.202": held("4.2", "A notification, having no `id`, answers HTTP 202."),
  "gateway.response": held("4.2", "Any other request is answered by a JSON-RPC 2.0 response."),

  // Tools
  "tool.service_execute": held("4.3", "Runs TypeScript on the agent's managed runtime."),
  "tool.service_execute.result": held("4.3", "Returns standard output, standard error and the exit code."),
  "tool.service_docs_search": held("4.3", "Searches the procedures of the organization's apps."),
  "tool.service_docs_search.hits": held("4.3", "Returns ranked hits with descriptions and snippets."),
  "tool.service_list_apps": held("4.3", "Lists the organization's apps."),
  "tool.service_list_agents": later("4.3", "Lists the organization's agents: one entry per server, its main agent."),
  "tool.service_list_agents.specialized": later("4.3", "Each main agent nests its `specialized_agents`."),
  "tool.service_list_agent_sessions": later("4.3", "Lists a server's stored sessions, of all its agents."),
  "tool.service_list_agent_sessions.tokens": later("4.3", "Each session has its token counters."),
  "tool.service_get_session_transcript": later("4.3", "Returns the tail of one session's transcript."),
  "tool.service_list_agent_skills": later("4.3", "Lists the skills that an agent can really run."),
  "tool.service_get_agent_instructions": later("4.3", "Returns an agent's `AGENTS.md` and a hash of its content."),
  "tool.service_set_agent_instructions": later(
    "4.3",
    "Replaces an agent's `AGENTS.md` and returns it before and after.",
  ),
  "tool.service_set_agent_instructions.reversible": later("4.3", "A replaced `AGENTS.md` can be put back."),
  "tool.service_get_usage": held("4.3", "Returns the current plan and quota."),
  "tool.company_knowledge_search": later("4.3", "Searches the Company Knowledge and returns answers with citations."),
  "tool.company_knowledge_get": later("4.3", "Returns one Company Knowledge document in full by its id."),
  "tool.projects_list": later(
    "4.3",
    "Lists the Projects mounted on the agent: client, engagement or capability scopes.",
  ),
  "tool.project_search": later("4.3", "Searches within one Project and nowhere else."),
  "tool.memory_recall": later("4.3", "Returns the agent's most relevant long-term memories."),
  "tool.memory_write": later("4.3", "Saves a preference, commitment or fact to the agent's long-term memory."),
  "tool.direct": held("4.3", "An app with five or fewer procedures has each as a tool named `<slug>_<procedure>`."),

  // Authentication
  "gateway.auth.required": held("5.2", "Every call carries `Authorization: Bearer <token>`."),
  "gateway.auth.gateway_token": held("5.2", "An agent calls with its own gateway token."),
  "gateway.auth.gateway_token.provisioned": later(
    "5.2",
    "An agent has its gateway token as soon as it is provisioned.",
  ),
  "gateway.auth.personal_access_token": held("5.2", "An external client calls with its user's personal access token."),
  "gateway.auth.personal_access_token.issued": later("5.2", "A user takes a personal access token from the web app."),
  "gateway.auth.cli": later("5.2", "The CLI uses the personal access token after its login command."),
  "gateway.auth.extension": later(
    "5.2",
    "The desktop extension asks for the personal access token when it is installed.",
  ),
  "gateway.organization": held("5.2", "A call acts on one organization, picked from the account's membership."),
  "gateway.organization.override": held(
    "5.2",
    "`X-Service-Org-Id` picks another of the user's organizations for one call.",
  ),

  // Responses and limits
  "gateway.success": held("7.2", "A call that succeeds answers a JSON-RPC 2.0 response."),
  "limits.direct_tools": held("8", "An app with more than five procedures has no direct tools."),
  "limits.usage": held("8", "The current plan and quota are readable with `service_get_usage`."),
};
