import {
  type Client,
  type ClientOptions,
  createClient,
  ServiceError,
  type TokenProvider,
} from "../../sdk/src/client.ts";
import { CliError, EXIT, usageError } from "./cli-error.ts";
import type { ConfigFile, OAuthCredentials, ServiceSettings } from "./config-file.ts";
import type { Environment } from "./environment.ts";
import { OAuthClient } from "./oauth.ts";

/** Where the service is when nothing says otherwise: the address of `npm start`. */
const DEFAULT_URL = "http://127.0.0.1:3000";
/** An access token is replaced this long before it expires, in milliseconds. */
const EARLY_MS = 30_000;

/** Options of every command. */
export interface GlobalOptions {
  service?: string;
  org?: string;
  json?: boolean;
  debug?: boolean;
}

/** Where calls go, and as whom. */
export type ServiceTarget = Pick<ClientOptions, "url" | "token" | "organization">;

/** Which service a command uses, and as whom. Options win over variables, and variables over the configuration file. */
export class Session {
  readonly config: ConfigFile;
  readonly #environment: Environment;
  readonly #options: GlobalOptions;

  constructor(config: ConfigFile, environment: Environment, options: GlobalOptions) {
    this.config = config;
    this.#environment = environment;
    this.#options = options;
  }

  /** @throws {CliError} for an invalid URL */
  async url(): Promise<string> {
    const url = this.#options.service ?? this.#environment.url ?? (await this.config.read()).url ?? DEFAULT_URL;
    if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol))
      throw usageError(`"${url}" is not the URL of a service. A valid one is ${DEFAULT_URL}`);
    return url.replace(/\/+$/, "");
  }

  /** What is stored about the service. */
  async settings(): Promise<ServiceSettings> {
    return (await this.config.read()).services[await this.url()] ?? {};
  }

  /** Whether the token comes from SVC_TOKEN, not from `svc login`. */
  get hasOwnToken(): boolean {
    return this.#environment.token !== undefined;
  }

  /** @throws {CliError} when the user is not signed in */
  async client(): Promise<Client> {
    return createClient(await this.target());
  }

  /** The service with the token and the organization of calls. @throws {CliError} when the user is not signed in */
  target(): Promise<ServiceTarget> {
    return this.#target((url, settings) => this.#storedToken(url, settings));
  }

  /** A client for calls that do not depend on the selected organization. @throws {CliError} when the user is not signed in */
  async clientOfUser(): Promise<Client> {
    const { url, token } = await this.target();
    return createClient({ url, token });
  }

  /** The same for the tool gateway, for which a personal access token can be stored. */
  gatewayTarget(): Promise<ServiceTarget> {
    return this.#target((url, settings) => settings.personal_access_token ?? this.#storedToken(url, settings));
  }

  async #target(readToken: (url: string, settings: ServiceSettings) => string | TokenProvider): Promise<ServiceTarget> {
    const url = await this.url();
    const { token: ownToken } = this.#environment;
    const settings: ServiceSettings = ownToken === undefined ? await this.settings() : {};
    const organization = this.#givenOrganization() ?? settings.organization;
    const token = ownToken ?? readToken(url, settings);
    return { url, token, ...(organization === undefined ? {} : { organization }) };
  }

  /** The option `--org`. */
  get organizationOption(): string | undefined {
    return this.#options.org;
  }

  /** The id of the organization that an option or a variable selects. */
  #givenOrganization(): string | undefined {
    return this.#options.org ?? this.#environment.organization;
  }

  /** The id of the selected organization; `undefined` for that of the token. */
  async organization(): Promise<string | undefined> {
    return this.#givenOrganization() ?? (this.hasOwnToken ? undefined : (await this.settings()).organization);
  }

  #storedToken(url: string, { credentials }: ServiceSettings): string | TokenProvider {
    if (credentials === undefined) {
      const option = this.#options.service === undefined ? "" : ` --service ${url}`;
      throw new CliError(`You are not signed in to ${url}. Run: svc login${option}`, EXIT.notSignedIn);
    }
    if (credentials.kind === "token") return credentials.token;
    let current: OAuthCredentials = credentials;
    return async ({ isRejected }) => {
      if (isRejected || hasExpired(current)) current = await this.#replace(url, current);
      return current.access_token;
    };
  }

  /**
   * Returns tokens other than the current ones. Another command may have stored some meanwhile: a long-running command must
   * use those, because the service ends a sign-in whose earlier refresh token is used again.
   */
  async #replace(url: string, current: OAuthCredentials): Promise<OAuthCredentials> {
    const { credentials: stored } = (await this.config.read()).services[url] ?? {};
    if (stored?.kind !== "oauth") return this.#refresh(url, current);
    if (stored.access_token !== current.access_token && !hasExpired(stored)) return stored;
    return this.#refresh(url, stored);
  }

  /**
   * Two commands that refresh at once get the same tokens from the service. The earlier refresh token ends with that, so the
   * file must have room for the new one.
   */
  async #refresh(url: string, credentials: OAuthCredentials): Promise<OAuthCredentials> {
    await this.config.checkSignInStorable();
    const refreshed = await new OAuthClient(url).refresh(credentials);
    if (refreshed === null) throw new ServiceError("unauthenticated", "Your sign-in has expired.");
    await this.config.update(({ services }) => {
      services[url] = { ...services[url], credentials: refreshed };
    });
    return refreshed;
  }
}

function hasExpired({ expires_at: expiresAt }: OAuthCredentials): boolean {
  return expiresAt - EARLY_MS < Date.now();
}
