import { covered, type Requirement } from "./requirement.ts";

/** What the service offers beyond the interface specification. */
export const FURTHER_REQUIREMENTS = {
  // Apps
  "apps.token.rotated": covered("beyond", "The token of an app can be replaced, with a time in which both are valid.", {
    procedures: ["apps.rotateToken"],
  }),
  "deployments.read": covered("beyond", "The deployments of an app are listed, and each is read with its log.", {
    procedures: ["deployments.list", "deployments.get", "deployments.logs"],
  }),
  "deployments.steps": covered("beyond", "A deployment shows when each of its steps started and finished."),
  "deployments.redeploy": covered("beyond", "A further deployment puts the newest commit live at the same URL.", {
    procedures: ["deployments.redeploy"],
  }),
  "deployments.cancel": covered("beyond", "A deployment that has not ended can be canceled.", {
    procedures: ["deployments.cancel"],
  }),
  "deployments.rollback": covered("beyond", "An earlier deployment can be put live again, without a build.", {
    procedures: ["deployments.rollback"],
  }),
  "environments.create": covered("beyond", "An app has environments, each with its own branch, variables and data.", {
    procedures: ["environments.create", "environments.list"],
  }),
  "environments.promote": covered(
    "beyond",
    "What is live in an environment goes live in another one, without a build.",
    {
      procedures: ["environments.promote"],
    },
  ),
  "deployments.changes": covered("beyond", "What the app builder agent has changed can be read.", {
    procedures: ["deployments.changes"],
  }),
  "runtime_logs.read": covered("beyond", "What an app prints is listed, by level and time.", {
    procedures: ["runtimeLogs.list"],
  }),
  "events.read": covered("beyond", "What changes in an organization is followed, so that nothing has to be polled.", {
    procedures: ["events.list"],
  }),
  "variables.change": covered("beyond", "The variables of an app are set, listed and deleted.", {
    procedures: ["variables.set", "variables.list", "variables.delete"],
  }),

  "storage.read": covered("beyond", "What an app stores is returned, with the tables of its SQL database.", {
    procedures: ["storage.get"],
  }),
  "storage.query": covered("beyond", "The SQL database of an app is queried without changing it.", {
    procedures: ["storage.query"],
  }),
  "storage.entries": covered("beyond", "The keys and objects of an app are listed, and their values returned.", {
    procedures: ["storage.listEntries", "storage.getEntry"],
  }),

  // Organizations and users
  "organization.change": covered("beyond", "The settings of an organization are read and changed.", {
    procedures: ["organization.get", "organization.update"],
  }),
  "account.read": covered("beyond", "A caller learns who they are, and which organizations they have.", {
    procedures: ["account.get"],
  }),
  "oauth_connections.revoke": covered("beyond", "A user lists the connected OAuth clients and revokes a connection.", {
    procedures: ["oauthConnections.list", "oauthConnections.revoke"],
  }),
  "tokens.issue": covered("beyond", "Tokens are issued, listed and revoked.", {
    procedures: ["tokens.issue", "tokens.list", "tokens.revoke"],
  }),
  "tokens.rotate": covered("beyond", "A token is replaced by a new one, with a time in which both are valid.", {
    procedures: ["tokens.rotate"],
  }),
  "usage.read": covered("beyond", "The plan and what is used of it are readable over REST.", {
    procedures: ["usage.get"],
  }),
  "usage.daily": covered("beyond", "Requests and deployments are counted by day and by app.", {
    procedures: ["usage.daily"],
  }),
  "audit.read": covered("beyond", "The audit log has who did what, when and from where.", {
    procedures: ["audit.list"],
  }),

  // Servers and agents
  "servers.change": covered("beyond", "Servers are created, listed, renamed and deleted.", {
    procedures: ["servers.create", "servers.list", "servers.update", "servers.delete"],
  }),
  "agents.change": covered("beyond", "Agents are created, read, changed and deleted.", {
    procedures: ["agents.create", "agents.get", "agents.update", "agents.delete"],
  }),
  "agents.runtime": covered("beyond", "An agent declares the machine that it runs on.", {
    procedures: ["agentRuntimes.declare", "agentRuntimes.get"],
  }),
  "agents.workspace": covered("beyond", "The files of an agent's workspace are listed, read and removed.", {
    procedures: ["agentWorkspaces.list", "agentWorkspaces.read", "agentWorkspaces.clear"],
  }),
  "agents.skills": covered("beyond", "A skill is enabled and disabled for an agent.", {
    procedures: ["agentSkills.list", "agentSkills.set"],
  }),
  "skills.change": covered("beyond", "Skills are uploaded, listed, read and deleted.", {
    procedures: ["skills.upload", "skills.list", "skills.get", "skills.files", "skills.delete"],
  }),
  "instructions.change": covered(
    "beyond",
    "Instructions of an agent are replaced, and an earlier revision is restored.",
    { procedures: ["instructions.get", "instructions.replace", "instructions.revert"] },
  ),
  "instructions.revisions": covered("beyond", "The revisions of instructions are listed and read.", {
    procedures: ["instructions.revisions", "instructions.revision"],
  }),
  "sessions.change": covered("beyond", "Sessions are opened, closed and deleted.", {
    procedures: ["sessions.open", "sessions.close", "sessions.delete"],
  }),
  "sessions.append": covered("beyond", "Entries are appended to a session, and its transcript is read.", {
    procedures: ["sessions.append", "sessions.get", "sessions.transcript"],
  }),
  "sessions.list": covered("beyond", "The sessions of a server are listed, the latest updated first.", {
    procedures: ["sessions.list"],
  }),
  "sessions.search": covered("beyond", "Entries of sessions are found by their words.", {
    procedures: ["sessions.search"],
  }),
  "sessions.usage": covered("beyond", "The tokens of a month are counted for a server and its agents.", {
    procedures: ["sessions.usage"],
  }),
  "sessions.import": covered(
    "beyond",
    "Transcripts of Claude Code, Codex, Cursor, Gemini CLI, OpenClaw and opencode become sessions, once.",
    {
      procedures: ["sessions.import"],
      commands: ["sessions import"],
    },
  ),
  "memories.read": covered("beyond", "Memories of an agent are listed, searched and exported.", {
    procedures: ["memories.list", "memories.search", "memories.export"],
  }),
  "memories.change": covered("beyond", "Memories of an agent are stored, corrected and deleted.", {
    procedures: ["memories.store", "memories.get", "memories.correct", "memories.delete", "memories.deleteAll"],
  }),

  // Documents
  "knowledge.change": covered(
    "beyond",
    "Documents of Company Knowledge are added, read, changed, restored and deleted.",
    {
      procedures: [
        "knowledge.add",
        "knowledge.addArchive",
        "knowledge.list",
        "knowledge.get",
        "knowledge.change",
        "knowledge.versions",
        "knowledge.restore",
        "knowledge.delete",
      ],
    },
  ),
  "git.connections": covered("beyond", "Private repositories of connected git hosts are deployed.", {
    procedures: [
      "gitConnections.list",
      "gitConnections.create",
      "gitConnections.update",
      "gitConnections.delete",
      "gitConnections.repositories",
      "gitConnections.branches",
    ],
  }),
  "git.apps": covered("beyond", "A GitHub App reads repositories, with tokens for one repository each.", {}),
  "push.deploy": covered("beyond", "A push to the repository deploys the app.", {
    procedures: ["pushDeploy.get", "pushDeploy.set", "pushDeploy.rotateSecret", "pushDeploy.deliveries"],
  }),
  "knowledge.sources": covered("beyond", "Documents of Company Knowledge follow URLs and repositories.", {
    procedures: [
      "knowledgeSources.add",
      "knowledgeSources.list",
      "knowledgeSources.get",
      "knowledgeSources.refresh",
      "knowledgeSources.delete",
    ],
  }),
  "knowledge.search": covered("beyond", "A question gets sentences with citations over REST.", {
    procedures: ["knowledge.search"],
  }),
  "projects.change": covered("beyond", "Projects are created, listed, read, changed and deleted.", {
    procedures: ["projects.create", "projects.list", "projects.get", "projects.update", "projects.delete"],
  }),
  "projects.mount": covered("beyond", "A project is mounted on an agent and unmounted.", {
    procedures: ["projects.mount", "projects.unmount"],
  }),
  "projects.search": covered("beyond", "The documents of one project are searched.", {
    procedures: ["projects.search"],
  }),
  "project_documents.change": covered(
    "beyond",
    "Documents of a project are added, read, changed, restored and deleted.",
    {
      procedures: [
        "projectDocuments.add",
        "projectDocuments.list",
        "projectDocuments.get",
        "projectDocuments.change",
        "projectDocuments.versions",
        "projectDocuments.restore",
        "projectDocuments.delete",
      ],
    },
  ),

  // Tools
  "tool.service_deploy_app": covered("beyond", "Deploys an app."),
  "tool.service_redeploy_app": covered("beyond", "Deploys the newest commit of an app."),
  "tool.service_rollback_app": covered("beyond", "Puts an earlier deployment live again."),
  "tool.service_promote_app": covered("beyond", "Deploys what is live in another environment of an app."),
  "tool.service_list_deployments": covered("beyond", "Lists the deployments of an app."),
  "tool.service_get_app_logs": covered("beyond", "Returns the log of a deployment."),
  "tool.service_get_app_changes": covered("beyond", "Returns what the app builder agent has changed."),
  "tool.service_get_runtime_logs": covered("beyond", "Returns what an app has printed."),
  "tool.service_delete_app": covered("beyond", "Deletes an app."),
  "tool.service_set_variable": covered("beyond", "Sets a variable of an app."),
  "tool.service_list_variables": covered("beyond", "Lists the variables of an app."),
  "procedures.list": covered("beyond", "The procedures of an app are listed with their schemas.", {
    procedures: ["procedures.list"],
  }),
  "procedures.callById": covered("beyond", "A procedure of an app can be called over REST.", {
    procedures: ["procedures.callById"],
  }),
  "procedures.invoke": covered("beyond", "A procedure of an app can be called over typed RPC.", {
    procedures: ["procedures.invoke"],
  }),

  "archives.upload": covered("beyond", "An archive with the source of an app is checked and stored once.", {
    procedures: ["archives.upload"],
  }),
  "apps.export": covered(
    "beyond",
    "An app is exported with its data while it runs, without its token and its secrets.",
    {
      procedures: ["apps.export"],
      commands: ["apps export"],
    },
  ),
  "apps.import": covered("beyond", "An export becomes a new app, whose data is there before its first request.", {
    procedures: ["apps.import"],
    commands: ["apps import"],
  }),
  "apps.deploy.archive": covered("beyond", "An app is deployed from an archive or from files, without a repository."),
  "archives.retention": covered("beyond", "An archive is kept as long as something needs it."),

  // The command line
  "cli.derived": covered("beyond", "Each procedure has a command, which is derived from it or written by hand."),
  "cli.deploy": covered("beyond", "The command line deploys an app, follows the build and opens the app.", {
    commands: ["deploy", "apps open"],
  }),
  "cli.deploy.folder": covered("beyond", "The command line deploys a folder, and then again as the same app."),
  "cli.customize": covered("beyond", "The command line customizes an app and shows the changes.", {
    commands: ["customize", "apps diff"],
  }),
  "cli.login": covered("beyond", "A user signs in on a page of the service, and signs out.", {
    commands: ["login", "logout"],
  }),
  "cli.whoami": covered("beyond", "The command line names the organization of the sign-in.", { commands: ["whoami"] }),
  "cli.orgs": covered("beyond", "A user selects the organization of the next commands.", {
    commands: ["orgs list", "orgs use"],
  }),
  "cli.agents": covered("beyond", "The command line creates and lists agents.", {
    commands: ["agents list", "agents provision"],
  }),
  "cli.agents.sync": covered("beyond", "A folder and an agent are compared, pulled and pushed.", {
    commands: ["agents pull", "agents push"],
  }),
  "cli.agents.hook": covered("beyond", "A hook imports the sessions of Claude Code when they end.", {
    commands: ["agents hook claude-code", "agents hook run"],
  }),
  "cli.mcp.install": covered("beyond", "The settings of MCP clients get the URL of the gateway.", {
    commands: ["mcp install"],
  }),
  "cli.completion": covered("beyond", "A shell completes the commands and their options.", {
    commands: ["completion", "complete"],
  }),
} satisfies Record<string, Requirement>;
