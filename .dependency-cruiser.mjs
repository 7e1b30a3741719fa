import { builtinModules } from "node:module";

const anyPackage = packages(".+");
const anyBuiltIn = builtIns(...builtinModules.map((name) => name.replace(/^node:/, "")));

/**
 * Who may import whom. Each layer lists all it may import; what is on no list is refused.
 *
 * @type {import("dependency-cruiser").IConfiguration}
 */
export default {
  forbidden: [
    ...only(
      "domain",
      "The domain knows no transport and no process: only itself, @mikro-orm/core, small pure libraries and pure built-ins.",
      {
        from: "^domain/",
        to: [
          "^domain/",
          packages("@mikro-orm/core", "dataloader", "lru-cache", "minisearch"),
          builtIns("buffer", "crypto", "path", "timers/promises", "url", "util", "zlib"),
        ],
        typesOf: [packages("kysely", "@mikro-orm/sql")],
      },
    ),
    ...only("routers", "A router declares operations: schemas, metadata and one call into the domain.", {
      from: "^routers/",
      to: ["^domain/", "^routers/", packages("@trpc/server", "zod")],
      typesOf: [packages("trpc-to-openapi", "@mikro-orm/core")],
    }),
    ...only("server", "The server wires routers and domain to the process; it knows no client, script or benchmark.", {
      from: "^server/",
      to: ["^domain/", "^routers/", "^server/", anyPackage, anyBuiltIn],
    }),
    ...only(
      "drivers",
      "A driver or platform imports the ports, domain/shared, the sandbox, server/files and its own folder.",
      {
        from: "^server/(drivers|platforms)/([^/]+)/",
        to: ["^domain/(ports|shared)/", "^server/(sandbox|files)/", "^server/$1/$2/", anyPackage, anyBuiltIn],
      },
    ),
    ...only("sandbox", "The sandbox imports its port, domain/shared, server/files and its own folder.", {
      from: "^server/sandbox/",
      to: ["^domain/(ports|shared)/", "^server/(sandbox|files)/", anyPackage, anyBuiltIn],
    }),
    ...only("files", "server/files holds file-system functions that know nothing of the service.", {
      from: "^server/files/",
      to: ["^server/files/", anyBuiltIn],
    }),
    ...only("clients", "A client knows the service by the type of its router alone.", {
      from: "^clients/([^/]+)/",
      fromNot: "^clients/cli/",
      to: ["^clients/$1/", "^clients/sdk/", anyPackage, anyBuiltIn],
      typesOf: ["^routers/index[.]ts$"],
    }),
    ...only("cli", "The command line may also read the schemas, to derive its commands from them.", {
      from: "^clients/cli/",
      to: ["^clients/(cli|sdk)/", "^routers/", anyPackage, anyBuiltIn],
    }),
    {
      name: "no-tests",
      comment: "Only tests import tests.",
      severity: "error",
      from: { pathNot: "^test/" },
      to: { path: "^test/" },
    },
    {
      name: "no-cycles",
      comment: "Modules form a tree; a cycle means that two of them are one, or that a third is missing.",
      severity: "error",
      from: {},
      to: { circular: true },
    },
    {
      name: "no-slice-cycles",
      comment: "The slices of the domain use each other as a tree.",
      severity: "error",
      scope: "folder",
      from: { path: "^domain/[^/]+$" },
      to: { path: "^domain/[^/]+$", circular: true },
    },
    {
      name: "no-unresolvable",
      comment: "An import names a file or a package that is there.",
      severity: "error",
      from: {},
      to: { couldNotResolve: true },
    },
    {
      name: "no-undeclared",
      comment: "What runs in production is declared as a dependency of ours, and not only of development.",
      severity: "error",
      // The dashboard is built before it is served: what it is made of is in the bundle.
      from: { path: "^(domain|routers|server|clients)/", pathNot: "^clients/dashboard/" },
      to: { dependencyTypes: ["npm-dev", "npm-no-pkg", "npm-unknown"], dependencyTypesNot: ["type-only"] },
    },
  ],
  options: {
    doNotFollow: { path: "node_modules" },
    // Apps of their own, and what the service writes.
    exclude: { path: "^(examples|coverage|dist|[.](data|cache|wrangler))(/|$)" },
    tsPreCompilationDeps: true,
    enhancedResolveOptions: { exportsFields: ["exports"], conditionNames: ["node", "import", "default", "types"] },
  },
};

/**
 * Refuses every import of `from` that is on neither list, and every value taken from `typesOf`.
 *
 * @param {string} name
 * @param {string} comment
 * @param {{ from: string, fromNot?: string, to: string[], typesOf?: string[] }} layer
 */
function only(name, comment, { from, fromNot, to, typesOf = [] }) {
  const rule = { comment, severity: "error", from: { path: from, ...(fromNot && { pathNot: fromNot }) } };
  return [
    { ...rule, name, to: { pathNot: [...to, ...typesOf] } },
    ...typesOf.map((path) => ({ ...rule, name: `${name}-types`, to: { path, dependencyTypesNot: ["type-only"] } })),
  ];
}

/** @param {string[]} names regular expressions of whole package names */
function packages(...names) {
  return `^node_modules/(${names.join("|")})/`;
}

/** @param {string[]} names regular expressions of whole built-in module names, without `node:` */
function builtIns(...names) {
  return `^(node:)?(${names.join("|")})$`;
}
