import { builtinModules } from "node:module";

const anyPackage = packages(".+");
const anyBuiltIn = builtIns(...builtinModules.map((name) => name.replace(/^node:/, "")));

/**
 * The import rules. Each layer lists everything that it may import; any other import is an error.
 *
 * @type {import("dependency-cruiser").IConfiguration}
 */
export default {
  forbidden: [
    ...only(
      "domain",
      "The domain imports itself, @mikro-orm/core, small pure libraries and pure built-ins: no transport and no process.",
      {
        from: "^domain/",
        to: [
          "^domain/",
          packages(
            "@mikro-orm/core",
            "@orama/stemmers",
            "@orama/stopwords",
            "dataloader",
            "diff",
            "lru-cache",
            "node-diff3",
            "porter2",
            "tinyld",
          ),
          builtIns("async_hooks", "buffer", "crypto", "path", "timers/promises", "url", "util", "zlib"),
        ],
        typesOf: [packages("kysely", "@mikro-orm/sql")],
      },
    ),
    ...only("routers", "A router declares operations: schemas, metadata and one call into the domain.", {
      from: "^routers/",
      to: ["^domain/", "^routers/", packages("@trpc/server", "zod")],
      typesOf: [packages("trpc-to-openapi", "@mikro-orm/core")],
    }),
    ...only(
      "server",
      "The server connects routers and domain to the process. It imports no client, script or benchmark.",
      {
        from: "^server/",
        to: ["^domain/", "^routers/", "^server/", anyPackage, anyBuiltIn],
      },
    ),
    ...only(
      "drivers",
      "A driver imports its ports, the sandbox and itself. domain/shared, server/files and server/http are allowed too.",
      {
        from: "^server/drivers/([^/]+)/",
        to: [
          "^domain/(ports|shared)/",
          "^server/(ports|sandbox|files|http)/",
          "^server/drivers/$1/",
          anyPackage,
          anyBuiltIn,
        ],
      },
    ),
    ...only(
      "platforms",
      "A platform imports what a driver may import, what platforms share, and who owns what it changes.",
      {
        from: "^server/platforms/([^/]+)/",
        to: [
          "^domain/(ports|shared)/",
          "^server/(ports|sandbox|files|http|installation)/",
          "^server/platforms/($1|shared)/",
          anyPackage,
          anyBuiltIn,
        ],
      },
    ),
    ...only("sandbox", "The sandbox imports its port and itself. domain/shared, server/files and server/http too.", {
      from: "^server/sandbox/",
      to: ["^domain/(ports|shared)/", "^server/(ports|sandbox|files|http)/", anyPackage, anyBuiltIn],
    }),
    ...only("files", "server/files contains file-system functions that do not depend on the service.", {
      from: "^server/files/",
      to: ["^server/files/", anyBuiltIn],
    }),
    ...only("http", "server/http contains functions on HTTP messages and connections, which every server uses.", {
      from: "^server/http/",
      to: ["^domain/(ports|shared)/", "^server/(http|files)/", anyPackage, anyBuiltIn],
    }),
    ...only("ports", "The ports of the server import the ports of the domain.", {
      from: "^server/ports/",
      to: ["^domain/(ports|shared)/", "^server/ports/"],
    }),
    ...only("clients", "A client imports only the type of the service's router, and files that import nothing else.", {
      from: "^clients/([^/]+)/",
      to: [
        "^clients/$1/",
        "^clients/sdk/",
        "^domain/(shared/(scopes|roles)|apps/app-status|archives/(archive-limits|source-folder)|deployments/teardown-steps|exports/export-limits|documents/(document-limits|archive-files)|skills/skill-limits|agents/(client-configurations|install-links|mcp-clients))[.]ts$",
        anyPackage,
        anyBuiltIn,
      ],
      typesOf: ["^routers/index[.]ts$"],
    }),
    {
      name: "no-tests",
      comment: "Only tests and their configuration import tests.",
      severity: "error",
      from: { pathNot: ["^test/", "^vitest[.]config[.]ts$"] },
      to: { path: "^test/" },
    },
    {
      name: "no-cycles",
      comment: "Modules form a tree. Resolve a cycle by merging two modules or by extracting a third one.",
      severity: "error",
      from: {},
      to: { circular: true },
    },
    {
      name: "no-slice-cycles",
      comment: "The slices of the domain import each other as a tree.",
      severity: "error",
      scope: "folder",
      from: { path: "^domain/[^/]+$" },
      to: { path: "^domain/[^/]+$", circular: true },
    },
    {
      name: "no-folder-cycles",
      comment: "The folders of the server import each other as a tree. server/app.ts assembles the HTTP server.",
      severity: "error",
      scope: "folder",
      from: { path: "^server/" },
      to: { path: "^server/", circular: true },
    },
    {
      name: "no-unresolvable",
      comment: "An import names an existing file or package.",
      severity: "error",
      from: {},
      to: { couldNotResolve: true },
    },
    {
      name: "no-undeclared",
      comment: "Code that runs in production imports declared dependencies, not development dependencies.",
      severity: "error",
      // The dashboard and the command line are bundled, so their dependencies are in the bundle.
      from: { path: "^(domain|routers|server|clients)/", pathNot: "^clients/(cli|dashboard)/" },
      to: { dependencyTypes: ["npm-dev", "npm-no-pkg", "npm-unknown"], dependencyTypesNot: ["type-only"] },
    },
  ],
  options: {
    doNotFollow: { path: "node_modules" },
    // Example apps, and files that the service or its tools write.
    exclude: { path: "^(examples|coverage|dist|[.](data|cache|wrangler))(/|$)" },
    tsPreCompilationDeps: true,
    enhancedResolveOptions: { exportsFields: ["exports"], conditionNames: ["node", "import", "default", "types"] },
  },
};

/**
 * Forbids every import of `from` that is in neither list, and every import of a value from `typesOf`.
 *
 * @param {string} name
 * @param {string} comment
 * @param {{ from: string, to: string[], typesOf?: string[] }} layer
 */
function only(name, comment, { from, to, typesOf = [] }) {
  const rule = { comment, severity: "error", from: { path: from } };
  return [
    { ...rule, name, to: { pathNot: [...to, ...typesOf] } },
    ...typesOf.map((path) => ({ ...rule, name: `${name}-types`, to: { path, dependencyTypesNot: ["type-only"] } })),
  ];
}

/** @param {string[]} names regular expressions that match whole package names */
function packages(...names) {
  return `^node_modules/(${names.join("|")})/`;
}

/** @param {string[]} names regular expressions that match whole names of built-in modules, without `node:` */
function builtIns(...names) {
  return `^(node:)?(${names.join("|")})$`;
}
