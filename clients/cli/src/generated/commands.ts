// Generated from the routers by npm run docs. Do not edit.
import type { CommandSpec } from "../command-spec.ts";

export const COMMANDS: readonly CommandSpec[] = [
  {
    "procedure": "account.get",
    "words": [
      "account",
      "get"
    ],
    "kind": "query",
    "summary": "account get",
    "description": "",
    "isDestructive": false,
    "parameters": []
  },
  {
    "procedure": "agentRuntimes.declare",
    "words": [
      "agent-runtimes",
      "declare"
    ],
    "kind": "mutation",
    "summary": "Declare the runtime of an agent",
    "description": "Replaces what is known of the machine that an agent runs on. The requirements of skills are compared with it: what is not declared is missing.",
    "isDestructive": false,
    "parameters": [
      {
        "field": "id",
        "name": "id",
        "isArgument": true,
        "isRequired": true,
        "type": "text",
        "description": "The agent's id"
      },
      {
        "field": "platform",
        "name": "platform",
        "isArgument": false,
        "isRequired": false,
        "type": "text",
        "choices": [
          "linux",
          "darwin",
          "win32"
        ],
        "isNullable": true,
        "description": "As Node's `process.platform`"
      },
      {
        "field": "binaries",
        "name": "binaries",
        "isArgument": false,
        "isRequired": false,
        "type": "texts",
        "description": "Programs that the agent can start"
      },
      {
        "field": "environment",
        "name": "environment",
        "isArgument": false,
        "isRequired": false,
        "type": "texts",
        "description": "Names of environment variables that are set, never their values"
      },
      {
        "field": "configuration",
        "name": "configuration",
        "isArgument": false,
        "isRequired": false,
        "type": "texts",
        "description": "Configuration keys that are set"
      }
    ]
  },
  {
    "procedure": "agentRuntimes.get",
    "words": [
      "agent-runtimes",
      "get"
    ],
    "kind": "query",
    "summary": "Get the runtime of an agent",
    "description": "What the agent has declared of the machine that it runs on. The lists are empty if it has not.",
    "isDestructive": false,
    "parameters": [
      {
        "field": "id",
        "name": "id",
        "isArgument": true,
        "isRequired": true,
        "type": "text",
        "description": "The agent's id"
      }
    ]
  },
  {
    "procedure": "agentSkills.list",
    "words": [
      "agent-skills",
      "list"
    ],
    "kind": "query",
    "summary": "List the skills of an agent",
    "description": "The skills of the organization, or those that OpenClaw has for the agent: first those that the agent can run, and then the others with what is missing.",
    "isDestructive": false,
    "parameters": [
      {
        "field": "id",
        "name": "id",
        "isArgument": true,
        "isRequired": true,
        "type": "text",
        "description": "The agent's id"
      },
      {
        "field": "cursor",
        "name": "cursor",
        "isArgument": false,
        "isRequired": false,
        "type": "text",
        "description": "`next_cursor` of the previous page"
      }
    ]
  },
  {
    "procedure": "agentSkills.set",
    "words": [
      "agent-skills",
      "set"
    ],
    "kind": "mutation",
    "summary": "Enable or disable a skill for an agent",
    "description": "Repeating a call changes nothing.",
    "isDestructive": false,
    "parameters": [
      {
        "field": "id",
        "name": "id",
        "isArgument": true,
        "isRequired": true,
        "type": "text",
        "description": "The agent's id"
      },
      {
        "field": "name",
        "name": "name",
        "isArgument": true,
        "isRequired": true,
        "type": "text",
        "description": "The skill's name"
      },
      {
        "field": "enabled",
        "name": "enabled",
        "isArgument": false,
        "isRequired": true,
        "type": "boolean",
        "description": "Whether the agent may use the skill"
      }
    ]
  },
  {
    "procedure": "agentWorkspaces.clear",
    "words": [
      "agent-workspaces",
      "clear"
    ],
    "kind": "mutation",
    "summary": "Remove files of an agent",
    "description": "Removes a file or a folder from the workspace of an agent, or without `path` all files. Waits up to 10 seconds for a running program of the agent.",
    "isDestructive": true,
    "parameters": [
      {
        "field": "id",
        "name": "id",
        "isArgument": true,
        "isRequired": true,
        "type": "text",
        "description": "The agent's id"
      },
      {
        "field": "path",
        "name": "path",
        "isArgument": false,
        "isRequired": false,
        "type": "text",
        "description": "A file or a folder, relative to `/workspace`. By default everything"
      }
    ]
  },
  {
    "procedure": "agentWorkspaces.list",
    "words": [
      "agent-workspaces",
      "list"
    ],
    "kind": "query",
    "summary": "List the files of an agent",
    "description": "The files that the programs of an agent have left in `/workspace`, by path.",
    "isDestructive": false,
    "parameters": [
      {
        "field": "id",
        "name": "id",
        "isArgument": true,
        "isRequired": true,
        "type": "text",
        "description": "The agent's id"
      },
      {
        "field": "limit",
        "name": "limit",
        "isArgument": false,
        "isRequired": false,
        "type": "number",
        "description": "Maximum number of files; default 100"
      },
      {
        "field": "cursor",
        "name": "cursor",
        "isArgument": false,
        "isRequired": false,
        "type": "text",
        "description": "`next_cursor` of the previous page"
      }
    ]
  },
  {
    "procedure": "agentWorkspaces.read",
    "words": [
      "agent-workspaces",
      "read"
    ],
    "kind": "query",
    "summary": "Read a file of an agent",
    "description": "A part of one file in the workspace of an agent, by default its first 256 KiB.",
    "isDestructive": false,
    "parameters": [
      {
        "field": "id",
        "name": "id",
        "isArgument": true,
        "isRequired": true,
        "type": "text",
        "description": "The agent's id"
      },
      {
        "field": "path",
        "name": "path",
        "isArgument": true,
        "isRequired": true,
        "type": "text",
        "description": "Relative to `/workspace`"
      },
      {
        "field": "offset",
        "name": "offset",
        "isArgument": false,
        "isRequired": false,
        "type": "number",
        "description": "Where to start in the file, in bytes; default 0"
      },
      {
        "field": "length",
        "name": "length",
        "isArgument": false,
        "isRequired": false,
        "type": "number",
        "description": "Maximum number of bytes; default 262144"
      }
    ]
  },
  {
    "procedure": "agents.create",
    "words": [
      "agents",
      "create"
    ],
    "kind": "mutation",
    "summary": "Create a specialized agent",
    "description": "Creates a specialized agent of a server. Only this response contains its gateway token, and the configuration with which a client of the agent uses it.",
    "isDestructive": false,
    "parameters": [
      {
        "field": "server_id",
        "name": "server-id",
        "isArgument": false,
        "isRequired": true,
        "type": "text",
        "description": "The server's id"
      },
      {
        "field": "name",
        "name": "name",
        "isArgument": false,
        "isRequired": true,
        "type": "text",
        "description": "One line of 1 to 100 characters"
      },
      {
        "field": "model",
        "name": "model",
        "isArgument": false,
        "isRequired": false,
        "type": "text",
        "description": "The agent's language model"
      }
    ]
  },
  {
    "procedure": "agents.delete",
    "words": [
      "agents",
      "delete"
    ],
    "kind": "mutation",
    "summary": "Delete a specialized agent",
    "description": "Deletes an agent with its instructions, and revokes its tokens immediately.",
    "isDestructive": true,
    "parameters": [
      {
        "field": "id",
        "name": "id",
        "isArgument": true,
        "isRequired": true,
        "type": "text",
        "description": "The agent's id"
      }
    ]
  },
  {
    "procedure": "agents.get",
    "words": [
      "agents",
      "get"
    ],
    "kind": "query",
    "summary": "Get an agent",
    "description": "An agent and its server.",
    "isDestructive": false,
    "parameters": [
      {
        "field": "id",
        "name": "id",
        "isArgument": true,
        "isRequired": true,
        "type": "text",
        "description": "The agent's id"
      }
    ]
  },
  {
    "procedure": "agents.update",
    "words": [
      "agents",
      "update"
    ],
    "kind": "mutation",
    "summary": "Update an agent",
    "description": "Changes the name or the model of an agent. Its id and its tokens stay.",
    "isDestructive": false,
    "parameters": [
      {
        "field": "id",
        "name": "id",
        "isArgument": true,
        "isRequired": true,
        "type": "text",
        "description": "The agent's id"
      },
      {
        "field": "name",
        "name": "name",
        "isArgument": false,
        "isRequired": false,
        "type": "text",
        "description": "One line of 1 to 100 characters"
      },
      {
        "field": "model",
        "name": "model",
        "isArgument": false,
        "isRequired": false,
        "type": "text",
        "isNullable": true,
        "description": ""
      }
    ]
  },
  {
    "procedure": "apps.delete",
    "words": [
      "apps",
      "delete"
    ],
    "kind": "mutation",
    "summary": "Delete an app",
    "description": "Removes the app's script, auth entry, SQL database and sources, then its record. The response is `deleted` only when all of them are removed. Repeating the call is safe.",
    "isDestructive": true,
    "parameters": [
      {
        "field": "id",
        "name": "app",
        "isArgument": true,
        "isRequired": true,
        "type": "app",
        "description": "The app's id"
      }
    ]
  },
  {
    "procedure": "apps.deploy",
    "words": [
      "apps",
      "deploy"
    ],
    "kind": "mutation",
    "summary": "Deploy an app from a repository",
    "description": "Creates an app and starts its first deployment. Read the app's `status` until it is `ready` or `failed`. Repeating a call with the same `Idempotency-Key` returns the app of the first call. Every other attempt counts against the deploy limit, whatever its result.",
    "isDestructive": false,
    "parameters": [
      {
        "field": "repo",
        "name": "repo",
        "isArgument": true,
        "isRequired": true,
        "type": "text",
        "description": "The repository, as owner/name"
      },
      {
        "field": "branch",
        "name": "branch",
        "isArgument": false,
        "isRequired": false,
        "type": "text",
        "description": "The branch to deploy; default `main`, or the repository's default branch if it has no `main`"
      },
      {
        "field": "customization",
        "name": "customization",
        "isArgument": false,
        "isRequired": false,
        "type": "text",
        "description": "Instructions in natural language for the app builder agent. Not available in this version"
      },
      {
        "field": "root_directory",
        "name": "root-directory",
        "isArgument": false,
        "isRequired": false,
        "type": "text",
        "description": "The folder of the app in a repository with several, relative to its root. By default the root, or the only package of a workspace that can be deployed"
      },
      {
        "field": "build_network",
        "name": "build-network",
        "isArgument": false,
        "isRequired": false,
        "type": "boolean",
        "description": "Whether the build script may connect to public addresses. Default false; true requires that the operator allows it"
      }
    ]
  },
  {
    "procedure": "apps.get",
    "words": [
      "apps",
      "get"
    ],
    "kind": "query",
    "summary": "Get one app",
    "description": "",
    "isDestructive": false,
    "parameters": [
      {
        "field": "id",
        "name": "app",
        "isArgument": true,
        "isRequired": true,
        "type": "app",
        "description": "The app's id"
      }
    ]
  },
  {
    "procedure": "apps.list",
    "words": [
      "apps",
      "list"
    ],
    "kind": "query",
    "summary": "List the organization's apps",
    "description": "Every app of the organization, newest first.",
    "isDestructive": false,
    "parameters": []
  },
  {
    "procedure": "apps.logs",
    "words": [
      "apps",
      "logs"
    ],
    "kind": "query",
    "summary": "Read an app's build log",
    "description": "",
    "isDestructive": false,
    "parameters": [
      {
        "field": "id",
        "name": "app",
        "isArgument": true,
        "isRequired": true,
        "type": "app",
        "description": "The app's id"
      }
    ]
  },
  {
    "procedure": "apps.rotateToken",
    "words": [
      "apps",
      "rotate-token"
    ],
    "kind": "mutation",
    "summary": "Replace an app's token",
    "description": "Issues a new token for the app. The previous token stays valid for the overlap; all older tokens become invalid immediately.",
    "isDestructive": false,
    "parameters": [
      {
        "field": "id",
        "name": "app",
        "isArgument": true,
        "isRequired": true,
        "type": "app",
        "description": "The app's id"
      },
      {
        "field": "overlap",
        "name": "overlap",
        "isArgument": false,
        "isRequired": false,
        "type": "text",
        "choices": [
          "none",
          "hour",
          "day",
          "week"
        ],
        "description": "How long the previous token stays valid; default \"day\""
      }
    ]
  },
  {
    "procedure": "apps.update",
    "words": [
      "apps",
      "update"
    ],
    "kind": "mutation",
    "summary": "Change an app's name or settings",
    "description": "The slug, the URL and the token stay. A new branch takes effect with the next deployment that names none, `root_directory` and `build_network` with the next deployment.",
    "isDestructive": false,
    "parameters": [
      {
        "field": "id",
        "name": "app",
        "isArgument": true,
        "isRequired": true,
        "type": "app",
        "description": "The app's id"
      },
      {
        "field": "name",
        "name": "name",
        "isArgument": false,
        "isRequired": false,
        "type": "text",
        "description": "A name for people, in one line"
      },
      {
        "field": "branch",
        "name": "branch",
        "isArgument": false,
        "isRequired": false,
        "type": "text",
        "description": "The branch that a deployment without one deploys"
      },
      {
        "field": "root_directory",
        "name": "root-directory",
        "isArgument": false,
        "isRequired": false,
        "type": "text",
        "isNullable": true,
        "description": ""
      },
      {
        "field": "build_network",
        "name": "build-network",
        "isArgument": false,
        "isRequired": false,
        "type": "boolean",
        "description": "Whether the build script may connect to public addresses. Default false; true requires that the operator allows it"
      }
    ]
  },
  {
    "procedure": "audit.list",
    "words": [
      "audit",
      "list"
    ],
    "kind": "query",
    "summary": "List audit events",
    "description": "Lists actor, action, target and client address of every change in the organization and of its members' sign-ins, with their names. Filters by user, credential, action and time can be combined. Newest first, 100 events per page. Requires the role owner.",
    "isDestructive": false,
    "parameters": [
      {
        "field": "user_id",
        "name": "user-id",
        "isArgument": false,
        "isRequired": false,
        "type": "text",
        "description": "Only events of this user, also through a token of the user"
      },
      {
        "field": "credential_id",
        "name": "credential-id",
        "isArgument": false,
        "isRequired": false,
        "type": "text",
        "description": "Only events of this credential, such as a token"
      },
      {
        "field": "action",
        "name": "action",
        "isArgument": false,
        "isRequired": false,
        "type": "text",
        "description": "Only events with exactly this action"
      },
      {
        "field": "from",
        "name": "from",
        "isArgument": false,
        "isRequired": false,
        "type": "text",
        "description": "Only events at this time or later"
      },
      {
        "field": "to",
        "name": "to",
        "isArgument": false,
        "isRequired": false,
        "type": "text",
        "description": "Only events before this time"
      },
      {
        "field": "cursor",
        "name": "cursor",
        "isArgument": false,
        "isRequired": false,
        "type": "text",
        "description": "The `next_cursor` of the previous page, which had the same filters"
      }
    ]
  },
  {
    "procedure": "deployments.cancel",
    "words": [
      "deployments",
      "cancel"
    ],
    "kind": "mutation",
    "summary": "Cancel a deployment",
    "description": "Ends a deployment that waits or runs. This is final. The call waits until the deployment has ended and is `canceled`. If that takes longer than ten seconds, the response shows the deployment in progress, and the service continues to end it. The live deployment continues to serve.",
    "isDestructive": false,
    "parameters": [
      {
        "field": "id",
        "name": "app",
        "isArgument": true,
        "isRequired": true,
        "type": "app",
        "description": "The app's id"
      },
      {
        "field": "number",
        "name": "number",
        "isArgument": true,
        "isRequired": true,
        "type": "number",
        "description": "The number of the deployment"
      }
    ]
  },
  {
    "procedure": "deployments.get",
    "words": [
      "deployments",
      "get"
    ],
    "kind": "query",
    "summary": "Get one deployment",
    "description": "",
    "isDestructive": false,
    "parameters": [
      {
        "field": "id",
        "name": "app",
        "isArgument": true,
        "isRequired": true,
        "type": "app",
        "description": "The app's id"
      },
      {
        "field": "number",
        "name": "number",
        "isArgument": true,
        "isRequired": true,
        "type": "number",
        "description": "The number of the deployment"
      }
    ]
  },
  {
    "procedure": "deployments.list",
    "words": [
      "deployments",
      "list"
    ],
    "kind": "query",
    "summary": "List the deployments of an app",
    "description": "Newest first. An app keeps its 200 newest deployments, and older ones that are live or have a kept bundle.",
    "isDestructive": false,
    "parameters": [
      {
        "field": "id",
        "name": "app",
        "isArgument": true,
        "isRequired": true,
        "type": "app",
        "description": "The app's id"
      },
      {
        "field": "limit",
        "name": "limit",
        "isArgument": false,
        "isRequired": false,
        "type": "number",
        "description": "Maximum number of deployments to return; default 20"
      },
      {
        "field": "cursor",
        "name": "cursor",
        "isArgument": false,
        "isRequired": false,
        "type": "text",
        "description": "next_cursor of the previous page"
      }
    ]
  },
  {
    "procedure": "deployments.logs",
    "words": [
      "deployments",
      "logs"
    ],
    "kind": "query",
    "summary": "Read the log of a deployment",
    "description": "",
    "isDestructive": false,
    "parameters": [
      {
        "field": "id",
        "name": "app",
        "isArgument": true,
        "isRequired": true,
        "type": "app",
        "description": "The app's id"
      },
      {
        "field": "number",
        "name": "number",
        "isArgument": true,
        "isRequired": true,
        "type": "number",
        "description": "The number of the deployment"
      }
    ]
  },
  {
    "procedure": "deployments.redeploy",
    "words": [
      "deployments",
      "redeploy"
    ],
    "kind": "mutation",
    "summary": "Deploy an app again",
    "description": "Starts a deployment of the newest commit of the app's branch, or of the given branch or commit. The live deployment serves until the new one is `ready`; if it fails, nothing changes for visitors. One deployment of an app runs at a time: a newer one waits, and replaces an older one that still waits. Repeating a call with the same `Idempotency-Key` returns the deployment of the first call. Every other attempt counts against the deploy limit, whatever its result.",
    "isDestructive": false,
    "parameters": [
      {
        "field": "id",
        "name": "app",
        "isArgument": true,
        "isRequired": true,
        "type": "app",
        "description": "The app's id"
      },
      {
        "field": "branch",
        "name": "branch",
        "isArgument": false,
        "isRequired": false,
        "type": "text",
        "description": "The branch to deploy; by default that of the app"
      },
      {
        "field": "commit",
        "name": "commit",
        "isArgument": false,
        "isRequired": false,
        "type": "text",
        "description": "The full id of the commit to deploy; by default the newest one of the branch"
      },
      {
        "field": "customization",
        "name": "customization",
        "isArgument": false,
        "isRequired": false,
        "type": "json",
        "description": "Instructions in natural language for the app builder agent, which this version does not have; by default those of the newest deployment, and null for none"
      }
    ]
  },
  {
    "procedure": "deployments.rollback",
    "words": [
      "deployments",
      "rollback"
    ],
    "kind": "mutation",
    "summary": "Make an earlier deployment live again",
    "description": "Starts a deployment from the kept bundle of an earlier one, without a build. The bundles of the five newest deployments that were live are kept (`can_roll_back`). The SQL database keeps the migrations of later deployments, and `status_message` names them. Repeating a call with the same `Idempotency-Key` returns the deployment of the first call.",
    "isDestructive": false,
    "parameters": [
      {
        "field": "id",
        "name": "app",
        "isArgument": true,
        "isRequired": true,
        "type": "app",
        "description": "The app's id"
      },
      {
        "field": "number",
        "name": "number",
        "isArgument": true,
        "isRequired": true,
        "type": "number",
        "description": "The number of the deployment that goes live again"
      }
    ]
  },
  {
    "procedure": "execution.run",
    "words": [
      "execution",
      "run"
    ],
    "kind": "mutation",
    "summary": "Run TypeScript",
    "description": "",
    "isDestructive": true,
    "parameters": [
      {
        "field": "code",
        "name": "code",
        "isArgument": true,
        "isRequired": true,
        "type": "text",
        "description": "A TypeScript module. Top-level await is allowed. Print results with console.log"
      },
      {
        "field": "timeout_ms",
        "name": "timeout-ms",
        "isArgument": false,
        "isRequired": false,
        "type": "number",
        "description": "Time limit in milliseconds; default 30000"
      },
      {
        "field": "agent_id",
        "name": "agent-id",
        "isArgument": false,
        "isRequired": false,
        "type": "text",
        "description": "The agent whose /workspace to use. Default: your own"
      }
    ]
  },
  {
    "procedure": "instructions.get",
    "words": [
      "instructions",
      "get"
    ],
    "kind": "query",
    "summary": "Get the instructions of an agent",
    "description": "The AGENTS.md of an agent with the hash of its content. It is empty when the agent has none.",
    "isDestructive": false,
    "parameters": [
      {
        "field": "id",
        "name": "id",
        "isArgument": true,
        "isRequired": true,
        "type": "text",
        "description": "The agent's id"
      }
    ]
  },
  {
    "procedure": "instructions.replace",
    "words": [
      "instructions",
      "replace"
    ],
    "kind": "mutation",
    "summary": "Replace the instructions of an agent",
    "description": "Replaces the AGENTS.md of an agent. The version before is kept as a revision: of each agent the newest 200. The same content again changes nothing.",
    "isDestructive": false,
    "parameters": [
      {
        "field": "id",
        "name": "id",
        "isArgument": true,
        "isRequired": true,
        "type": "text",
        "description": "The agent's id"
      },
      {
        "field": "content",
        "name": "content",
        "isArgument": true,
        "isRequired": true,
        "type": "text",
        "description": "The whole new AGENTS.md, at most 32768 bytes"
      },
      {
        "field": "expected_hash",
        "name": "expected-hash",
        "isArgument": false,
        "isRequired": false,
        "type": "text",
        "description": "The content_hash you have read. If the instructions have changed since, nothing is replaced"
      }
    ]
  },
  {
    "procedure": "instructions.revert",
    "words": [
      "instructions",
      "revert"
    ],
    "kind": "mutation",
    "summary": "Restore a revision of an agent's instructions",
    "description": "Makes the content of a kept revision current again, as a new revision.",
    "isDestructive": false,
    "parameters": [
      {
        "field": "id",
        "name": "id",
        "isArgument": true,
        "isRequired": true,
        "type": "text",
        "description": "The agent's id"
      },
      {
        "field": "number",
        "name": "number",
        "isArgument": true,
        "isRequired": true,
        "type": "number",
        "description": "The number of the revision to restore"
      },
      {
        "field": "expected_hash",
        "name": "expected-hash",
        "isArgument": false,
        "isRequired": false,
        "type": "text",
        "description": "The content_hash you have read. If the instructions have changed since, nothing is replaced"
      }
    ]
  },
  {
    "procedure": "instructions.revision",
    "words": [
      "instructions",
      "revision"
    ],
    "kind": "query",
    "summary": "Get a revision of an agent's instructions",
    "description": "One kept version of an agent's AGENTS.md with its content.",
    "isDestructive": false,
    "parameters": [
      {
        "field": "id",
        "name": "id",
        "isArgument": true,
        "isRequired": true,
        "type": "text",
        "description": "The agent's id"
      },
      {
        "field": "number",
        "name": "number",
        "isArgument": true,
        "isRequired": true,
        "type": "number",
        "description": ""
      }
    ]
  },
  {
    "procedure": "instructions.revisions",
    "words": [
      "instructions",
      "revisions"
    ],
    "kind": "query",
    "summary": "List the revisions of an agent's instructions",
    "description": "The kept versions of an agent's AGENTS.md, newest first, with who stored each and when.",
    "isDestructive": false,
    "parameters": [
      {
        "field": "id",
        "name": "id",
        "isArgument": true,
        "isRequired": true,
        "type": "text",
        "description": "The agent's id"
      },
      {
        "field": "limit",
        "name": "limit",
        "isArgument": false,
        "isRequired": false,
        "type": "number",
        "description": "Maximum number; 20 by default"
      },
      {
        "field": "cursor",
        "name": "cursor",
        "isArgument": false,
        "isRequired": false,
        "type": "text",
        "description": "`next_cursor` of the previous page"
      }
    ]
  },
  {
    "procedure": "knowledge.add",
    "words": [
      "knowledge",
      "add"
    ],
    "kind": "mutation",
    "summary": "Add a document",
    "description": "Adds a text, or a file with Markdown, text, HTML, PDF or DOCX. A file with the `name` of an earlier upload becomes a new version of that document, so that a folder can be uploaded again.",
    "isDestructive": false,
    "parameters": [
      {
        "field": "kind",
        "name": "kind",
        "isArgument": true,
        "isRequired": true,
        "type": "text",
        "choices": [
          "policy",
          "pricing",
          "brand",
          "sop",
          "faq"
        ],
        "description": ""
      },
      {
        "field": "title",
        "name": "title",
        "isArgument": false,
        "isRequired": false,
        "type": "text",
        "description": "By default what the document calls itself"
      },
      {
        "field": "language",
        "name": "language",
        "isArgument": false,
        "isRequired": false,
        "type": "text",
        "choices": [
          "english",
          "simple",
          "arabic",
          "armenian",
          "bulgarian",
          "danish",
          "dutch",
          "finnish",
          "french",
          "german",
          "greek",
          "hindi",
          "hungarian",
          "indonesian",
          "irish",
          "italian",
          "lithuanian",
          "nepali",
          "norwegian",
          "portuguese",
          "romanian",
          "russian",
          "sanskrit",
          "serbian",
          "spanish",
          "swedish",
          "tamil",
          "turkish",
          "ukrainian"
        ],
        "description": "By default english; `simple` for several languages"
      },
      {
        "field": "content",
        "name": "content",
        "isArgument": false,
        "isRequired": false,
        "type": "text",
        "description": "The text as Markdown"
      },
      {
        "field": "file",
        "name": "file",
        "isArgument": false,
        "isRequired": false,
        "type": "json",
        "description": "Markdown, text, HTML, PDF or DOCX, instead of `content`"
      }
    ]
  },
  {
    "procedure": "knowledge.change",
    "words": [
      "knowledge",
      "change"
    ],
    "kind": "mutation",
    "summary": "Change a document",
    "description": "Replaces the text, from `content` or `file`, and changes the title, the kind or the language. A new text becomes a new version. The same text again changes nothing.",
    "isDestructive": false,
    "parameters": [
      {
        "field": "id",
        "name": "id",
        "isArgument": true,
        "isRequired": true,
        "type": "text",
        "description": "The document's id"
      },
      {
        "field": "kind",
        "name": "kind",
        "isArgument": false,
        "isRequired": false,
        "type": "text",
        "choices": [
          "policy",
          "pricing",
          "brand",
          "sop",
          "faq"
        ],
        "description": ""
      },
      {
        "field": "title",
        "name": "title",
        "isArgument": false,
        "isRequired": false,
        "type": "text",
        "description": "By default what the document calls itself"
      },
      {
        "field": "language",
        "name": "language",
        "isArgument": false,
        "isRequired": false,
        "type": "text",
        "choices": [
          "english",
          "simple",
          "arabic",
          "armenian",
          "bulgarian",
          "danish",
          "dutch",
          "finnish",
          "french",
          "german",
          "greek",
          "hindi",
          "hungarian",
          "indonesian",
          "irish",
          "italian",
          "lithuanian",
          "nepali",
          "norwegian",
          "portuguese",
          "romanian",
          "russian",
          "sanskrit",
          "serbian",
          "spanish",
          "swedish",
          "tamil",
          "turkish",
          "ukrainian"
        ],
        "description": "By default english; `simple` for several languages"
      },
      {
        "field": "content",
        "name": "content",
        "isArgument": false,
        "isRequired": false,
        "type": "text",
        "description": "The text as Markdown"
      },
      {
        "field": "file",
        "name": "file",
        "isArgument": false,
        "isRequired": false,
        "type": "json",
        "description": "Markdown, text, HTML, PDF or DOCX, instead of `content`"
      }
    ]
  },
  {
    "procedure": "knowledge.delete",
    "words": [
      "knowledge",
      "delete"
    ],
    "kind": "mutation",
    "summary": "Delete a document",
    "description": "Deletes a document with its versions. The search no longer finds it.",
    "isDestructive": true,
    "parameters": [
      {
        "field": "id",
        "name": "id",
        "isArgument": true,
        "isRequired": true,
        "type": "text",
        "description": "The document's id"
      }
    ]
  },
  {
    "procedure": "knowledge.get",
    "words": [
      "knowledge",
      "get"
    ],
    "kind": "query",
    "summary": "Read a document",
    "description": "The text of a document as Markdown, in parts of at most one MiB. With `version`, of a kept version.",
    "isDestructive": false,
    "parameters": [
      {
        "field": "id",
        "name": "id",
        "isArgument": true,
        "isRequired": true,
        "type": "text",
        "description": "The document's id"
      },
      {
        "field": "version",
        "name": "version",
        "isArgument": false,
        "isRequired": false,
        "type": "number",
        "description": "A kept version; by default the current one"
      },
      {
        "field": "offset",
        "name": "offset",
        "isArgument": false,
        "isRequired": false,
        "type": "number",
        "description": "`next_offset` of the previous part; default 0"
      }
    ]
  },
  {
    "procedure": "knowledge.list",
    "words": [
      "knowledge",
      "list"
    ],
    "kind": "query",
    "summary": "List documents",
    "description": "The documents of Company Knowledge, by title, without their texts.",
    "isDestructive": false,
    "parameters": [
      {
        "field": "kind",
        "name": "kind",
        "isArgument": false,
        "isRequired": false,
        "type": "text",
        "choices": [
          "policy",
          "pricing",
          "brand",
          "sop",
          "faq"
        ],
        "description": "By default all kinds"
      },
      {
        "field": "limit",
        "name": "limit",
        "isArgument": false,
        "isRequired": false,
        "type": "number",
        "description": "Maximum number of documents; default 50"
      },
      {
        "field": "cursor",
        "name": "cursor",
        "isArgument": false,
        "isRequired": false,
        "type": "text",
        "description": "`next_cursor` of the previous page"
      }
    ]
  },
  {
    "procedure": "knowledge.restore",
    "words": [
      "knowledge",
      "restore"
    ],
    "kind": "mutation",
    "summary": "Restore a version of a document",
    "description": "Makes the text of a kept version current again, as a new version.",
    "isDestructive": false,
    "parameters": [
      {
        "field": "id",
        "name": "id",
        "isArgument": true,
        "isRequired": true,
        "type": "text",
        "description": "The document's id"
      },
      {
        "field": "number",
        "name": "number",
        "isArgument": true,
        "isRequired": true,
        "type": "number",
        "description": ""
      }
    ]
  },
  {
    "procedure": "knowledge.search",
    "words": [
      "knowledge",
      "search"
    ],
    "kind": "query",
    "summary": "Search Company Knowledge",
    "description": "Answers a question from the documents. Every line of `answer` ends in the numbers of its citations, as `[n]`, and every `quote` stands literally in its document. If no document answers the question, there is no citation.",
    "isDestructive": false,
    "parameters": [
      {
        "field": "query",
        "name": "query",
        "isArgument": true,
        "isRequired": true,
        "type": "text",
        "description": "A question, or a few words"
      },
      {
        "field": "kind",
        "name": "kind",
        "isArgument": false,
        "isRequired": false,
        "type": "text",
        "choices": [
          "policy",
          "pricing",
          "brand",
          "sop",
          "faq"
        ],
        "description": ""
      },
      {
        "field": "limit",
        "name": "limit",
        "isArgument": false,
        "isRequired": false,
        "type": "number",
        "description": "Maximum number of citations; default 5"
      }
    ]
  },
  {
    "procedure": "knowledge.versions",
    "words": [
      "knowledge",
      "versions"
    ],
    "kind": "query",
    "summary": "List the versions of a document",
    "description": "The kept versions, the newest first. The newest 20 are kept.",
    "isDestructive": false,
    "parameters": [
      {
        "field": "id",
        "name": "id",
        "isArgument": true,
        "isRequired": true,
        "type": "text",
        "description": "The document's id"
      }
    ]
  },
  {
    "procedure": "memories.correct",
    "words": [
      "memories",
      "correct"
    ],
    "kind": "mutation",
    "summary": "Correct a memory",
    "description": "Replaces the content or the kind of a memory.",
    "isDestructive": false,
    "parameters": [
      {
        "field": "id",
        "name": "id",
        "isArgument": true,
        "isRequired": true,
        "type": "text",
        "description": "The agent's id"
      },
      {
        "field": "memory_id",
        "name": "memory-id",
        "isArgument": true,
        "isRequired": true,
        "type": "text",
        "description": "The memory's id"
      },
      {
        "field": "content",
        "name": "content",
        "isArgument": false,
        "isRequired": false,
        "type": "text",
        "description": "One statement, at most 4000 characters"
      },
      {
        "field": "kind",
        "name": "kind",
        "isArgument": false,
        "isRequired": false,
        "type": "text",
        "choices": [
          "preference",
          "commitment",
          "fact"
        ],
        "description": ""
      }
    ]
  },
  {
    "procedure": "memories.delete",
    "words": [
      "memories",
      "delete"
    ],
    "kind": "mutation",
    "summary": "Delete a memory",
    "description": "The agent does not recall it any more.",
    "isDestructive": true,
    "parameters": [
      {
        "field": "id",
        "name": "id",
        "isArgument": true,
        "isRequired": true,
        "type": "text",
        "description": "The agent's id"
      },
      {
        "field": "memory_id",
        "name": "memory-id",
        "isArgument": true,
        "isRequired": true,
        "type": "text",
        "description": "The memory's id"
      }
    ]
  },
  {
    "procedure": "memories.deleteAll",
    "words": [
      "memories",
      "delete-all"
    ],
    "kind": "mutation",
    "summary": "Delete all memories of an agent",
    "description": "Export them before, if they may be needed again.",
    "isDestructive": true,
    "parameters": [
      {
        "field": "id",
        "name": "id",
        "isArgument": true,
        "isRequired": true,
        "type": "text",
        "description": "The agent's id"
      }
    ]
  },
  {
    "procedure": "memories.export",
    "words": [
      "memories",
      "export"
    ],
    "kind": "query",
    "summary": "Export the memories of an agent",
    "description": "All memories of an agent, the latest created first. Only beyond 2,000 memories or 4 MB there is a further page.",
    "isDestructive": false,
    "parameters": [
      {
        "field": "id",
        "name": "id",
        "isArgument": true,
        "isRequired": true,
        "type": "text",
        "description": "The agent's id"
      },
      {
        "field": "cursor",
        "name": "cursor",
        "isArgument": false,
        "isRequired": false,
        "type": "text",
        "description": "`next_cursor` of the previous page"
      }
    ]
  },
  {
    "procedure": "memories.get",
    "words": [
      "memories",
      "get"
    ],
    "kind": "query",
    "summary": "Get a memory",
    "description": "One memory of an agent.",
    "isDestructive": false,
    "parameters": [
      {
        "field": "id",
        "name": "id",
        "isArgument": true,
        "isRequired": true,
        "type": "text",
        "description": "The agent's id"
      },
      {
        "field": "memory_id",
        "name": "memory-id",
        "isArgument": true,
        "isRequired": true,
        "type": "text",
        "description": "The memory's id"
      }
    ]
  },
  {
    "procedure": "memories.list",
    "words": [
      "memories",
      "list"
    ],
    "kind": "query",
    "summary": "List the memories of an agent",
    "description": "The memories of an agent, the latest created first.",
    "isDestructive": false,
    "parameters": [
      {
        "field": "id",
        "name": "id",
        "isArgument": true,
        "isRequired": true,
        "type": "text",
        "description": "The agent's id"
      },
      {
        "field": "kind",
        "name": "kind",
        "isArgument": false,
        "isRequired": false,
        "type": "text",
        "choices": [
          "preference",
          "commitment",
          "fact"
        ],
        "description": "Only memories of this kind"
      },
      {
        "field": "limit",
        "name": "limit",
        "isArgument": false,
        "isRequired": false,
        "type": "number",
        "description": "Maximum number; 50 by default"
      },
      {
        "field": "cursor",
        "name": "cursor",
        "isArgument": false,
        "isRequired": false,
        "type": "text",
        "description": "`next_cursor` of the previous page"
      }
    ]
  },
  {
    "procedure": "memories.search",
    "words": [
      "memories",
      "search"
    ],
    "kind": "query",
    "summary": "Search the memories of an agent",
    "description": "The memories that match `q`, the most relevant first, and of equally relevant ones the latest first. The list is empty if none matches.",
    "isDestructive": false,
    "parameters": [
      {
        "field": "id",
        "name": "id",
        "isArgument": true,
        "isRequired": true,
        "type": "text",
        "description": "The agent's id"
      },
      {
        "field": "q",
        "name": "q",
        "isArgument": true,
        "isRequired": true,
        "type": "text",
        "description": "Words, or a question"
      },
      {
        "field": "kind",
        "name": "kind",
        "isArgument": false,
        "isRequired": false,
        "type": "text",
        "choices": [
          "preference",
          "commitment",
          "fact"
        ],
        "description": "Only memories of this kind"
      },
      {
        "field": "limit",
        "name": "limit",
        "isArgument": false,
        "isRequired": false,
        "type": "number",
        "description": "Maximum number; 20 by default"
      }
    ]
  },
  {
    "procedure": "memories.store",
    "words": [
      "memories",
      "store"
    ],
    "kind": "mutation",
    "summary": "Store a memory",
    "description": "Stores a memory of an agent. A content that the agent has already is not stored twice: `status` is `duplicate` for the same text, and `updated` if an existing memory got the new wording or kind.",
    "isDestructive": false,
    "parameters": [
      {
        "field": "id",
        "name": "id",
        "isArgument": true,
        "isRequired": true,
        "type": "text",
        "description": "The agent's id"
      },
      {
        "field": "content",
        "name": "content",
        "isArgument": false,
        "isRequired": true,
        "type": "text",
        "description": "One statement, at most 4000 characters"
      },
      {
        "field": "kind",
        "name": "kind",
        "isArgument": false,
        "isRequired": true,
        "type": "text",
        "choices": [
          "preference",
          "commitment",
          "fact"
        ],
        "description": ""
      },
      {
        "field": "replaces",
        "name": "replaces",
        "isArgument": false,
        "isRequired": false,
        "type": "text",
        "description": "The memory_id of a memory that is no longer correct"
      }
    ]
  },
  {
    "procedure": "oauthConnections.list",
    "words": [
      "oauth-connections",
      "list"
    ],
    "kind": "query",
    "summary": "List the programs that have access to your account",
    "description": "",
    "isDestructive": false,
    "parameters": []
  },
  {
    "procedure": "oauthConnections.revoke",
    "words": [
      "oauth-connections",
      "revoke"
    ],
    "kind": "mutation",
    "summary": "Revoke the access of a program to your account",
    "description": "",
    "isDestructive": false,
    "parameters": [
      {
        "field": "id",
        "name": "id",
        "isArgument": true,
        "isRequired": true,
        "type": "text",
        "description": ""
      }
    ]
  },
  {
    "procedure": "procedures.invoke",
    "words": [
      "procedures",
      "invoke"
    ],
    "kind": "mutation",
    "summary": "Call a procedure of an app",
    "description": "",
    "isDestructive": false,
    "parameters": [
      {
        "field": "app",
        "name": "app",
        "isArgument": false,
        "isRequired": true,
        "type": "text",
        "description": "The app's slug"
      },
      {
        "field": "procedure",
        "name": "procedure",
        "isArgument": false,
        "isRequired": true,
        "type": "text",
        "description": "The procedure's dotted name"
      },
      {
        "field": "input",
        "name": "input",
        "isArgument": false,
        "isRequired": false,
        "type": "json",
        "description": "The input of the procedure; default {}"
      }
    ]
  },
  {
    "procedure": "procedures.search",
    "words": [
      "procedures",
      "search"
    ],
    "kind": "query",
    "summary": "Search app procedures",
    "description": "",
    "isDestructive": false,
    "parameters": [
      {
        "field": "query",
        "name": "query",
        "isArgument": true,
        "isRequired": true,
        "type": "text",
        "description": "What the procedure should do, in a few words"
      },
      {
        "field": "limit",
        "name": "limit",
        "isArgument": false,
        "isRequired": false,
        "type": "number",
        "description": "Maximum number of hits; default 8"
      },
      {
        "field": "app",
        "name": "app",
        "isArgument": false,
        "isRequired": false,
        "type": "text",
        "description": "Search only the app with this slug"
      }
    ]
  },
  {
    "procedure": "projectDocuments.add",
    "words": [
      "project-documents",
      "add"
    ],
    "kind": "mutation",
    "summary": "Add a document to a project",
    "description": "Adds a text, or a file with Markdown, text, HTML, PDF or DOCX. A file with the `name` of an earlier upload to the project becomes a new version of that document.",
    "isDestructive": false,
    "parameters": [
      {
        "field": "id",
        "name": "id",
        "isArgument": true,
        "isRequired": true,
        "type": "text",
        "description": "The project's id"
      },
      {
        "field": "title",
        "name": "title",
        "isArgument": false,
        "isRequired": false,
        "type": "text",
        "description": "By default what the document calls itself"
      },
      {
        "field": "language",
        "name": "language",
        "isArgument": false,
        "isRequired": false,
        "type": "text",
        "choices": [
          "english",
          "simple",
          "arabic",
          "armenian",
          "bulgarian",
          "danish",
          "dutch",
          "finnish",
          "french",
          "german",
          "greek",
          "hindi",
          "hungarian",
          "indonesian",
          "irish",
          "italian",
          "lithuanian",
          "nepali",
          "norwegian",
          "portuguese",
          "romanian",
          "russian",
          "sanskrit",
          "serbian",
          "spanish",
          "swedish",
          "tamil",
          "turkish",
          "ukrainian"
        ],
        "description": "By default english; `simple` for several languages"
      },
      {
        "field": "content",
        "name": "content",
        "isArgument": false,
        "isRequired": false,
        "type": "text",
        "description": "The text as Markdown"
      },
      {
        "field": "file",
        "name": "file",
        "isArgument": false,
        "isRequired": false,
        "type": "json",
        "description": "Markdown, text, HTML, PDF or DOCX, instead of `content`"
      }
    ]
  },
  {
    "procedure": "projectDocuments.change",
    "words": [
      "project-documents",
      "change"
    ],
    "kind": "mutation",
    "summary": "Change a document of a project",
    "description": "Replaces the text, from `content` or `file`, and changes the title or the language. A new text becomes a new version. The same text again changes nothing.",
    "isDestructive": false,
    "parameters": [
      {
        "field": "id",
        "name": "id",
        "isArgument": true,
        "isRequired": true,
        "type": "text",
        "description": "The project's id"
      },
      {
        "field": "document_id",
        "name": "document-id",
        "isArgument": true,
        "isRequired": true,
        "type": "text",
        "description": "The document's id"
      },
      {
        "field": "title",
        "name": "title",
        "isArgument": false,
        "isRequired": false,
        "type": "text",
        "description": "By default what the document calls itself"
      },
      {
        "field": "language",
        "name": "language",
        "isArgument": false,
        "isRequired": false,
        "type": "text",
        "choices": [
          "english",
          "simple",
          "arabic",
          "armenian",
          "bulgarian",
          "danish",
          "dutch",
          "finnish",
          "french",
          "german",
          "greek",
          "hindi",
          "hungarian",
          "indonesian",
          "irish",
          "italian",
          "lithuanian",
          "nepali",
          "norwegian",
          "portuguese",
          "romanian",
          "russian",
          "sanskrit",
          "serbian",
          "spanish",
          "swedish",
          "tamil",
          "turkish",
          "ukrainian"
        ],
        "description": "By default english; `simple` for several languages"
      },
      {
        "field": "content",
        "name": "content",
        "isArgument": false,
        "isRequired": false,
        "type": "text",
        "description": "The text as Markdown"
      },
      {
        "field": "file",
        "name": "file",
        "isArgument": false,
        "isRequired": false,
        "type": "json",
        "description": "Markdown, text, HTML, PDF or DOCX, instead of `content`"
      }
    ]
  },
  {
    "procedure": "projectDocuments.delete",
    "words": [
      "project-documents",
      "delete"
    ],
    "kind": "mutation",
    "summary": "Delete a document of a project",
    "description": "Deletes a document with its versions. The search no longer finds it.",
    "isDestructive": true,
    "parameters": [
      {
        "field": "id",
        "name": "id",
        "isArgument": true,
        "isRequired": true,
        "type": "text",
        "description": "The project's id"
      },
      {
        "field": "document_id",
        "name": "document-id",
        "isArgument": true,
        "isRequired": true,
        "type": "text",
        "description": "The document's id"
      }
    ]
  },
  {
    "procedure": "projectDocuments.get",
    "words": [
      "project-documents",
      "get"
    ],
    "kind": "query",
    "summary": "Read a document of a project",
    "description": "The text of a document as Markdown, in parts of at most one MiB. With `version`, of a kept version.",
    "isDestructive": false,
    "parameters": [
      {
        "field": "id",
        "name": "id",
        "isArgument": true,
        "isRequired": true,
        "type": "text",
        "description": "The project's id"
      },
      {
        "field": "document_id",
        "name": "document-id",
        "isArgument": true,
        "isRequired": true,
        "type": "text",
        "description": "The document's id"
      },
      {
        "field": "version",
        "name": "version",
        "isArgument": false,
        "isRequired": false,
        "type": "number",
        "description": "A kept version; by default the current one"
      },
      {
        "field": "offset",
        "name": "offset",
        "isArgument": false,
        "isRequired": false,
        "type": "number",
        "description": "`next_offset` of the previous part; default 0"
      }
    ]
  },
  {
    "procedure": "projectDocuments.list",
    "words": [
      "project-documents",
      "list"
    ],
    "kind": "query",
    "summary": "List the documents of a project",
    "description": "The documents of a project, by title, without their texts.",
    "isDestructive": false,
    "parameters": [
      {
        "field": "id",
        "name": "id",
        "isArgument": true,
        "isRequired": true,
        "type": "text",
        "description": "The project's id"
      },
      {
        "field": "limit",
        "name": "limit",
        "isArgument": false,
        "isRequired": false,
        "type": "number",
        "description": "Maximum number; 50 by default"
      },
      {
        "field": "cursor",
        "name": "cursor",
        "isArgument": false,
        "isRequired": false,
        "type": "text",
        "description": "`next_cursor` of the previous page"
      }
    ]
  },
  {
    "procedure": "projectDocuments.restore",
    "words": [
      "project-documents",
      "restore"
    ],
    "kind": "mutation",
    "summary": "Restore a version of a project's document",
    "description": "Makes the text of a kept version current again, as a new version.",
    "isDestructive": false,
    "parameters": [
      {
        "field": "id",
        "name": "id",
        "isArgument": true,
        "isRequired": true,
        "type": "text",
        "description": "The project's id"
      },
      {
        "field": "document_id",
        "name": "document-id",
        "isArgument": true,
        "isRequired": true,
        "type": "text",
        "description": "The document's id"
      },
      {
        "field": "number",
        "name": "number",
        "isArgument": true,
        "isRequired": true,
        "type": "number",
        "description": ""
      }
    ]
  },
  {
    "procedure": "projectDocuments.versions",
    "words": [
      "project-documents",
      "versions"
    ],
    "kind": "query",
    "summary": "List the versions of a project's document",
    "description": "The kept versions, the newest first. The newest 20 are kept.",
    "isDestructive": false,
    "parameters": [
      {
        "field": "id",
        "name": "id",
        "isArgument": true,
        "isRequired": true,
        "type": "text",
        "description": "The project's id"
      },
      {
        "field": "document_id",
        "name": "document-id",
        "isArgument": true,
        "isRequired": true,
        "type": "text",
        "description": "The document's id"
      }
    ]
  },
  {
    "procedure": "projects.create",
    "words": [
      "projects",
      "create"
    ],
    "kind": "mutation",
    "summary": "Create a project",
    "description": "Creates a project: a place for the documents of one client, engagement or capability. Only the agents on which it is mounted can search it.",
    "isDestructive": false,
    "parameters": [
      {
        "field": "name",
        "name": "name",
        "isArgument": false,
        "isRequired": true,
        "type": "text",
        "description": "Unique in the organization: one line of at most 100 characters"
      },
      {
        "field": "kind",
        "name": "kind",
        "isArgument": false,
        "isRequired": true,
        "type": "text",
        "choices": [
          "client",
          "engagement",
          "capability"
        ],
        "description": ""
      },
      {
        "field": "description",
        "name": "description",
        "isArgument": false,
        "isRequired": false,
        "type": "text",
        "description": "What agents find in the project, at most 500 characters"
      },
      {
        "field": "agent_ids",
        "name": "agent-ids",
        "isArgument": false,
        "isRequired": false,
        "type": "texts",
        "description": "The agents on which the project is mounted"
      }
    ]
  },
  {
    "procedure": "projects.delete",
    "words": [
      "projects",
      "delete"
    ],
    "kind": "mutation",
    "summary": "Delete a project",
    "description": "Deletes a project with all its documents.",
    "isDestructive": true,
    "parameters": [
      {
        "field": "id",
        "name": "id",
        "isArgument": true,
        "isRequired": true,
        "type": "text",
        "description": "The project's id"
      }
    ]
  },
  {
    "procedure": "projects.get",
    "words": [
      "projects",
      "get"
    ],
    "kind": "query",
    "summary": "Get a project",
    "description": "A project with the agents on which it is mounted.",
    "isDestructive": false,
    "parameters": [
      {
        "field": "id",
        "name": "id",
        "isArgument": true,
        "isRequired": true,
        "type": "text",
        "description": "The project's id"
      }
    ]
  },
  {
    "procedure": "projects.list",
    "words": [
      "projects",
      "list"
    ],
    "kind": "query",
    "summary": "List projects",
    "description": "The projects of the organization, or those that are mounted on one agent, by name.",
    "isDestructive": false,
    "parameters": [
      {
        "field": "kind",
        "name": "kind",
        "isArgument": false,
        "isRequired": false,
        "type": "text",
        "choices": [
          "client",
          "engagement",
          "capability"
        ],
        "description": "Only projects of this kind"
      },
      {
        "field": "agent_id",
        "name": "agent-id",
        "isArgument": false,
        "isRequired": false,
        "type": "text",
        "description": "Only projects that are mounted on this agent"
      },
      {
        "field": "limit",
        "name": "limit",
        "isArgument": false,
        "isRequired": false,
        "type": "number",
        "description": "Maximum number; 50 by default"
      },
      {
        "field": "cursor",
        "name": "cursor",
        "isArgument": false,
        "isRequired": false,
        "type": "text",
        "description": "`next_cursor` of the previous page"
      }
    ]
  },
  {
    "procedure": "projects.mount",
    "words": [
      "projects",
      "mount"
    ],
    "kind": "mutation",
    "summary": "Mount a project on an agent",
    "description": "The agent can search the project from now on. Repeating a call changes nothing.",
    "isDestructive": false,
    "parameters": [
      {
        "field": "id",
        "name": "id",
        "isArgument": true,
        "isRequired": true,
        "type": "text",
        "description": "The project's id"
      },
      {
        "field": "agent_id",
        "name": "agent-id",
        "isArgument": true,
        "isRequired": true,
        "type": "text",
        "description": "The agent's id"
      }
    ]
  },
  {
    "procedure": "projects.search",
    "words": [
      "projects",
      "search"
    ],
    "kind": "query",
    "summary": "Search a project",
    "description": "The documents of the project that match `q`, with the passage that matches best. The list is empty if none matches.",
    "isDestructive": false,
    "parameters": [
      {
        "field": "id",
        "name": "id",
        "isArgument": true,
        "isRequired": true,
        "type": "text",
        "description": "The project's id"
      },
      {
        "field": "q",
        "name": "q",
        "isArgument": true,
        "isRequired": true,
        "type": "text",
        "description": "Words, or a question"
      },
      {
        "field": "limit",
        "name": "limit",
        "isArgument": false,
        "isRequired": false,
        "type": "number",
        "description": "Maximum number; 10 by default"
      }
    ]
  },
  {
    "procedure": "projects.unmount",
    "words": [
      "projects",
      "unmount"
    ],
    "kind": "mutation",
    "summary": "Unmount a project from an agent",
    "description": "The agent cannot search the project any more. Repeating a call changes nothing.",
    "isDestructive": true,
    "parameters": [
      {
        "field": "id",
        "name": "id",
        "isArgument": true,
        "isRequired": true,
        "type": "text",
        "description": "The project's id"
      },
      {
        "field": "agent_id",
        "name": "agent-id",
        "isArgument": true,
        "isRequired": true,
        "type": "text",
        "description": "The agent's id"
      }
    ]
  },
  {
    "procedure": "projects.update",
    "words": [
      "projects",
      "update"
    ],
    "kind": "mutation",
    "summary": "Update a project",
    "description": "Changes the fields that are sent.",
    "isDestructive": false,
    "parameters": [
      {
        "field": "id",
        "name": "id",
        "isArgument": true,
        "isRequired": true,
        "type": "text",
        "description": "The project's id"
      },
      {
        "field": "name",
        "name": "name",
        "isArgument": false,
        "isRequired": false,
        "type": "text",
        "description": "Unique in the organization: one line of at most 100 characters"
      },
      {
        "field": "kind",
        "name": "kind",
        "isArgument": false,
        "isRequired": false,
        "type": "text",
        "choices": [
          "client",
          "engagement",
          "capability"
        ],
        "description": ""
      },
      {
        "field": "description",
        "name": "description",
        "isArgument": false,
        "isRequired": false,
        "type": "text",
        "description": "What agents find in the project, at most 500 characters"
      }
    ]
  },
  {
    "procedure": "runtimeLogs.list",
    "words": [
      "runtime-logs",
      "list"
    ],
    "kind": "query",
    "summary": "Read what an app has printed",
    "description": "Messages of `console`, uncaught exceptions, and why the app was stopped, newest first. The newest megabyte of an app is kept. If an app prints more than 100 messages or 32 KiB a second, some are dropped, and a message says how many.",
    "isDestructive": false,
    "parameters": [
      {
        "field": "id",
        "name": "app",
        "isArgument": true,
        "isRequired": true,
        "type": "app",
        "description": "The app's id"
      },
      {
        "field": "since",
        "name": "since",
        "isArgument": false,
        "isRequired": false,
        "type": "text",
        "description": "Only messages at this time or later"
      },
      {
        "field": "level",
        "name": "level",
        "isArgument": false,
        "isRequired": false,
        "type": "text",
        "choices": [
          "debug",
          "info",
          "warn",
          "error"
        ],
        "description": "Only messages of this level or a higher one"
      },
      {
        "field": "limit",
        "name": "limit",
        "isArgument": false,
        "isRequired": false,
        "type": "number",
        "description": "Maximum number of messages to return; default 100"
      },
      {
        "field": "cursor",
        "name": "cursor",
        "isArgument": false,
        "isRequired": false,
        "type": "text",
        "description": "next_cursor of the previous page, which had the same filters"
      }
    ]
  },
  {
    "procedure": "servers.create",
    "words": [
      "servers",
      "create"
    ],
    "kind": "mutation",
    "summary": "Create a server",
    "description": "Creates a server with its main agent. Only this response contains the gateway token of the agent, and the configuration with which a client of the agent uses it. With the kind `openclaw`, the agents are those of an OpenClaw gateway, to which the service connects afterwards.",
    "isDestructive": false,
    "parameters": [
      {
        "field": "name",
        "name": "name",
        "isArgument": true,
        "isRequired": true,
        "type": "text",
        "description": "One line of 1 to 100 characters"
      },
      {
        "field": "kind",
        "name": "kind",
        "isArgument": false,
        "isRequired": false,
        "type": "text",
        "choices": [
          "managed",
          "openclaw"
        ],
        "description": "`managed` by default"
      },
      {
        "field": "url",
        "name": "url",
        "isArgument": false,
        "isRequired": false,
        "type": "text",
        "description": "The WebSocket URL of an OpenClaw gateway"
      },
      {
        "field": "token",
        "name": "token",
        "isArgument": false,
        "isRequired": false,
        "type": "text",
        "description": "The token of the gateway. It is stored encrypted, and no response has it"
      },
      {
        "field": "agent_name",
        "name": "agent-name",
        "isArgument": false,
        "isRequired": false,
        "type": "text",
        "description": "One line of 1 to 100 characters"
      },
      {
        "field": "model",
        "name": "model",
        "isArgument": false,
        "isRequired": false,
        "type": "text",
        "description": "The agent's language model"
      }
    ]
  },
  {
    "procedure": "servers.delete",
    "words": [
      "servers",
      "delete"
    ],
    "kind": "mutation",
    "summary": "Delete a server",
    "description": "Deletes a server with its agents and their instructions, and revokes their tokens immediately.",
    "isDestructive": true,
    "parameters": [
      {
        "field": "id",
        "name": "id",
        "isArgument": true,
        "isRequired": true,
        "type": "text",
        "description": "The server's id"
      }
    ]
  },
  {
    "procedure": "servers.list",
    "words": [
      "servers",
      "list"
    ],
    "kind": "query",
    "summary": "List servers and their agents",
    "description": "The servers of the organization, oldest first. Each has a main agent, which nests the specialized agents of the server.",
    "isDestructive": false,
    "parameters": [
      {
        "field": "limit",
        "name": "limit",
        "isArgument": false,
        "isRequired": false,
        "type": "number",
        "description": "Maximum number of servers; default 50"
      },
      {
        "field": "cursor",
        "name": "cursor",
        "isArgument": false,
        "isRequired": false,
        "type": "text",
        "description": "next_cursor of the previous page"
      }
    ]
  },
  {
    "procedure": "servers.update",
    "words": [
      "servers",
      "update"
    ],
    "kind": "mutation",
    "summary": "Update a server",
    "description": "Changes the name of a server, or the URL and the token of its OpenClaw gateway. Its id and its agents stay.",
    "isDestructive": false,
    "parameters": [
      {
        "field": "id",
        "name": "id",
        "isArgument": true,
        "isRequired": true,
        "type": "text",
        "description": "The server's id"
      },
      {
        "field": "name",
        "name": "name",
        "isArgument": false,
        "isRequired": false,
        "type": "text",
        "description": "One line of 1 to 100 characters"
      },
      {
        "field": "url",
        "name": "url",
        "isArgument": false,
        "isRequired": false,
        "type": "text",
        "description": "The WebSocket URL of an OpenClaw gateway"
      },
      {
        "field": "token",
        "name": "token",
        "isArgument": false,
        "isRequired": false,
        "type": "text",
        "description": "The token of the gateway. It is stored encrypted, and no response has it"
      }
    ]
  },
  {
    "procedure": "sessions.append",
    "words": [
      "sessions",
      "append"
    ],
    "kind": "mutation",
    "summary": "Append entries to a session",
    "description": "Appends up to 1,000 entries to the transcript, in one transaction. An entry whose `id` the session already has is left out, so the call can be repeated. Stored entries are never changed.",
    "isDestructive": false,
    "parameters": [
      {
        "field": "id",
        "name": "id",
        "isArgument": true,
        "isRequired": true,
        "type": "text",
        "description": "The session's id"
      },
      {
        "field": "entries",
        "name": "entries",
        "isArgument": false,
        "isRequired": true,
        "type": "json",
        "description": ""
      }
    ]
  },
  {
    "procedure": "sessions.close",
    "words": [
      "sessions",
      "close"
    ],
    "kind": "mutation",
    "summary": "Close a session",
    "description": "No entries can be appended to a closed session. Closing it again changes nothing.",
    "isDestructive": false,
    "parameters": [
      {
        "field": "id",
        "name": "id",
        "isArgument": true,
        "isRequired": true,
        "type": "text",
        "description": "The session's id"
      }
    ]
  },
  {
    "procedure": "sessions.delete",
    "words": [
      "sessions",
      "delete"
    ],
    "kind": "mutation",
    "summary": "Delete a session",
    "description": "Deletes a session with its transcript. The usage that it was counted in stays.",
    "isDestructive": true,
    "parameters": [
      {
        "field": "id",
        "name": "id",
        "isArgument": true,
        "isRequired": true,
        "type": "text",
        "description": "The session's id"
      }
    ]
  },
  {
    "procedure": "sessions.get",
    "words": [
      "sessions",
      "get"
    ],
    "kind": "query",
    "summary": "Get a session",
    "description": "A session with its counters, without its transcript.",
    "isDestructive": false,
    "parameters": [
      {
        "field": "id",
        "name": "id",
        "isArgument": true,
        "isRequired": true,
        "type": "text",
        "description": "The session's id"
      }
    ]
  },
  {
    "procedure": "sessions.list",
    "words": [
      "sessions",
      "list"
    ],
    "kind": "query",
    "summary": "List sessions",
    "description": "The sessions of a server, or of one of its agents, the latest updated first.",
    "isDestructive": false,
    "parameters": [
      {
        "field": "server_id",
        "name": "server-id",
        "isArgument": false,
        "isRequired": false,
        "type": "text",
        "description": "By default the server of the agent, or the first server"
      },
      {
        "field": "agent_id",
        "name": "agent-id",
        "isArgument": false,
        "isRequired": false,
        "type": "text",
        "description": "By default all agents of the server"
      },
      {
        "field": "limit",
        "name": "limit",
        "isArgument": false,
        "isRequired": false,
        "type": "number",
        "description": "Maximum number; default 20"
      },
      {
        "field": "cursor",
        "name": "cursor",
        "isArgument": false,
        "isRequired": false,
        "type": "text",
        "description": "`next_cursor` of the previous page"
      }
    ]
  },
  {
    "procedure": "sessions.open",
    "words": [
      "sessions",
      "open"
    ],
    "kind": "mutation",
    "summary": "Open a session",
    "description": "Opens a session of an agent. The same `external_id` again returns the same session, unchanged, so the call can be repeated.",
    "isDestructive": false,
    "parameters": [
      {
        "field": "id",
        "name": "id",
        "isArgument": true,
        "isRequired": true,
        "type": "text",
        "description": "The agent's id"
      },
      {
        "field": "external_id",
        "name": "external-id",
        "isArgument": true,
        "isRequired": true,
        "type": "text",
        "description": "Your id of the session, unique for the agent: 1 to 128 visible ASCII characters"
      },
      {
        "field": "title",
        "name": "title",
        "isArgument": false,
        "isRequired": false,
        "type": "text",
        "description": "One line of at most 200 characters"
      },
      {
        "field": "created_at",
        "name": "created-at",
        "isArgument": false,
        "isRequired": false,
        "type": "text",
        "description": "When the session began, if that was earlier"
      }
    ]
  },
  {
    "procedure": "sessions.search",
    "words": [
      "sessions",
      "search"
    ],
    "kind": "query",
    "summary": "Search transcripts",
    "description": "The entries of a server's sessions, or of those of one of its agents, that contain all words of `q` in their first 2,048 characters. The session that was updated last comes first, and in a session the last entry. Case does not matter.",
    "isDestructive": false,
    "parameters": [
      {
        "field": "q",
        "name": "q",
        "isArgument": true,
        "isRequired": true,
        "type": "text",
        "description": "Words, \"phrases\", `or` and `-word`: at most 10000 characters, of which the first 100 words are used"
      },
      {
        "field": "server_id",
        "name": "server-id",
        "isArgument": false,
        "isRequired": false,
        "type": "text",
        "description": "By default the server of the agent, or the first server"
      },
      {
        "field": "agent_id",
        "name": "agent-id",
        "isArgument": false,
        "isRequired": false,
        "type": "text",
        "description": "By default all agents of the server"
      },
      {
        "field": "limit",
        "name": "limit",
        "isArgument": false,
        "isRequired": false,
        "type": "number",
        "description": "Maximum number; default 20"
      },
      {
        "field": "cursor",
        "name": "cursor",
        "isArgument": false,
        "isRequired": false,
        "type": "text",
        "description": "`next_cursor` of the previous page"
      }
    ]
  },
  {
    "procedure": "sessions.transcript",
    "words": [
      "sessions",
      "transcript"
    ],
    "kind": "query",
    "summary": "Read the transcript of a session",
    "description": "The last entries of the transcript, in its order. To read further back, pass `before` of the response. A page has at most 1 MiB of content, or one entry.",
    "isDestructive": false,
    "parameters": [
      {
        "field": "id",
        "name": "id",
        "isArgument": true,
        "isRequired": true,
        "type": "text",
        "description": "The session's id"
      },
      {
        "field": "server_id",
        "name": "server-id",
        "isArgument": false,
        "isRequired": false,
        "type": "text",
        "description": "By default the server that stores the session. A session in OpenClaw requires it"
      },
      {
        "field": "limit",
        "name": "limit",
        "isArgument": false,
        "isRequired": false,
        "type": "number",
        "description": "Maximum number; default 50"
      },
      {
        "field": "before",
        "name": "before",
        "isArgument": false,
        "isRequired": false,
        "type": "number",
        "description": "`before` of the previous response"
      }
    ]
  },
  {
    "procedure": "sessions.usage",
    "words": [
      "sessions",
      "usage"
    ],
    "kind": "query",
    "summary": "Get the usage of a server's sessions",
    "description": "The entries and tokens of one month, of a server and of each of its agents. Entries count in the month of their `created_at`. Deleted sessions stay counted, and deleted agents do not. Months are kept for a year.",
    "isDestructive": false,
    "parameters": [
      {
        "field": "id",
        "name": "id",
        "isArgument": true,
        "isRequired": true,
        "type": "text",
        "description": "The server's id"
      },
      {
        "field": "period",
        "name": "period",
        "isArgument": false,
        "isRequired": false,
        "type": "text",
        "description": "A month (UTC); by default the current one"
      }
    ]
  },
  {
    "procedure": "skills.delete",
    "words": [
      "skills",
      "delete"
    ],
    "kind": "mutation",
    "summary": "Delete a skill",
    "description": "Deletes a skill with its files, for all agents.",
    "isDestructive": true,
    "parameters": [
      {
        "field": "name",
        "name": "name",
        "isArgument": true,
        "isRequired": true,
        "type": "text",
        "description": "The skill's name"
      }
    ]
  },
  {
    "procedure": "skills.files",
    "words": [
      "skills",
      "files"
    ],
    "kind": "query",
    "summary": "Read the files of a skill",
    "description": "The contents of all files in the form in which they are uploaded. With `path`, of one file.",
    "isDestructive": false,
    "parameters": [
      {
        "field": "name",
        "name": "name",
        "isArgument": true,
        "isRequired": true,
        "type": "text",
        "description": "The skill's name"
      },
      {
        "field": "path",
        "name": "path",
        "isArgument": false,
        "isRequired": false,
        "type": "text",
        "description": "Relative to the folder of the skill"
      }
    ]
  },
  {
    "procedure": "skills.get",
    "words": [
      "skills",
      "get"
    ],
    "kind": "query",
    "summary": "Get a skill",
    "description": "A skill with what its SKILL.md declares, and the paths and sizes of its files.",
    "isDestructive": false,
    "parameters": [
      {
        "field": "name",
        "name": "name",
        "isArgument": true,
        "isRequired": true,
        "type": "text",
        "description": "The skill's name"
      }
    ]
  },
  {
    "procedure": "skills.list",
    "words": [
      "skills",
      "list"
    ],
    "kind": "query",
    "summary": "List skills",
    "description": "The skills of the organization, by name.",
    "isDestructive": false,
    "parameters": [
      {
        "field": "limit",
        "name": "limit",
        "isArgument": false,
        "isRequired": false,
        "type": "number",
        "description": "Maximum number of skills; default 50"
      },
      {
        "field": "cursor",
        "name": "cursor",
        "isArgument": false,
        "isRequired": false,
        "type": "text",
        "description": "`next_cursor` of the previous page"
      }
    ]
  },
  {
    "procedure": "skills.upload",
    "words": [
      "skills",
      "upload"
    ],
    "kind": "mutation",
    "summary": "Upload a skill",
    "description": "Stores a folder with a SKILL.md as a skill of the organization: from `files`, from a zip file, or from a repository. A skill of the same name is replaced as a whole, and stays enabled for the agents for which it was. A new skill is enabled for no agent but those in `agent_ids`.",
    "isDestructive": false,
    "parameters": [
      {
        "field": "name",
        "name": "name",
        "isArgument": true,
        "isRequired": true,
        "type": "text",
        "description": "The skill's name"
      },
      {
        "field": "files",
        "name": "files",
        "isArgument": false,
        "isRequired": false,
        "type": "json",
        "description": "The files of the skill"
      },
      {
        "field": "archive",
        "name": "archive",
        "isArgument": false,
        "isRequired": false,
        "type": "text",
        "description": "A zip file of the folder in base64, instead of `files`"
      },
      {
        "field": "repo",
        "name": "repo",
        "isArgument": false,
        "isRequired": false,
        "type": "text",
        "description": "A repository that contains the folder, as owner/name, instead of `files`"
      },
      {
        "field": "branch",
        "name": "branch",
        "isArgument": false,
        "isRequired": false,
        "type": "text",
        "description": "By default `main`, or the default branch of the repository"
      },
      {
        "field": "path",
        "name": "path",
        "isArgument": false,
        "isRequired": false,
        "type": "text",
        "description": "The folder of the skill in the repository; by default its root"
      },
      {
        "field": "agent_ids",
        "name": "agent-ids",
        "isArgument": false,
        "isRequired": false,
        "type": "texts",
        "description": "Agents for which to enable the skill"
      },
      {
        "field": "expected_hash",
        "name": "expected-hash",
        "isArgument": false,
        "isRequired": false,
        "type": "text",
        "isNullable": true,
        "description": "The `content_hash` that you have read, `null` for a new skill. If it is not the current one, nothing is stored"
      }
    ]
  },
  {
    "procedure": "tokens.issue",
    "words": [
      "tokens",
      "issue"
    ],
    "kind": "mutation",
    "summary": "Issue a token",
    "description": "Issues an API key, a personal access token or a gateway token. Only this response contains the token.",
    "isDestructive": false,
    "parameters": [
      {
        "field": "kind",
        "name": "kind",
        "isArgument": false,
        "isRequired": true,
        "type": "text",
        "choices": [
          "api_key",
          "personal_access_token",
          "gateway_token"
        ],
        "description": "`api_key`: REST, for the organization. `personal_access_token`: the tool gateway, for a user. `gateway_token`: the tool gateway, for one agent"
      },
      {
        "field": "name",
        "name": "name",
        "isArgument": false,
        "isRequired": true,
        "type": "text",
        "description": "A name for recognition, such as the purpose of the token"
      },
      {
        "field": "scope",
        "name": "scope",
        "isArgument": false,
        "isRequired": false,
        "type": "text",
        "choices": [
          "read",
          "deploy",
          "everything"
        ],
        "description": "`read`: Read apps, logs and usage, and call procedures of apps that only read. `deploy`: Also deploy, update and roll back apps. `everything`: Everything that your role permits; default \"everything\""
      },
      {
        "field": "expires_at",
        "name": "expires-at",
        "isArgument": false,
        "isRequired": false,
        "type": "text",
        "description": "Expiry. A token without an expiry is valid until it is revoked"
      },
      {
        "field": "agent_id",
        "name": "agent-id",
        "isArgument": false,
        "isRequired": false,
        "type": "text",
        "description": "The agent of a `gateway_token`; required for it, not allowed for other kinds"
      }
    ]
  },
  {
    "procedure": "tokens.list",
    "words": [
      "tokens",
      "list"
    ],
    "kind": "query",
    "summary": "List tokens",
    "description": "Lists the caller's personal access tokens. Owners, admins and API keys also get the API keys and gateway tokens of the organization. Newest first. Revoked tokens are not listed, and no response contains the secret of a token.",
    "isDestructive": false,
    "parameters": []
  },
  {
    "procedure": "tokens.revoke",
    "words": [
      "tokens",
      "revoke"
    ],
    "kind": "mutation",
    "summary": "Revoke a token",
    "description": "Revokes a token immediately and permanently.",
    "isDestructive": true,
    "parameters": [
      {
        "field": "id",
        "name": "id",
        "isArgument": true,
        "isRequired": true,
        "type": "text",
        "description": ""
      }
    ]
  },
  {
    "procedure": "tokens.rotate",
    "words": [
      "tokens",
      "rotate"
    ],
    "kind": "mutation",
    "summary": "Rotate a token",
    "description": "Issues a new token with the same permissions. The old token expires after the overlap.",
    "isDestructive": false,
    "parameters": [
      {
        "field": "id",
        "name": "id",
        "isArgument": true,
        "isRequired": true,
        "type": "text",
        "description": ""
      },
      {
        "field": "overlap",
        "name": "overlap",
        "isArgument": false,
        "isRequired": false,
        "type": "text",
        "choices": [
          "none",
          "hour",
          "day",
          "week"
        ],
        "description": "How long the previous token stays valid; default \"day\""
      }
    ]
  },
  {
    "procedure": "usage.get",
    "words": [
      "usage",
      "get"
    ],
    "kind": "query",
    "summary": "Get the plan and the usage",
    "description": "The plan of the organization, its used quotas, what remains of its rate limits, the activity of this month, and the storage of its apps.",
    "isDestructive": false,
    "parameters": []
  },
  {
    "procedure": "variables.delete",
    "words": [
      "variables",
      "delete"
    ],
    "kind": "mutation",
    "summary": "Delete a variable of an app",
    "description": "A running app restarts without the variable, as after a change of its value.",
    "isDestructive": true,
    "parameters": [
      {
        "field": "id",
        "name": "app",
        "isArgument": true,
        "isRequired": true,
        "type": "app",
        "description": "The app's id"
      },
      {
        "field": "name",
        "name": "name",
        "isArgument": true,
        "isRequired": true,
        "type": "text",
        "description": "The name of the variable. It matches `^[A-Z][A-Z0-9_]*$` and has at most 128 characters"
      }
    ]
  },
  {
    "procedure": "variables.list",
    "words": [
      "variables",
      "list"
    ],
    "kind": "query",
    "summary": "List the variables of an app",
    "description": "Every variable, by name. The values of secrets are not returned.",
    "isDestructive": false,
    "parameters": [
      {
        "field": "id",
        "name": "app",
        "isArgument": true,
        "isRequired": true,
        "type": "app",
        "description": "The app's id"
      }
    ]
  },
  {
    "procedure": "variables.set",
    "words": [
      "variables",
      "set"
    ],
    "kind": "mutation",
    "summary": "Set a variable of an app",
    "description": "Creates an environment variable or replaces its value. The script of the app gets it as a binding. A running app restarts with it, without a build; no request fails. The call waits for the restart. If that takes longer than ten seconds, the response has `is_applied: false`, and the service continues. A variable with `build: true` is in the environment of the next builds too. Repeating a call changes nothing.",
    "isDestructive": false,
    "parameters": [
      {
        "field": "id",
        "name": "app",
        "isArgument": true,
        "isRequired": true,
        "type": "app",
        "description": "The app's id"
      },
      {
        "field": "name",
        "name": "name",
        "isArgument": true,
        "isRequired": true,
        "type": "text",
        "description": "The name of the variable. It matches `^[A-Z][A-Z0-9_]*$` and has at most 128 characters"
      },
      {
        "field": "value",
        "name": "value",
        "isArgument": true,
        "isRequired": true,
        "type": "text",
        "description": "At most 32768 bytes"
      },
      {
        "field": "secret",
        "name": "secret",
        "isArgument": false,
        "isRequired": false,
        "type": "boolean",
        "description": "Whether to never return the value, and to mask it in logs; without it, as before, or `false`"
      },
      {
        "field": "build",
        "name": "build",
        "isArgument": false,
        "isRequired": false,
        "type": "boolean",
        "description": "Whether builds get the variable too; without it, as before, or `false`"
      }
    ]
  }
];
