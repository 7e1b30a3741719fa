import { randomUUID } from "node:crypto";
import { defineEntity, p } from "@mikro-orm/core";

export const BUILD_OUTCOMES = ["ready", "failed", "canceled"] as const;
export type BuildOutcome = (typeof BUILD_OUTCOMES)[number];

export const BuildSchema = defineEntity({
  name: "Build",
  tableName: "builds",
  properties: {
    id: p
      .uuid()
      .primary()
      .onCreate(() => randomUUID()),
    appId: p.uuid(),
    repo: p.string(),
    branch: p.string(),
    customization: p.text().nullable(),
    commit: p.string().nullable(),
    /** How many workers have taken this build up so far. */
    attempts: p.integer().default(0),
    /** The last sign of life of the worker that holds this build; `null` while nobody does. */
    heldAt: p.datetime(3).nullable(),
    outcome: p.string().$type<BuildOutcome>().nullable(),
    createdAt: p.datetime(3).onCreate(() => new Date()),
    finishedAt: p.datetime(3).nullable(),
  },
  indexes: [{ properties: ["appId", "createdAt"] }],
});

export class Build extends BuildSchema.class {}
BuildSchema.setClass(Build);
