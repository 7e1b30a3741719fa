import { expect, test } from "vitest";
import { adviseToSet, findMissingVariables, readAssignedNames } from "../../../domain/shared/missing-variables.ts";

/** What programs print, and the variables that they miss. */
const MESSAGES: [message: string, names: string[]][] = [
  ["Error: Missing env DATABASE_URL", ["DATABASE_URL"]],
  ["Error: Missing env SECRET", ["SECRET"]],
  ['Error: Invalid/Missing environment variable: "MONGODB_URI"', ["MONGODB_URI"]],
  ["Error: Please define the MONGODB_URI environment variable inside .env.local", ["MONGODB_URI"]],
  ["TypeError: process.env.STRIPE_KEY is undefined", ["STRIPE_KEY"]],
  ["Error: STRIPE_SECRET_KEY is not set", ["STRIPE_SECRET_KEY"]],
  ["Error: Missing required environment variables: API_KEY, API_SECRET", ["API_KEY", "API_SECRET"]],
  // Prisma
  ["error: Environment variable not found: DATABASE_URL.\n  -->  schema.prisma:8", ["DATABASE_URL"]],
  // OpenAI, two versions, and the AI SDK
  [
    "OpenAIError: The OPENAI_API_KEY environment variable is missing or empty; either provide it, or instantiate the OpenAI client with an apiKey option",
    ["OPENAI_API_KEY"],
  ],
  [
    "Error: Missing credentials. Please pass an `apiKey`, or set the `OPENAI_API_KEY` environment variable.",
    ["OPENAI_API_KEY"],
  ],
  [
    "AI_LoadAPIKeyError: OpenAI API key is missing. Pass it using the 'apiKey' parameter or the OPENAI_API_KEY environment variable.",
    ["OPENAI_API_KEY"],
  ],
  // env-var
  ['EnvVarError: env-var: "DATABASE_URL" is a required variable, but it was not set', ["DATABASE_URL"]],
  // dotenv-safe
  [
    "MissingEnvVarsError: The following variables were defined in .env.example but are not present in the environment:\n  API_KEY, PORT\nMake sure to add them to .env or directly to the environment.",
    ["API_KEY", "PORT"],
  ],
  // envalid
  [
    "================================\n Missing environment variables:\n    DATABASE_URL: undefined\n    PORT: The port (eg. 80)\n================================",
    ["DATABASE_URL", "PORT"],
  ],
  // zod with messages of its own, flattened
  [`{\n  "DATABASE_AUTH_TOKEN": [\n    "Must be set when NODE_ENV is 'production'"\n  ]\n}`, ["DATABASE_AUTH_TOKEN"]],
  ["error: Misconfigured:\nerror: JWT_KEY: Required\nerror: FRONTEND_URL: Required", ["JWT_KEY", "FRONTEND_URL"]],
  // t3-env with zod 3, in two versions, and with zod 4
  [
    "❌ Invalid environment variables: { DATABASE_URL: [ 'Required' ], NODE: [ 'Required' ] }",
    ["DATABASE_URL", "NODE"],
  ],
  [
    "❌ Invalid environment variables: [\n  {\n    code: 'invalid_type',\n    expected: 'string',\n    received: 'undefined',\n    path: [ 'AUTH_SECRET' ],\n    message: 'Required'\n  }\n]",
    ["AUTH_SECRET"],
  ],
  [
    "❌ Invalid environment variables: [\n  {\n    expected: 'string',\n    code: 'invalid_type',\n    path: [ 'TOKEN' ],\n    message: 'Invalid input: expected string, received undefined'\n  }\n]",
    ["TOKEN"],
  ],
  // zod: the error, and its pretty form
  [
    'ZodError: [\n  {\n    "expected": "string",\n    "code": "invalid_type",\n    "path": [\n      "DATABASE_URL"\n    ],\n    "message": "Invalid input: expected string, received undefined"\n  }\n]',
    ["DATABASE_URL"],
  ],
  ["✖ Invalid input: expected string, received undefined\n  → at DATABASE_URL", ["DATABASE_URL"]],
  // valibot
  ['ValiError: Invalid key: Expected "DATABASE_URL" but received undefined', ["DATABASE_URL"]],
  // class-validator
  [
    "An instance of Settings has failed the validation:\n - property FILE_DRIVER has failed the following constraints: isEnum",
    ["FILE_DRIVER"],
  ],
  // SvelteKit and Astro
  ['"DATABASE_URL" is not exported by "virtual:env/static/private", imported by "src/hooks.ts".', ["DATABASE_URL"]],
  [
    "EnvInvalidVariables: The following environment variables defined in `env.schema` are invalid:\n- API_URL is missing",
    ["API_URL"],
  ],
  // better-auth, NextAuth
  ["BetterAuthError: BETTER_AUTH_SECRET is missing. Set it in your environment", ["BETTER_AUTH_SECRET"]],
  // Other errors
  ["Error: Cannot find module 'x'\n  code: 'MODULE_NOT_FOUND'", []],
  ["TypeError [ERR_INVALID_ARG_TYPE]: The argument is required", []],
  ["ReferenceError: MAX_SIZE is not defined", []],
  ["Error: connect ECONNREFUSED 127.0.0.1:5432", []],
  ["SQLITE_ERROR: no such table: USERS", []],
  ["Error: The API is missing", []],
];

test.each(MESSAGES)("the variables that this message misses are found: %s", (message, names) => {
  expect(findMissingVariables(message.split("\n"))).toEqual(names);
});

test("the search of a long hostile output ends soon", () => {
  const hostile = ["A_".repeat(50_000), "Missing env ".repeat(5000), "path: [ ".repeat(5000), "Expected ".repeat(5000)];
  for (const text of hostile) expect(findMissingVariables([text]).length).toBeLessThan(2);
});

test("an advice names the variables and the ways to set them", () => {
  expect(adviseToSet(["API_KEY"], "start")).toBe(
    "Set API_KEY: PUT /v1/apps/{id}/variables/API_KEY, or svc variables set APP API_KEY VALUE. Then deploy again.",
  );
  expect(adviseToSet(["API_KEY", "URL"], "build")).toBe(
    "Set API_KEY and URL: PUT /v1/apps/{id}/variables/{name} with build: true, or svc variables set APP NAME VALUE --build. Then deploy again.",
  );
  expect(adviseToSet(["api_key"], "start")).toMatch(/^Rename api_key: the names of variables match /);
});

test("the names that an example of an environment assigns are read", () => {
  expect(readAssignedNames("# URL=x\nDATABASE_URL=\nexport API_KEY = 'x'\nlower=1\nAPI_KEY=again\n")).toEqual([
    "DATABASE_URL",
    "API_KEY",
  ]);
});
