/** Sources that are mutated together, and the tests that have to notice it. */
export interface MutationArea {
  /** The folder that the page and the command line name. */
  name: string;
  /** Glob patterns. */
  sources: string[];
  /** Sources without behavior, or whose tests are excluded (docs/mutation.md says why). */
  except?: string[];
  /** Glob patterns. A mutant counts as survived when these tests pass, even if another test would fail. */
  tests: string[];
}

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
    tests: [
      "test/domain/shared/*.test.ts",
      "test/domain/apps/*.test.ts",
      "test/domain/procedures/procedure-index.test.ts",
      "test/rest/{read,scopes,limits,busy-database,authentication,audit}.test.ts",
      "test/rpc/*.test.ts",
      "test/mcp/{tools,scopes,tool-list}.test.ts",
    ],
  },
  {
    name: "domain/apps",
    sources: ["domain/apps/*.ts"],
    except: ["domain/apps/*.entity.ts"],
    tests: [
      "test/domain/apps/*.test.ts",
      "test/domain/tokens/token-format.test.ts",
      "test/rest/{deploy,read,limits,rotate-token,authentication}.test.ts",
      "test/mcp/tools.test.ts",
    ],
  },
  {
    name: "server/mcp",
    sources: ["server/mcp/*.ts"],
    tests: [
      "test/mcp/{cached-results,direct-tools,fast-path,gateway,log-lines,notification-streams}.test.ts",
      "test/mcp/{scopes,stream-revocation,tenancy,token-kinds,tool-list,tools,unauthenticated}.test.ts",
      "test/http/cors.test.ts",
    ],
  },
  {
    name: "server/rest",
    sources: ["server/rest/*.ts"],
    tests: [
      "test/rest/{authentication,deploy,documented-responses,internal-errors,limits,openapi,read,scopes}.test.ts",
      "test/http/{cors,malformed-requests}.test.ts",
    ],
  },
  {
    name: "server/identity",
    sources: ["server/identity/*.ts"],
    tests: ["test/identity/*.test.ts", "test/rest/access-tokens.test.ts"],
  },
  {
    name: "domain/deployments",
    sources: ["domain/deployments/*.ts"],
    except: ["domain/deployments/*.entity.ts", "domain/deployments/{run-deployment,deployment-steps}.ts"],
    tests: ["test/domain/deployments/*.test.ts", "test/rest/{deploy,read}.test.ts"],
  },
  {
    name: "domain/deployments, one run",
    sources: ["domain/deployments/{run-deployment,deployment-steps}.ts"],
    tests: ["test/domain/deployments/fencing.test.ts", "test/worker/pipeline.test.ts"],
  },
  {
    name: "server/platforms/embedded",
    sources: ["server/platforms/embedded/**/*.ts"],
    tests: ["test/platforms/embedded/*.test.ts", "test/contract/edge-platform.embedded.test.ts"],
  },
  {
    name: "domain/users",
    sources: ["domain/users/*.ts"],
    except: ["domain/users/auth-tables.ts"],
    tests: ["test/domain/users/*.test.ts", "test/auth/external-users.test.ts"],
  },
  {
    name: "domain/organizations",
    sources: ["domain/organizations/*.ts"],
    except: ["domain/organizations/*.entity.ts"],
    tests: ["test/domain/organizations/*.test.ts", "test/auth/external-users.test.ts"],
  },
  {
    name: "domain/procedures",
    sources: ["domain/procedures/*.ts"],
    except: ["domain/procedures/*.entity.ts", "domain/procedures/{call,discover}-procedure*.ts"],
    tests: ["test/domain/procedures/*.test.ts", "test/mcp/{direct-tools,tenancy,tool-list,tools}.test.ts"],
  },
  {
    name: "domain/procedures, calls and discovery",
    sources: ["domain/procedures/{call,discover}-procedure*.ts"],
    tests: ["test/worker/procedures.test.ts", "test/mcp/{cached-results,direct-tools,tenancy}.test.ts"],
  },
  {
    name: "domain/type-declarations",
    sources: ["domain/type-declarations/*.ts"],
    tests: ["test/domain/type-declarations/*.test.ts", "test/domain/execution/program-declarations.test.ts"],
  },
  {
    name: "domain/execution",
    sources: ["domain/execution/*.ts"],
    tests: ["test/domain/execution/*.test.ts", "test/mcp/execute.test.ts"],
  },
  {
    name: "domain/audit",
    sources: ["domain/audit/*.ts"],
    except: ["domain/audit/*.entity.ts"],
    tests: ["test/domain/audit/*.test.ts", "test/rest/{audit,audit-filters,audit-names}.test.ts"],
  },
  {
    name: "domain/retention",
    sources: ["domain/retention/*.ts"],
    tests: ["test/worker/retention.test.ts"],
  },
  {
    name: "domain/plans, rate-limits and usage",
    sources: ["domain/{plans,rate-limits,usage}/*.ts"],
    except: ["domain/rate-limits/*.entity.ts"],
    tests: ["test/rest/{limits,deploy}.test.ts", "test/mcp/tools.test.ts"],
  },
];
