import type { TokenPrefix } from "../../domain/tokens/token-format.ts";

const KINDS: Readonly<Record<TokenPrefix, string>> = {
  svk: "an API key",
  svp: "a personal access token",
  svg: "a gateway token",
  sva: "an app token",
};

const NO_VALID_TOKEN = "Missing or invalid token.";

/** Which tokens an API accepts. */
interface Api {
  accepts: readonly TokenPrefix[];
  /** The sentence about the accepted tokens, for a caller that sent another kind. */
  accepted: string;
}

const REST: Api = { accepts: ["svk"], accepted: "REST and typed RPC accept an API key." };
const GATEWAY: Api = { accepts: ["svp", "svg"], accepted: "The gateway accepts a personal access token." };

/** The message of a 401 of REST and typed RPC. */
export function explainRestUnauthenticated(authorization: string | undefined, publicUrl: string): string {
  return `${findProblem(authorization, REST)} Create an API key at ${publicUrl}/settings/tokens and send it as Authorization: Bearer svk_….`;
}

/** The message of a 401 of the gateway. */
export function explainGatewayUnauthenticated(authorization: string | undefined, publicUrl: string): string {
  return `${findProblem(authorization, GATEWAY)} Create a personal access token at ${publicUrl}/settings/tokens and send it as Authorization: Bearer svp_…. The operator can also create one on the machine of the service: ${ADMIN_COMMAND}`;
}

const ADMIN_COMMAND =
  "npm run admin -- create-token --org ID --kind personal_access_token --name NAME, with an ID from npm run admin -- list-organizations.";

/** Names the kind of a token that the API does not accept. The prefix says the kind, also of an unknown token. */
function findProblem(authorization: string | undefined, { accepts, accepted }: Api): string {
  const prefix = /^bearer (sv[kpga])_/i.exec(authorization ?? "")?.[1] as TokenPrefix | undefined;
  return prefix === undefined || accepts.includes(prefix) ? NO_VALID_TOKEN : `This is ${KINDS[prefix]}. ${accepted}`;
}
