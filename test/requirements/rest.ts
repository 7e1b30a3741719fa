import { held, later } from "./requirement.ts";

/** What the specification asks of the REST interface and of an app's life behind it. */
export const REST_REQUIREMENTS = {
  // An app's life
  "apps.deploy.clones": held(
    "1",
    "A deploy clones the repository named `owner/name` and runs the build pipeline on it.",
  ),
  "apps.deploy.customizes": held("1", "The customization text reaches the app builder agent."),
  "apps.update": later("1", "A caller can update an app that exists."),
  "apps.token.bearer": held("1", "The app token, sent as a bearer token, authenticates a request to the deployed app."),
  "apps.url": held("1", "The deployed app answers at its public URL."),
  "apps.organization": held("1", "An app belongs to one organization, and a caller sees only the apps of its own."),
  "apps.delete.script": held("1", "Deleting an app removes its edge-platform script."),
  "apps.delete.database": held("1", "Deleting an app removes its SQL database."),
  "apps.delete.sources": held("1", "Deleting an app removes its source files from object storage."),
  "apps.delete.auth_entry": held("1", "Deleting an app removes its key-value auth entry."),
  "apps.delete.record": held("1", "The app's record is removed after its resources, never before them."),
  "apps.state.created": held("3", "An accepted deploy creates the app's record and starts its build pipeline."),
  "apps.state.ready": held("3", "An app whose pipeline has succeeded has the status `ready`."),

  // Bodies
  "rest.json": held("2", "Every body, of a request and of an answer, is JSON (`application/json`)."),

  // DeployRequest
  "rest.deploy.repo.required": held("2.1", "A deploy without `repo` is refused."),
  "rest.deploy.repo.string": held("2.1", "A `repo` that is not a string is refused."),
  "rest.deploy.repo.pattern": held(
    "2.1",
    "`repo` is `owner/name`: letters, digits, `_`, `.` and `-` around one slash.",
  ),
  "rest.deploy.branch.default": held("2.1", "Without `branch`, the branch `main` is deployed."),
  "rest.deploy.branch.given": held("2.1", "With `branch`, that branch is deployed."),
  "rest.deploy.branch.string": held("2.1", "A `branch` that is not a string is refused."),
  "rest.deploy.customization.optional": held("2.1", "A deploy needs no `customization`."),
  "rest.deploy.customization.string": held("2.1", "A `customization` that is not a string is refused."),

  // DeployResponse
  "rest.deploy.response.app_id": held("2.2", "`app_id` is the new app's UUID."),
  "rest.deploy.response.slug": held("2.2", "`slug` is a string, the one under which the app is reached."),
  "rest.deploy.response.app_token": held("2.2", "`app_token` is a string, the bearer token of the deployed app."),
  "rest.deploy.response.url": held("2.2", "`url` is the app's public URL."),

  // AppSummary and ListAppsResponse
  "rest.list.apps": held("2.4", "`apps` is an array, empty for an organization without apps."),
  "rest.list.id": held("2.3", "`id` is the app's UUID."),
  "rest.list.name": held("2.3", "`name` is a string."),
  "rest.list.slug": held("2.3", "`slug` is a string."),
  "rest.list.status": held("2.3", "`status` is the app's current status."),
  "rest.list.status_message": held("2.3", "`status_message` is always present: a string or null."),
  "rest.list.created_at": held("2.3", "`created_at` is a string."),
  "rest.list.updated_at": held("2.3", "`updated_at` is a string."),
  "rest.list.app_token": held("2.3", "`app_token` is the app's token."),

  // AppDetail
  "rest.get.id": held("2.5", "`id` is the app's UUID."),
  "rest.get.user_id": held("2.5", "`user_id`, when present, is a UUID."),
  "rest.get.org_id": held("2.5", "`org_id`, when present, is a UUID: that of the app's organization."),
  "rest.get.created_by": held("2.5", "`created_by`, when present, is a UUID."),
  "rest.get.name": held("2.5", "`name` is a string."),
  "rest.get.slug": held("2.5", "`slug` is a string."),
  "rest.get.status": held("2.5", "`status` is the current build status."),
  "rest.get.status_message": held("2.5", "`status_message`, when present, is a string or null."),
  "rest.get.error": held("2.5", "`error`, when present, is null or says why the build failed."),
  "rest.get.created_at": held("2.5", "`created_at` is a string."),
  "rest.get.updated_at": held("2.5", "`updated_at` is a string."),
  "rest.get.app_token": held("2.5", "`app_token` is the app's token."),
  "rest.get.manifest": held("2.5", "`manifest`, when present, is an object or null."),
  "rest.get.manifest.sql_database_id": held(
    "2.5",
    "`manifest.sql_database_id` is a string that names the app's database.",
  ),
  "rest.get.manifest.object_bucket_name": held(
    "2.5",
    "`manifest.object_bucket_name` is a string that names its bucket.",
  ),
  "rest.get.manifest.framework": held("2.5", "`manifest.framework` is a string that names the app's framework."),
  "rest.get.url": held("2.5", "`url` is the app's public URL."),

  // DeleteResponse, LogsResponse, Error
  "rest.delete.status": held("2.6", "`status` is `deleted`, and nothing else."),
  "rest.logs.status": held("2.7", "`status` is the current build status."),
  "rest.logs.status_message": held("2.7", "`status_message` is always present: a string or null."),
  "rest.logs.error": held("2.7", "`error` is always present: a string or null."),
  "rest.logs.logs": held("2.7", "`logs` is the raw build log."),
  "rest.logs.logs.null": held("2.7", "`logs` is present and null while object storage holds no log of the app."),
  "rest.error": held("2.8", "An error's body holds the string `error`."),

  // Endpoints
  "rest.deploy.201": held("4.1", "A valid deploy answers 201 with DeployResponse."),
  "rest.deploy.400": held("4.1", "An invalid deploy answers 400 with Error."),
  "rest.deploy.403": held("4.1", "A deploy past the plan limit answers 403 with Error."),
  "rest.deploy.429": held("4.1", "A deploy past the rate limit answers 429 with `Retry-After`."),
  "rest.deploy.500": held("4.1", "A fault while deploying answers 500 with Error."),
  "rest.list.200": held("4.1", "Listing answers 200 with ListAppsResponse."),
  "rest.list.every": held("4.1", "The list has every app of the caller's organization."),
  "rest.list.500": held("4.1", "A fault while listing answers 500 with Error."),
  "rest.get.200": held("4.1", "Getting an app answers 200 with AppDetail."),
  "rest.get.404": held("4.1", "Getting an app that does not exist answers 404 with Error."),
  "rest.delete.200": held("4.1", "Deleting an app answers 200 with DeleteResponse."),
  "rest.delete.404": held("4.1", "Deleting an app that does not exist answers 404 with Error."),
  "rest.logs.200": held("4.1", "Reading an app's logs answers 200 with LogsResponse."),
  "rest.logs.404": held("4.1", "Reading the logs of an app that does not exist answers 404 with Error."),
  "rest.id.uuid": held("4.1", "The path's `id` is a UUID; nothing else names an app."),

  // Authentication
  "rest.auth.required": held("5.1", "Every `/v1/*` endpoint asks for `Authorization: Bearer <token>`."),
  "rest.auth.described": held("5.1", "The interface description declares the HTTP bearer scheme with the format JWT."),
  "rest.auth.api_key": held("5.1", "An API key is accepted on every endpoint."),
  "rest.auth.api_key.organization": held("5.1", "An API key acts for the one organization it was issued for."),
  "rest.auth.jwt": held("5.1", "An access token (JWT) of the identity provider is accepted on every endpoint."),
  "rest.auth.jwt.sign_in": later(
    "5.1",
    "A social sign-in on the web site yields an access token for the dashboard and the CLI.",
  ),
  "rest.auth.api_key.issued": later("5.1", "A person issues API keys on the dashboard's Settings page."),
  "rest.auth.401.missing": held("5.1", "A request without a token answers 401."),
  "rest.auth.401.invalid": held("5.1", "A request whose token is not valid answers 401."),
  "rest.get.404.foreign": held("5.1", "Getting another organization's app answers 404."),
  "rest.delete.404.foreign": held("5.1", "Deleting another organization's app answers 404 and leaves it alone."),
  "rest.logs.404.foreign": held("5.1", "Reading the logs of another organization's app answers 404."),
  "rest.foreign.hidden": held("5.1", "No answer tells another organization's app from one that never existed."),

  // Errors
  "rest.error.400": held("7.1", "The body of a 400 is `{error}`."),
  "rest.error.403": held("7.1", "The body of a 403 is `{error}`."),
  "rest.error.404": held("7.1", "The body of a 404 is `{error}`, from get, delete and logs alike."),
  "rest.error.500": held("7.1", "The body of a 500 is `{error}`."),
  "rest.error.401": held("7.1", "A missing or invalid token answers 401 on any `/v1/*` endpoint."),
  "rest.error.429": held("7.1", "An exceeded rate limit answers 429 with `Retry-After`."),

  // Limits
  "limits.deploy.rate": held("8", "An organization deploys at most 5 times in 5 minutes."),
  "limits.deploy.per_organization": held("8", "The deploy limit is counted for each organization by itself."),
  "limits.deploy.retry_after": held(
    "8",
    "`Retry-After` says how long to wait; a deploy after that is not refused for its rate.",
  ),
  "limits.reads.unlimited": held("8", "No GET endpoint is limited in its rate."),
  "limits.plan": held("8", "A deploy that would exceed the organization's plan is refused with 403."),

  // Versions
  "versions.prefix": held("9", "The stable version is `v1`, the first segment of every path."),
  "versions.other": held("9", "Another version's prefix never answers as `v1`."),
  "versions.stable": held("9", "What `v1` once answered it still answers: no operation or field is taken away."),
  "versions.openapi": held("9", "The interface description is OpenAPI 3.1.0 and has the version 1.0.0."),
  "versions.tolerant_clients": later("9", "Our clients accept optional fields they do not know."),

  // The service's own clients
  "clients.dashboard.deploy": later("4.1", "The dashboard deploys through the same operation."),
  "clients.cli.deploy": later("4.1", "The command-line client deploys through the same operation."),
};
