import type { HttpResponse, RestClient } from "../clients/rest-client.ts";

export interface SkillFields {
  description?: string;
  /** Further lines of the frontmatter. */
  frontmatter?: string;
  body?: string;
}

/** Returns the text of a SKILL.md. */
export function skillDocument(
  name: string,
  { description = `Does ${name}`, frontmatter = "", body = "Steps." }: SkillFields = {},
): string {
  const further = frontmatter === "" ? "" : `${frontmatter}\n`;
  return `---\nname: ${name}\ndescription: ${JSON.stringify(description)}\n${further}---\n\n${body}\n`;
}

/** Returns the line of the frontmatter with which a skill declares its requirements. */
export function requires(declared: object): string {
  return `metadata: ${JSON.stringify({ openclaw: declared })}`;
}

/** Calls the REST operations of skills. */
export function skillsOf(rest: RestClient) {
  const put = (path: string, body: object): Promise<HttpResponse> =>
    rest.send("PUT", path, { body: JSON.stringify(body), headers: { "content-type": "application/json" } });
  return {
    put,
    upload: (name: string, body: object) => put(`/v1/skills/${name}`, body),
    /** Uploads a skill that has only a SKILL.md. */
    uploadDocument: (name: string, fields: SkillFields = {}, further: object = {}) =>
      put(`/v1/skills/${name}`, { files: [{ path: "SKILL.md", content: skillDocument(name, fields) }], ...further }),
    get: (name: string) => rest.get(`/v1/skills/${name}`),
    files: (name: string, path?: string) =>
      rest.get(`/v1/skills/${name}/files${path === undefined ? "" : `?path=${encodeURIComponent(path)}`}`),
    remove: (name: string) => rest.delete(`/v1/skills/${name}`),
    names: async (): Promise<string[]> => {
      const { body } = await rest.get("/v1/skills");
      return (body["skills"] as { name: string }[]).map(({ name }) => name);
    },
    enable: (agentId: string, name: string, enabled = true) => put(`/v1/agents/${agentId}/skills/${name}`, { enabled }),
    declare: (agentId: string, runtime: object) => put(`/v1/agents/${agentId}/runtime`, runtime),
  };
}
