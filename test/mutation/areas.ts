import { AGENT_AREAS } from "./agent-areas.ts";
import { DEPLOYMENT_AREAS } from "./deployment-areas.ts";
import { IDENTITY_AREAS } from "./identity-areas.ts";
import { KNOWLEDGE_AREAS } from "./knowledge-areas.ts";
import type { MutationArea } from "./mutation-area.ts";
import { SESSION_AREAS } from "./session-areas.ts";

const GATEWAY_MESSAGES = [
  "server/mcp/{direct-tool,direct-tool-result,fast-path,gateway-errors,notification-streams,subscription-bus}.ts",
];

/**
 * In the order of the page. Tests that start another process are not listed: a mutant is active in the process of the test
 * only. Tests of a neighboring area are listed where they check the area's behavior through HTTP.
 */
export const AREAS: MutationArea[] = [
  {
    name: "server/auth",
    sources: ["server/auth/*.ts"],
    tests: [
      "test/auth/*.test.ts",
      "test/rest/{authentication,access-tokens,tokens}.test.ts",
      "test/identity/{external-provider,consented-organization}.test.ts",
      "test/mcp/{token-kinds,unauthenticated,scopes}.test.ts",
      "test/rpc/access-token-organization.test.ts",
    ],
  },
  {
    name: "domain/tokens",
    sources: ["domain/tokens/*.ts"],
    except: ["domain/tokens/*.entity.ts"],
    tests: ["test/domain/tokens/*.test.ts", "test/rest/tokens.test.ts"],
  },
  {
    name: "domain/shared",
    sources: ["domain/shared/*.ts"],
    except: [
      "domain/shared/{caller,sanitize-log}.ts",
      "domain/shared/{display-name,log-line-prefix,log-stream,plain-text,reference-counted-instances,secret-masks}.ts",
    ],
    tests: ["test/domain/shared/*.test.ts", "test/domain/apps/browse-apps.test.ts"],
  },
  {
    name: "domain/shared, texts and streams",
    sources: [
      "domain/shared/{display-name,log-line-prefix,log-stream,plain-text,reference-counted-instances,secret-masks}.ts",
    ],
    tests: [
      "test/domain/shared/{display-name,log-line-prefix,log-stream,plain-text}.test.ts",
      "test/domain/shared/{reference-counted-instances,sanitize-log,secret-masks}.test.ts",
    ],
  },
  ...AGENT_AREAS,
  {
    name: "domain/documents",
    sources: ["domain/documents/*.ts"],
    except: ["domain/documents/*.entity.ts"],
    tests: ["test/domain/documents/*.test.ts", "test/rest/knowledge.test.ts"],
  },
  ...KNOWLEDGE_AREAS,
  ...SESSION_AREAS,
  {
    name: "domain/projects",
    sources: ["domain/projects/*.ts", "domain/agents/remove-project-mounts.ts"],
    except: ["domain/projects/*.entity.ts"],
    tests: ["test/mcp/projects.test.ts", "test/rest/{project-documents,projects}.test.ts"],
  },
  {
    name: "domain/memory",
    sources: ["domain/memory/*.ts"],
    except: ["domain/memory/*.entity.ts"],
    tests: ["test/domain/memory/*.test.ts", "test/mcp/memory.test.ts", "test/rest/memories.test.ts"],
  },
  {
    name: "domain/apps",
    sources: ["domain/apps/*.ts"],
    except: [
      "domain/apps/*.entity.ts",
      "domain/apps/{app-page,app-resources,app-status,app-token,slug}.ts",
      "domain/apps/{build-network,customization-text,repository,root-directory}-rules.ts",
    ],
    tests: [
      "test/domain/apps/{app-list-versions,browse-apps,delete-app,deploy-app}.test.ts",
      "test/domain/apps/{idempotency,app-quota,rotate-app-token,sync-auth-entry,update-app}.test.ts",
      "test/rest/{deploy,invalid-build-settings,read-apps,rotate-token,update-app}.test.ts",
    ],
  },
  {
    name: "domain/apps, rules",
    sources: [
      "domain/apps/{app-page,app-resources,app-status,app-token,slug}.ts",
      "domain/apps/{build-network,customization-text,repository,root-directory}-rules.ts",
    ],
    tests: [
      "test/domain/apps/{app-page,app-resources,slug}.test.ts",
      "test/domain/apps/{build-settings,customization-text-rules,repository-rules}.test.ts",
      "test/domain/tokens/token-format.test.ts",
    ],
  },
  {
    name: "server/mcp, messages",
    sources: GATEWAY_MESSAGES,
    tests: ["test/mcp/{direct-tool-results,fast-path-requests,gateway-errors,notification-events}.test.ts"],
  },
  {
    name: "server/mcp",
    sources: ["server/mcp/*.ts"],
    except: GATEWAY_MESSAGES,
    tests: [
      "test/mcp/{app-list-cache,client-connections,direct-tools,fast-path,gateway-protocol}.test.ts",
      "test/mcp/{log-injection,notification-streams}.test.ts",
      "test/mcp/{own-origin,request-bodies,scopes,stream-limiter,stream-revocation,tenancy,token-kinds,tool-list,tools,unauthenticated}.test.ts",
      "test/{database/outage,http/cors,rest/internal-errors}.test.ts",
    ],
  },
  {
    name: "server/rest, documentation",
    sources: ["server/rest/{documented-errors,openapi,operations,schema-corrections}.ts"],
    tests: ["test/rest/openapi-document.test.ts"],
  },
  {
    name: "server/rest, bodies and errors",
    sources: ["server/rest/{error-response,request-body,streamed-bodies}.ts"],
    tests: ["test/rest/{request-errors,streamed-bodies,streamed-body-limits}.test.ts"],
  },
  {
    name: "server/rest",
    sources: ["server/rest/{docs,plugin}.ts"],
    tests: [
      "test/rest/{authentication,deploy,deploy-limits,endpoints,internal-errors,openapi,read-apps,request-errors,scopes}.test.ts",
      "test/rest/{log-streams,streamed-bodies,streamed-body-limits,streamed-requests}.test.ts",
      "test/http/malformed-requests.test.ts",
    ],
  },
  {
    name: "server/rest, streams",
    sources: ["server/rest/streams/*.ts"],
    tests: ["test/rest/{event-stream,log-streams,openapi-document,stream-organization}.test.ts"],
    testTimeoutMs: 8000,
  },
  ...IDENTITY_AREAS,
  ...DEPLOYMENT_AREAS,
  {
    name: "server/platforms/embedded, edge proxy",
    sources: ["server/platforms/embedded/proxy/*.ts"],
    tests: ["test/platforms/embedded/proxy-*.test.ts"],
    testTimeoutMs: 4000,
  },
  {
    name: "server/platforms/embedded, supervisor",
    sources: ["server/platforms/embedded/supervisor/*.ts"],
    except: ["server/platforms/embedded/supervisor/supervisor-options.ts"],
    tests: ["test/platforms/embedded/{restart-backoff,supervisor-*,watchdog}.test.ts"],
    testTimeoutMs: 6000,
  },
  {
    name: "domain/users",
    sources: ["domain/users/*.ts"],
    except: ["domain/users/{auth-tables,get-account}.ts"],
    tests: ["test/domain/users/*.test.ts", "test/auth/external-users.test.ts"],
  },
  {
    name: "domain/users, account",
    sources: ["domain/users/get-account.ts"],
    tests: ["test/rpc/account.test.ts"],
  },
  {
    name: "domain/organizations",
    sources: ["domain/organizations/*.ts"],
    except: ["domain/organizations/*.entity.ts"],
    tests: ["test/domain/organizations/*.test.ts", "test/auth/external-users.test.ts"],
  },
  {
    name: "domain/procedures",
    sources: [
      "domain/procedures/{index-missing,list,replace,search}-procedures.ts",
      "domain/procedures/{index-ids,procedure-index}.ts",
    ],
    tests: ["test/domain/procedures/{indexed-procedures,procedure-index,replace-procedures,search-procedures}.test.ts"],
  },
  {
    name: "domain/procedures, search and names",
    sources: [
      "domain/procedures/{app-error-message,call-snippet,describe-arguments,direct-tool-names}.ts",
      "domain/procedures/indexed-procedures.ts",
    ],
    tests: [
      "test/domain/procedures/{app-error-message,direct-tool-names,indexed-procedures,procedure-search-index}.test.ts",
    ],
  },
  {
    name: "domain/procedures, calls and discovery",
    sources: ["domain/procedures/{call,discover}-procedure*.ts"],
    tests: ["test/domain/procedures/{call-procedure,discover-procedures}.test.ts"],
  },
  {
    name: "domain/type-declarations",
    sources: ["domain/type-declarations/*.ts"],
    tests: ["test/domain/type-declarations/*.test.ts"],
  },
  {
    name: "domain/execution",
    sources: ["domain/execution/*.ts"],
    except: ["domain/execution/execute-code.ts"],
    tests: ["test/domain/execution/{call-declarations,requested-declarations,truncate-output}.test.ts"],
  },
  {
    name: "domain/execution, runs",
    sources: ["domain/execution/execute-code.ts"],
    tests: ["test/domain/execution/execute-code.test.ts"],
  },
  {
    name: "domain/audit",
    sources: ["domain/audit/*.ts"],
    except: ["domain/audit/*.entity.ts"],
    tests: ["test/domain/audit/{list-events,record-call,time-range}.test.ts"],
  },
  {
    name: "domain/retention",
    sources: ["domain/retention/purge-expired-records.ts"],
    tests: ["test/domain/retention/*.test.ts"],
  },
  {
    name: "domain/retention, sessions and memories",
    sources: ["domain/retention/{deleted-sessions,removed-memories}.ts"],
    tests: ["test/domain/sessions/deleted-sessions.test.ts", "test/domain/agents/delete-agent.test.ts"],
  },
  {
    name: "domain/plans, rate-limits and usage",
    sources: ["domain/{plans,rate-limits,usage}/*.ts"],
    except: ["domain/{rate-limits,usage}/*.entity.ts"],
    tests: ["test/domain/usage/*.test.ts"],
  },
  {
    name: "domain/storage",
    sources: ["domain/storage/*.ts"],
    except: ["domain/storage/*.entity.ts"],
    tests: ["test/domain/storage/*.test.ts"],
  },
  {
    name: "domain/variables",
    sources: ["domain/variables/*.ts"],
    except: ["domain/variables/*.entity.ts", "domain/variables/variable-{cipher,rules}.ts"],
    tests: ["test/domain/variables/{apply-status,change-variables,stored-variables}.test.ts"],
  },
  {
    name: "domain/variables, rules",
    sources: ["domain/variables/variable-{cipher,rules}.ts"],
    tests: ["test/domain/variables/variable-{cipher,rules}.test.ts"],
  },
  {
    name: "domain/runtime-logs",
    sources: ["domain/runtime-logs/*.ts"],
    tests: ["test/domain/runtime-logs/*.test.ts"],
  },
];
