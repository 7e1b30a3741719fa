import { APIError } from "better-auth/api";
import { ROLES } from "../../domain/shared/caller.ts";
import { isUuid } from "../../domain/shared/ids.ts";
import { type Fields, fieldsOf } from "./auth-call.ts";

/** The part of a call that its caller chose. */
export interface Asked {
  path: string;
  body?: unknown;
  query?: unknown;
}

const ID_FIELDS = ["organizationId", "invitationId", "memberId", "userId"];
/** What anybody calls a person or an organization may have so many characters; any other text a form holds, so many. */
const LONGEST_NAME = 100;
const LONGEST_TEXT = 4096;

/**
 * Refuses what better-auth would take, or would fail at, and must not. Everything else is its own to judge.
 *
 * @throws {APIError} 400
 */
export function validateAuthInput({ path, body, query }: Asked): void {
  const asked = [fieldsOf(body), fieldsOf(query)];
  if (asked.some((fields) => !isStorable(fields)))
    throw invalid("Text must not hold the character NUL or half a character, and nothing may be nested this deep.");
  if (path.startsWith("/organization/")) for (const fields of asked) checkIds(path, fields);
  const [form = {}] = asked;
  checkNames(form);
  if (ROLE_PATHS.includes(path)) checkRole(form);
  if (path === "/oauth2/register") checkClient(form);
}

const ROLE_PATHS = ["/organization/invite-member", "/organization/update-member-role"];

/**
 * One role by its plain name. better-auth looks for the owner's among names that it has not trimmed, so an admin could
 * make owners by `" owner"`.
 */
function checkRole({ role, resend }: Fields): void {
  if (!(ROLES as readonly unknown[]).includes(role)) throw invalid(`role: must be one of ${ROLES.join(", ")}.`);
  // It answers with the id of an invitation that somebody else made, whatever role that one gives.
  if (resend !== undefined) throw invalid("resend: no mail is sent. Cancel the invitation, then make another.");
}

function checkIds(path: string, fields: Fields): void {
  const names = path === "/organization/get-invitation" ? ["id", ...ID_FIELDS] : ID_FIELDS;
  for (const name of names) {
    const id = fields[name];
    if (typeof id === "string" && !isUuid(id)) throw invalid(`${name}: must be an id.`);
  }
  const member = fields["memberIdOrEmail"];
  if (typeof member === "string" && !member.includes("@") && !isUuid(member))
    throw invalid("memberIdOrEmail: must be an id or an address.");
}

function checkNames(form: Fields): void {
  for (const { name, slug, ...rest } of [form, fieldsOf(form["data"])]) {
    for (const text of [name, slug])
      if (typeof text === "string" && text.length > LONGEST_NAME)
        throw invalid(`A name has ${LONGEST_NAME} characters at most.`);
    // What an OAuth request holds is checked against its signature.
    const { oauth_query: _signed, ...texts } = rest;
    if (Object.values(texts).some((text) => typeof text === "string" && text.length > LONGEST_TEXT))
      throw invalid(`A text has ${LONGEST_TEXT} characters at most.`);
  }
}

const CLIENT_LINKS = ["client_uri", "logo_uri", "tos_uri", "policy_uri"];
/** The service would send requests to these by itself, for anybody who asks. */
const CALLED_BY_US = ["backchannel_logout_uri", "jwks_uri", "sector_identifier_uri"];
const LARGEST_CLIENT = 8192;

/** What anybody may say about an OAuth client: names and links for people to read, and nothing that the service calls. */
function checkClient(client: Fields): void {
  const { client_name: name, redirect_uris: redirects } = client;
  const called = CALLED_BY_US.find((field) => client[field] !== undefined);
  if (called !== undefined) throw invalidClient(`${called} is not supported`);
  if (JSON.stringify(client).length > LARGEST_CLIENT) throw invalidClient("the metadata is too large");
  if (typeof name === "string" && name.length > LONGEST_NAME) throw invalidClient("client_name is too long");
  if (Array.isArray(redirects) && redirects.length > 20) throw invalidClient("there are too many redirect_uris");
  for (const field of CLIENT_LINKS) {
    const link = client[field];
    if (typeof link === "string" && !/^https?:\/\//i.test(link)) throw invalidClient(`${field} is no web address`);
  }
}

/** How deep what a form holds may be nested: far deeper than any needs, and far from the end of the stack. */
const DEEPEST = 20;

/** Whether the database can keep it: neither its text nor its JSON takes a NUL, or a lone half of a surrogate pair. */
function isStorable(value: unknown, deepest = DEEPEST): boolean {
  if (typeof value === "string") return !value.includes("\0") && value.isWellFormed();
  if (typeof value !== "object" || value === null) return true;
  return deepest > 0 && Object.entries(value).every((pair) => pair.every((part) => isStorable(part, deepest - 1)));
}

function invalid(message: string): APIError {
  return new APIError("BAD_REQUEST", { message, code: "INVALID" });
}

function invalidClient(description: string): APIError {
  return new APIError("BAD_REQUEST", { error: "invalid_client_metadata", error_description: description });
}
