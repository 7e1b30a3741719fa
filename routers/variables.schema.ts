import { z } from "zod";
import type { NewVariable } from "../domain/apps/deploy-app.ts";
import type { ChangedVariable, SetVariable } from "../domain/variables/set-variable.ts";
import type { DeletedVariable, DeleteVariable } from "../domain/variables/delete-variable.ts";
import type { VariableList } from "../domain/variables/list-variables.ts";
import { VARIABLE_LIMITS } from "../domain/variables/variable-rules.ts";
import type { VariableView } from "../domain/variables/variable-view.ts";
import { appOfTool, timestampWithExample as timestamp } from "./core/common.schema.ts";

const id = z.uuid().meta({ description: "The app's id", examples: ["0b0f5a3e-5f0b-4a57-9a3c-6a1f8b1c2d3e"] });
// The domain checks names, because a malformed value in a path would get the response of an unknown app.
const name = z.string().meta({
  description: `The name of the variable. It matches \`^[A-Z][A-Z0-9_]*$\` and has at most ${VARIABLE_LIMITS.nameLength} characters`,
  examples: ["API_KEY"],
});

/** The state of an app and its variables, which every response contains. */
const applicationState = {
  is_applied: z.boolean().meta({ description: "Whether the app has its newest variables; `false` while it restarts" }),
  problem: z
    .string()
    .nullable()
    .meta({ description: "Why the app did not start with its newest variables. It continues with the earlier ones" }),
};

const view = {
  name,
  value: z
    .string()
    .nullable()
    .meta({ description: "Null for a secret, and for a value that was stored with another TOKEN_SECRET" }),
  secret: z.boolean().meta({ description: "Whether the value is never returned, and masked in logs" }),
  build: z.boolean().meta({ description: "Whether builds get the variable too" }),
  created_at: timestamp,
  updated_at: timestamp,
};

const variable = z.object(view).meta({ id: "Variable" }) satisfies z.ZodType<VariableView>;

/** What a caller chooses about a variable. */
const chosen = {
  name,
  value: z.string().meta({ description: `At most ${VARIABLE_LIMITS.valueBytes} bytes` }),
  secret: z.boolean().optional().meta({
    description: "Whether to never return the value, and to mask it in logs; without it, as before, or `false`",
  }),
  build: z
    .boolean()
    .optional()
    .meta({ description: "Whether builds get the variable too; without it, as before, or `false`" }),
};

/** A variable of an app that a request creates. */
export const newVariable = z.strictObject(chosen) satisfies z.ZodType<NewVariable>;

export const setVariableRequest = z
  .strictObject({ id, ...chosen })
  .meta({ id: "SetVariableRequest" }) satisfies z.ZodType<SetVariable>;

export const changedVariable = z
  .object({ ...view, ...applicationState })
  .meta({ id: "ChangedVariable" }) satisfies z.ZodType<ChangedVariable>;

export const listVariablesRequest = z.strictObject({ id });

export const variableList = z
  .object({ variables: z.array(variable), ...applicationState })
  .meta({ id: "ListVariablesResponse" }) satisfies z.ZodType<VariableList>;

export const deleteVariableRequest = z.strictObject({ id, name }) satisfies z.ZodType<DeleteVariable>;

export const deletedVariable = z
  .object({ status: z.literal("deleted"), ...applicationState })
  .meta({ id: "DeleteVariableResponse" }) satisfies z.ZodType<DeletedVariable>;

export const setVariableToolRequest = z.strictObject({
  app_id: appOfTool,
  name: z.string().meta({ description: "Such as API_KEY" }),
  value: z.string(),
  secret: z.boolean().optional().meta({ description: "Never return the value, and mask it in logs" }),
  build: z.boolean().optional().meta({ description: "Builds get the variable too" }),
});

export const setVariableToolResponse = z.object({
  name: z.string(),
  is_applied: z.boolean().meta({ description: "Whether the app runs with it; false while it restarts" }),
  problem: z.string().nullable().meta({ description: "Why the app did not start with it" }),
});

export const listVariablesToolRequest = z.strictObject({ app_id: appOfTool });

/** Without values, because those of an app are often secrets, whether or not they are marked as such. */
export const listVariablesToolResponse = z.object({
  variables: z.array(z.object({ name: z.string(), secret: z.boolean(), build: z.boolean(), updated_at: z.string() })),
  is_applied: z.boolean(),
  problem: z.string().nullable(),
});
