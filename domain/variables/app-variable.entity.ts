import { defineEntity, p } from "@mikro-orm/core";

/** An environment variable of an app. It lasts across deployments. */
export const AppVariableSchema = defineEntity({
  name: "AppVariable",
  tableName: "app_variables",
  properties: {
    appId: p.uuid().primary(),
    name: p.string().primary(),
    /** The value, encrypted for this app, name and `isSecret`. */
    sealedValue: p.text(),
    /** The size of the name and the value in UTF-8. */
    sizeBytes: p.integer(),
    /** Whether the API never returns the value, and logs do not contain it. */
    isSecret: p.boolean(),
    /** Whether builds get it too. */
    isForBuild: p.boolean(),
    createdAt: p.datetime(3).onCreate(() => new Date()),
    updatedAt: p
      .datetime(3)
      .onCreate(() => new Date())
      .onUpdate(() => new Date()),
  },
});

export class AppVariable extends AppVariableSchema.class {}
AppVariableSchema.setClass(AppVariable);
