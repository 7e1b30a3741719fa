/** A field of the input of a procedure, as the command line accepts it. */
export interface ParameterSpec {
  /** The name of the field. */
  field: string;
  /** The name of the argument or the option. */
  name: string;
  isArgument: boolean;
  isRequired: boolean;
  /** `app`: the id or the slug of an app. `texts`: an option that can be repeated. `json`: a value as JSON. */
  type: "text" | "number" | "boolean" | "texts" | "json" | "app";
  choices?: readonly string[];
  isNullable?: boolean;
  description?: string;
}

/** A command that calls one procedure. */
export interface CommandSpec {
  /** The dotted path of the procedure. */
  procedure: string;
  /** The noun and the verb. */
  words: readonly [noun: string, verb: string];
  kind: "query" | "mutation";
  summary: string;
  description: string;
  /** Whether a terminal asks before the call. */
  isDestructive: boolean;
  parameters: readonly ParameterSpec[];
}
