import type { FastifyRequest } from "fastify";
import { CLIENT_ADDRESS_HEADER } from "../http/client-address.ts";
import type { Auth } from "../identity/open-auth.ts";

export interface InitialResponses {
  /** The bodies by their paths below `/api/auth`. */
  bodies: Record<string, unknown>;
  /** The session cookie, when reading the session has extended it. */
  cookies: string[];
}

/**
 * Responds, with a page, to the requests that the page would send before it can show anything: who the user is, the
 * organizations, and the role in the one that the page shows. On a slow network each of them takes half a second.
 *
 * @returns no bodies for a request without a session
 */
export async function readInitialResponses(
  auth: Auth,
  request: FastifyRequest,
  publicUrl: string,
): Promise<InitialResponses> {
  const responses: InitialResponses = { bodies: {}, cookies: [] };
  const { cookie } = request.headers;
  if (cookie === undefined) return responses;
  const get = async (path: string): Promise<unknown> => {
    const headers = { cookie, [CLIENT_ADDRESS_HEADER]: request.ip };
    const response = await auth.handler(new Request(new URL(`/api/auth${path}`, publicUrl), { headers }));
    if (!response.ok) return null;
    responses.cookies.push(...response.headers.getSetCookie());
    const body: unknown = await response.json();
    if (body !== null) responses.bodies[path] = body;
    return body;
  };
  const session = (await get("/get-session")) as { session: { activeOrganizationId?: string | null } } | null;
  if (session === null) return responses;
  const organizations = ((await get("/organization/list")) ?? []) as { id: string }[];
  const id = selectOrganization(organizations, session.session.activeOrganizationId, request.query);
  if (id !== undefined) await get(`/organization/get-active-member-role?organizationId=${encodeURIComponent(id)}`);
  return responses;
}

/** The organization that the page will show: that of its URL, else the one that the user selected last, else the first. */
function selectOrganization(
  organizations: readonly { id: string }[],
  activeId: string | null | undefined,
  query: unknown,
): string | undefined {
  const { org = activeId } = query as { org?: unknown };
  const ids = organizations.map(({ id }) => id);
  return ids.find((id) => id === org) ?? ids[0];
}

/** Writes the responses into a page, as data that `initial-responses.ts` of the dashboard reads. */
export function insertInitialResponses(page: string, { bodies }: InitialResponses): string {
  if (Object.keys(bodies).length === 0) return page;
  // A name that contains `</script>` must not end the element.
  const json = JSON.stringify(bodies).replaceAll("<", String.raw`\u003c`);
  return page.replace(
    "</body>",
    () => `<script type="application/json" id="initial-responses">${json}</script></body>`,
  );
}
