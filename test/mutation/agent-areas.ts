import type { MutationArea } from "./mutation-area.ts";

/** Agents and their servers, what they have been instructed, and what they can do. */
export const AGENT_AREAS: MutationArea[] = [
  {
    name: "domain/agents",
    sources: [
      "domain/agents/{create-agent,create-server,delete-agent,update-agent,update-server}.ts",
      "domain/agents/{agent-view,find-agent,find-server,get-agent,list-servers}.ts",
      "domain/agents/gateway-connection-rules.ts",
    ],
    tests: [
      "test/domain/agents/{create-server,delete-agent,delete-server,find-agent,list-servers,open-host,update-server}.test.ts",
      "test/rest/agents.test.ts",
    ],
  },
  {
    name: "domain/agents, instructions",
    sources: ["domain/agents/{describe-instruction-change,read-instructions,set-instructions,store-revision}.ts"],
    tests: [
      "test/domain/agents/{describe-instruction-change,set-instructions}.test.ts",
      "test/mcp/instructions.test.ts",
    ],
  },
  {
    name: "domain/agents, gateways",
    sources: [
      "domain/agents/{call-host,gateway-settings,open-host,server-monitor,server-status,store-hosted-agents}.ts",
    ],
    tests: ["test/domain/agents/{call-host,open-host,server-monitor,store-hosted-agents}.test.ts"],
  },
  {
    name: "domain/agents, rules",
    sources: ["domain/agents/{agent-runtime,client-configurations,install-links,instruction-rules}.ts"],
    tests: ["test/domain/agents/{agent-runtime,client-configurations,install-links,instruction-rules}.test.ts"],
  },
  {
    name: "domain/agent-workspaces",
    sources: ["domain/agent-workspaces/*.ts"],
    tests: ["test/domain/agent-workspaces/*.test.ts", "test/rest/agent-workspaces.test.ts"],
  },
  {
    name: "domain/skills",
    sources: ["domain/skills/*.ts", "domain/agents/{declare-runtime,remove-enabled-skills}.ts"],
    except: ["domain/skills/*.entity.ts"],
    tests: [
      "test/domain/skills/*.test.ts",
      "test/rest/{enabled-skills,skill-uploads,skills}.test.ts",
      "test/mcp/agent-skills.test.ts",
    ],
  },
];
