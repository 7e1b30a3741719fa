import { deleteVariable } from "../domain/variables/delete-variable.ts";
import { listVariables } from "../domain/variables/list-variables.ts";
import { setVariable } from "../domain/variables/set-variable.ts";
import { READS, REPLACES } from "./core/tool-annotations.ts";
import { procedure, restartProcedure, router } from "./core/trpc.ts";
import {
  changedVariable,
  deletedVariable,
  deleteVariableRequest,
  listVariablesRequest,
  listVariablesToolRequest,
  listVariablesToolResponse,
  setVariableRequest,
  setVariableToolRequest,
  setVariableToolResponse,
  variableList,
} from "./variables.schema.ts";

const tags = ["Variables"];
const noApp = "No such app in the organization";
const tooManyRestarts =
  "The organization changes variables or rolls apps back too often, or the client's network has sent too many invalid tokens";

export const variables = router({
  set: restartProcedure
    .meta({
      access: { scope: "deploy" },
      openapi: {
        method: "PUT",
        path: "/v1/apps/{id}/variables/{name}",
        tags,
        summary: "Set a variable of an app",
        description:
          "Creates an environment variable or replaces its value. The script of the app gets it as a binding. A running app restarts with it, without a build; no request fails. The call waits for the restart. If that takes longer than ten seconds, the response has `is_applied: false`, and the service continues. A variable with `build: true` is in the environment of the next builds too. Repeating a call changes nothing.",
        successDescription: "The variable is stored",
        errorResponses: {
          400: "The name or the value is invalid, or the app has too many variables",
          404: noApp,
          409: "The app is being deleted",
          429: tooManyRestarts,
        },
      },
      tool: {
        name: "service_set_variable",
        title: "Set a variable of an app",
        description:
          'Creates or replaces an environment variable of an app, which restarts with it, without a build. Mark keys and passwords as secret. Example: {"app_id": "shop-k7m2xq", "name": "MAIL_FROM", "value": "shop@example.com"}',
        annotations: REPLACES,
        arguments: setVariableToolRequest,
        fields: { app_id: "id" },
        result: setVariableToolResponse,
      },
    })
    .input(setVariableRequest)
    .output(changedVariable)
    .mutation(({ ctx, input }) => setVariable(ctx.service, ctx.caller, input)),

  list: procedure
    .meta({
      openapi: {
        method: "GET",
        path: "/v1/apps/{id}/variables",
        tags,
        summary: "List the variables of an app",
        description: "Every variable, by name. The values of secrets are not returned.",
        successDescription: "The variables",
        errorResponses: { 404: noApp },
      },
      tool: {
        name: "service_list_variables",
        title: "List the variables of an app",
        description:
          'Lists the names of the environment variables of an app, and whether it runs with the newest values. Values are not returned. Example: {"app_id": "shop-k7m2xq"}',
        annotations: READS,
        arguments: listVariablesToolRequest,
        fields: { app_id: "id" },
        result: listVariablesToolResponse,
      },
    })
    .input(listVariablesRequest)
    .output(variableList)
    .query(({ ctx, input }) => listVariables(ctx.service, ctx.caller, input.id)),

  delete: restartProcedure
    .meta({
      access: { scope: "deploy" },
      openapi: {
        method: "DELETE",
        path: "/v1/apps/{id}/variables/{name}",
        tags,
        summary: "Delete a variable of an app",
        description: "A running app restarts without the variable, as after a change of its value.",
        successDescription: "The variable is deleted",
        errorResponses: {
          404: "No such variable, or no such app in the organization",
          409: "The app is being deleted",
          429: tooManyRestarts,
        },
      },
    })
    .input(deleteVariableRequest)
    .output(deletedVariable)
    .mutation(({ ctx, input }) => deleteVariable(ctx.service, ctx.caller, input)),
});
