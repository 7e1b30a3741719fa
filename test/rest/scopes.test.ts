import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { reachesScope, SCOPE_DESCRIPTIONS, SCOPES } from "../../domain/shared/scopes.ts";
import { OPERATIONS } from "../../server/rest/operations.ts";
import { sharedHarness } from "../support/service/shared-harness.ts";

const service = sharedHarness();

test("each operation is rejected below the scope that its description names, and only below it", async () => {
  const { rest } = await service().tenant();
  for (const scope of SCOPES) {
    const issued = await rest.post("/v1/tokens", { kind: "api_key", name: scope, scope });
    const limited = rest.as(String(issued.body["token"]));
    for (const { method, path, access } of OPERATIONS) {
      const url = path.replace("{id}", randomUUID());
      const body = { headers: { "content-type": "application/json" }, body: "{}" };
      const { status, headers } = await limited.send(method, url, method === "POST" ? body : {});
      const isRejected = status === 403 && headers.get("www-authenticate") !== null;
      expect([method, path, scope, isRejected]).toEqual([method, path, scope, !reachesScope(scope, access.scope)]);
      const challenge = isRejected ? `Bearer error="insufficient_scope", scope="${access.scope}"` : null;
      expect(headers.get("www-authenticate")).toBe(challenge);
    }
  }
});

interface Document {
  paths: Record<string, Record<string, { description: string; responses: Record<string, object> }>>;
  components: { schemas: { IssueTokenRequest: { properties: { scope: { description: string } } } } };
}

test("the OpenAPI document names the scope of each operation, and describes each scope", async () => {
  const { rest } = await service().tenant();
  const { paths, components } = (await rest.get("/v1/openapi.json")).body as unknown as Document;
  for (const { method, path, access } of OPERATIONS) {
    const documented = paths[path]?.[method.toLowerCase()];
    expect(documented?.description).toContain(`Scope: \`${access.scope}\`.`);
    expect(documented?.responses).toHaveProperty("403");
  }
  const { description } = components.schemas.IssueTokenRequest.properties.scope;
  for (const scope of SCOPES) expect(description).toContain(`\`${scope}\`: ${SCOPE_DESCRIPTIONS[scope].summary}`);
});

/** How a description of a scope names what the operations of a tag, or with a part of a path, read or change. */
const NAMES: Readonly<Record<string, string>> = {
  Agents: "agents",
  Apps: "apps",
  Audit: "audit log",
  "Company Knowledge": "company knowledge",
  Deployments: "deploy",
  Environments: "environments",
  Memories: "memories",
  Organization: "settings of the organization",
  Procedures: "procedures",
  Projects: "projects",
  Sessions: "sessions",
  "Git connections": "git connections",
  "Push to deploy": "pushes",
  Skills: "skills",
  Tokens: "tokens",
  Usage: "usage",
  Variables: "variables",
  instructions: "instructions",
  servers: "servers",
  transcript: "transcripts",
  workspace: "workspace files",
};

test("the description of each scope names everything that its operations read or change", () => {
  for (const { procedure, path, access, openapi } of OPERATIONS) {
    const permitted = SCOPE_DESCRIPTIONS[access.scope].rest.join(". ").toLowerCase();
    const parts = path.split("/").filter((part) => Object.hasOwn(NAMES, part));
    const missing = [...(openapi.tags ?? []), ...parts].filter(
      (name) => !permitted.includes(NAMES[name] ?? "(no name)"),
    );
    expect([procedure, missing]).toEqual([procedure, []]);
  }
});
