import { APIError } from "better-auth/api";
import { ROLES } from "../../domain/shared/roles.ts";
import { isUuid } from "../../domain/shared/ids.ts";
import { type AuthCall, type Fields, readFields } from "./auth-call.ts";
import { checkClientRegistration } from "./client-registration-rules.ts";

const ID_FIELDS = ["organizationId", "invitationId", "memberId", "userId"];
const ROLE_PATHS = ["/organization/invite-member", "/organization/update-member-role"];
/** The maximum length of a name or slug, and of any other text in a body, in characters. */
const MAX_NAME_LENGTH = 100;
const MAX_TEXT_LENGTH = 4096;
/** The maximum nesting of a body: far more than any endpoint needs, far less than the stack allows. */
const MAX_DEPTH = 20;

/**
 * Rejects input that better-auth would wrongly accept, or that would make it fail with an internal error. All other
 * validation is left to better-auth.
 *
 * @throws {APIError} 400
 */
export function validateAuthInput({ path, body, query }: Pick<AuthCall, "path" | "body" | "query">): void {
  const form = readFields(body);
  const inputs = [form, readFields(query)];
  if (!inputs.every((fields) => isStorable(fields)))
    throw invalidInput(
      `Text must not contain NUL or a lone surrogate, and values must be nested at most ${MAX_DEPTH} levels deep.`,
    );
  if (path.startsWith("/organization/")) for (const fields of inputs) checkIds(path, fields);
  checkLengths(form);
  if (ROLE_PATHS.includes(path)) checkRole(form);
  if (path === "/oauth2/register") checkClientRegistration(form);
}

/**
 * Requires exactly one role by its plain name. better-auth compares the role `owner` before it trims names, so an admin
 * could otherwise create an owner with `" owner"`.
 */
function checkRole({ role, resend }: Fields): void {
  if (!(ROLES as readonly unknown[]).includes(role)) throw invalidInput(`role: must be one of ${ROLES.join(", ")}.`);
  // better-auth responds to `resend` with the id of an existing invitation, which may be for a higher role.
  if (resend !== undefined)
    throw invalidInput("resend: not supported. Cancel the invitation, then create another one.");
}

function checkIds(path: string, fields: Fields): void {
  const names = path === "/organization/get-invitation" ? ["id", ...ID_FIELDS] : ID_FIELDS;
  for (const name of names) {
    const id = fields[name];
    if (typeof id === "string" && !isUuid(id)) throw invalidInput(`${name}: must be a UUID.`);
  }
  const member = fields["memberIdOrEmail"];
  if (typeof member === "string" && !member.includes("@") && !isUuid(member))
    throw invalidInput("memberIdOrEmail: must be a UUID or an email address.");
}

function checkLengths(form: Fields): void {
  for (const { name, slug, ...rest } of [form, readFields(form["data"])]) {
    for (const text of [name, slug])
      if (typeof text === "string" && text.length > MAX_NAME_LENGTH)
        throw invalidInput(`A name or slug must have at most ${MAX_NAME_LENGTH} characters.`);
    // The signed OAuth request may be longer. better-auth verifies its signature.
    const { oauth_query: _signed, ...texts } = rest;
    if (Object.values(texts).some((text) => typeof text === "string" && text.length > MAX_TEXT_LENGTH))
      throw invalidInput(`A text must have at most ${MAX_TEXT_LENGTH} characters.`);
  }
}

/** Whether PostgreSQL can store a value: neither `text` nor `jsonb` accepts NUL or a lone surrogate. */
function isStorable(value: unknown, maxDepth = MAX_DEPTH): boolean {
  if (typeof value === "string") return !value.includes("\0") && value.isWellFormed();
  if (typeof value !== "object" || value === null) return true;
  return maxDepth > 0 && Object.entries(value).every((entry) => entry.every((part) => isStorable(part, maxDepth - 1)));
}

function invalidInput(message: string): APIError {
  return new APIError("BAD_REQUEST", { message, code: "INVALID" });
}
