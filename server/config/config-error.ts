/** A setting is missing or invalid. `message` names every such variable, its rule, and an example. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
}
