import { covered, planned } from "./requirement.ts";

/** The clauses about the REST interface and the life cycle of apps. */
export const REST_REQUIREMENTS = {
  // The life cycle of an app
  "apps.deploy.clones": covered(
    "1",
    "A deploy clones the repository named `owner/name` and runs the build pipeline on it.",
  ),
  "apps.deploy.customizes": covered("1", "The customization text reaches the app builder agent."),
  "apps.update": covered("1", "A caller can update an existing app.", { procedures: ["apps.update"] }),
  "apps.token.bearer": covered(
    "1",
    "The app token, sent as a bearer token, authenticates a request to the deployed app.",
  ),
  "apps.url": covered("1", "The deployed app responds at its public URL."),
  "apps.organization": covered("1", "An app belongs to one organization, and a caller sees only the apps of its own."),
  "apps.delete.script": covered("1", "Deleting an app removes its edge-platform script."),
  "apps.delete.database": covered("1", "Deleting an app removes its SQL database."),
  "apps.delete.sources": covered("1", "Deleting an app removes its source files from object storage."),
  "apps.delete.auth_entry": covered("1", "Deleting an app removes its key-value auth entry."),
  "apps.delete.record": covered("1", "The app's record is removed after its resources, never before."),
  "apps.state.created": covered("3", "An accepted deploy creates the app's record and starts its build pipeline."),
  "apps.state.ready": covered("3", "An app whose pipeline has succeeded has the status `ready`."),

  // Bodies
  "rest.json": covered("2", "Every request and response body is JSON (`application/json`)."),

  // DeployRequest
  "rest.deploy.repo.required": covered("2.1", "A deploy without `repo` is refused."),
  "rest.deploy.repo.string": covered("2.1", "A `repo` that is not a string is refused."),
  "rest.deploy.repo.pattern": covered(
    "2.1",
    "`repo` is `owner/name`: letters, digits, `_`, `.` and `-` around one slash.",
  ),
  "rest.deploy.branch.default": covered("2.1", "Without `branch`, the branch `main` is deployed."),
  "rest.deploy.branch.given": covered("2.1", "With `branch`, that branch is deployed."),
  "rest.deploy.branch.string": covered("2.1", "A `branch` that is not a string is refused."),
  "rest.deploy.customization.optional": covered("2.1", "A deploy needs no `customization`."),
  "rest.deploy.customization.string": covered("2.1", "A `customization` that is not a string is refused."),

  // DeployResponse
  "rest.deploy.response.app_id": covered("2.2", "`app_id` is the new app's UUID."),
  "rest.deploy.response.slug": covered("2.2", "`slug` is a string, and part of the app's URL."),
  "rest.deploy.response.app_token": covered("2.2", "`app_token` is a string, the bearer token of the deployed app."),
  "rest.deploy.response.url": covered("2.2", "`url` is the app's public URL."),

  // AppSummary and ListAppsResponse
  "rest.list.apps": covered("2.4", "`apps` is an array, empty for an organization without apps."),
  "rest.list.id": covered("2.3", "`id` is the app's UUID."),
  "rest.list.name": covered("2.3", "`name` is a string."),
  "rest.list.slug": covered("2.3", "`slug` is a string."),
  "rest.list.status": covered("2.3", "`status` is the app's current status."),
  "rest.list.status_message": covered("2.3", "`status_message` is always present: a string or null."),
  "rest.list.created_at": covered("2.3", "`created_at` is a string."),
  "rest.list.updated_at": covered("2.3", "`updated_at` is a string."),
  "rest.list.app_token": covered("2.3", "`app_token` is the app's token."),

  // AppDetail
  "rest.get.id": covered("2.5", "`id` is the app's UUID."),
  "rest.get.user_id": covered("2.5", "`user_id`, when present, is a UUID."),
  "rest.get.org_id": covered("2.5", "`org_id`, when present, is the UUID of the app's organization."),
  "rest.get.created_by": covered("2.5", "`created_by`, when present, is a UUID."),
  "rest.get.name": covered("2.5", "`name` is a string."),
  "rest.get.slug": covered("2.5", "`slug` is a string."),
  "rest.get.status": covered("2.5", "`status` is the current build status."),
  "rest.get.status_message": covered("2.5", "`status_message`, when present, is a string or null."),
  "rest.get.error": covered("2.5", "`error`, when present, is null or the reason of a failed build."),
  "rest.get.created_at": covered("2.5", "`created_at` is a string."),
  "rest.get.updated_at": covered("2.5", "`updated_at` is a string."),
  "rest.get.app_token": covered("2.5", "`app_token` is the app's token."),
  "rest.get.manifest": covered("2.5", "`manifest`, when present, is an object or null."),
  "rest.get.manifest.sql_database_id": covered(
    "2.5",
    "`manifest.sql_database_id` is a string that names the app's database.",
  ),
  "rest.get.manifest.object_bucket_name": covered(
    "2.5",
    "`manifest.object_bucket_name` is a string that names its bucket.",
  ),
  "rest.get.manifest.framework": covered("2.5", "`manifest.framework` is a string that names the app's framework."),
  "rest.get.url": covered("2.5", "`url` is the app's public URL."),

  // DeleteResponse, LogsResponse, Error
  "rest.delete.status": covered("2.6", "`status` is always `deleted`."),
  "rest.logs.status": covered("2.7", "`status` is the current build status."),
  "rest.logs.status_message": covered("2.7", "`status_message` is always present: a string or null."),
  "rest.logs.error": covered("2.7", "`error` is always present: a string or null."),
  "rest.logs.logs": covered("2.7", "`logs` is the raw build log."),
  "rest.logs.logs.null": covered("2.7", "`logs` is present and null while object storage has no log of the app."),
  "rest.error": covered("2.8", "The body of an error contains the string `error`."),

  // Endpoints
  "rest.deploy.201": covered("4.1", "A valid deploy returns 201 with DeployResponse.", { procedures: ["apps.deploy"] }),
  "rest.deploy.400": covered("4.1", "An invalid deploy returns 400 with Error."),
  "rest.deploy.403": covered("4.1", "A deploy that exceeds the plan limit returns 403 with Error."),
  "rest.deploy.429": covered("4.1", "A deploy that exceeds the rate limit returns 429 with `Retry-After`."),
  "rest.deploy.500": covered("4.1", "An internal error during a deploy returns 500 with Error."),
  "rest.list.200": covered("4.1", "Listing apps returns 200 with ListAppsResponse.", { procedures: ["apps.list"] }),
  "rest.list.every": covered("4.1", "The list contains every app of the caller's organization."),
  "rest.list.500": covered("4.1", "An internal error while listing apps returns 500 with Error."),
  "rest.get.200": covered("4.1", "Getting an app returns 200 with AppDetail.", { procedures: ["apps.get"] }),
  "rest.get.404": covered("4.1", "Getting an app that does not exist returns 404 with Error."),
  "rest.delete.200": covered("4.1", "Deleting an app returns 200 with DeleteResponse.", {
    procedures: ["apps.delete"],
  }),
  "rest.delete.404": covered("4.1", "Deleting an app that does not exist returns 404 with Error."),
  "rest.logs.200": covered("4.1", "Reading an app's logs returns 200 with LogsResponse.", {
    procedures: ["apps.logs"],
  }),
  "rest.logs.404": covered("4.1", "Reading the logs of an app that does not exist returns 404 with Error."),
  "rest.id.uuid": covered("4.1", "The `id` in the path is a UUID."),

  // Authentication
  "rest.auth.required": covered("5.1", "Every `/v1/*` endpoint requires `Authorization: Bearer <token>`."),
  "rest.auth.described": covered(
    "5.1",
    "The interface description declares the HTTP bearer scheme with the format JWT.",
  ),
  "rest.auth.api_key": covered("5.1", "An API key is accepted on every endpoint."),
  "rest.auth.api_key.organization": covered("5.1", "An API key is scoped to the organization that it was issued for."),
  "rest.auth.jwt": covered("5.1", "An access token (JWT) of the identity provider is accepted on every endpoint."),
  "rest.auth.jwt.sign_in": covered(
    "5.1",
    "A social sign-in on the web site yields an access token for the dashboard and the CLI.",
  ),
  "rest.auth.api_key.issued": covered("5.1", "A user issues API keys on the dashboard's Settings page."),
  "rest.auth.401.missing": covered("5.1", "A request without a token returns 401."),
  "rest.auth.401.invalid": covered("5.1", "A request with an invalid token returns 401."),
  "rest.get.404.foreign": covered("5.1", "Getting another organization's app returns 404."),
  "rest.delete.404.foreign": covered(
    "5.1",
    "Deleting another organization's app returns 404 and does not change the app.",
  ),
  "rest.logs.404.foreign": covered("5.1", "Reading the logs of another organization's app returns 404."),
  "rest.foreign.hidden": covered(
    "5.1",
    "The responses for another organization's app and for an app that never existed are equal.",
  ),

  // Errors
  "rest.error.400": covered("7.1", "The body of a 400 is `{error}`."),
  "rest.error.403": covered("7.1", "The body of a 403 is `{error}`."),
  "rest.error.404": covered("7.1", "The body of a 404 of get, delete and logs is `{error}`."),
  "rest.error.500": covered("7.1", "The body of a 500 is `{error}`."),
  "rest.error.401": covered("7.1", "A missing or invalid token returns 401 at every `/v1/*` endpoint."),
  "rest.error.429": covered("7.1", "An exceeded rate limit returns 429 with `Retry-After`."),

  // Limits
  "limits.deploy.rate": covered("8", "An organization can deploy at most 5 times in 5 minutes."),
  "limits.deploy.per_organization": covered("8", "The deploy limit is counted separately for each organization."),
  "limits.deploy.retry_after": covered(
    "8",
    "A deploy that waits as long as `Retry-After` says does not exceed the rate limit.",
  ),
  "limits.reads.unlimited": covered("8", "GET endpoints have no rate limit."),
  "limits.plan": covered("8", "A deploy that would exceed the organization's plan is refused with 403."),

  // Versions
  "versions.prefix": covered("9", "The stable version is `v1`, which is the first segment of every path."),
  "versions.other": covered("9", "A path with the prefix of another version is not served as `v1`."),
  "versions.stable": covered("9", "No operation and no response field of `v1` is ever removed."),
  "versions.openapi": covered("9", "The interface description is OpenAPI 3.1.0 and has the version 1.0.0."),
  "versions.tolerant_clients": covered("9", "This project's clients accept unknown optional fields."),

  // Clients of the service
  "clients.dashboard.deploy": planned("4.1", "The dashboard uses the same deploy operation."),
  "clients.cli.deploy": covered("4.1", "The command-line client uses the same deploy operation."),
};
