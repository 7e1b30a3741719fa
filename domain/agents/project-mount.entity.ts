import { defineEntity, p } from "@mikro-orm/core";

/** A project that an agent can search. */
export const ProjectMountSchema = defineEntity({
  name: "ProjectMount",
  tableName: "project_mounts",
  properties: {
    agentId: p.uuid().primary(),
    projectId: p.uuid().primary(),
  },
  // To list the agents of a project, and to delete it.
  indexes: [{ properties: ["projectId"] }],
});

export class ProjectMount extends ProjectMountSchema.class {}
ProjectMountSchema.setClass(ProjectMount);
