import { defineEntity, p } from "@mikro-orm/core";

/** What a deployment changes in the source of its repository. It exists as long as the deployment. */
export const CustomizationSchema = defineEntity({
  name: "Customization",
  tableName: "customizations",
  properties: {
    deploymentId: p.uuid().primary(),
    appId: p.uuid(),
    /** All instructions that the changes follow, oldest first. */
    instructions: p.json().$type<string[]>(),
    /** A list of `FileChange` as JSON, against the commit of the deployment. */
    changes: p.text(),
    /** What the agent said that it did; `null` when the deployment only applied the changes of an earlier one. */
    summary: p.text().nullable(),
    /** How many times the model responded. */
    steps: p.integer(),
    inputTokens: p.integer(),
    outputTokens: p.integer(),
    durationMs: p.integer(),
    createdAt: p.datetime(3).onCreate(() => new Date()),
  },
  indexes: [{ properties: ["appId"] }],
});

export class Customization extends CustomizationSchema.class {}
CustomizationSchema.setClass(Customization);
