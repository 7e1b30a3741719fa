import { randomUUID } from "node:crypto";
import { defineEntity, p } from "@mikro-orm/core";
import type { ProjectKind } from "./project-rules.ts";

/** What some agents work on: documents for one client, engagement or capability. */
export const ProjectSchema = defineEntity({
  name: "Project",
  tableName: "projects",
  properties: {
    id: p
      .uuid()
      .primary()
      .onCreate(() => randomUUID()),
    orgId: p.uuid(),
    name: p.string(),
    kind: p.string().$type<ProjectKind>(),
    description: p.text(),
    createdAt: p.datetime(3).onCreate(() => new Date()),
    updatedAt: p.datetime(3).onCreate(() => new Date()),
  },
  uniques: [{ properties: ["orgId", "name"] }],
});

export class Project extends ProjectSchema.class {}
ProjectSchema.setClass(Project);
