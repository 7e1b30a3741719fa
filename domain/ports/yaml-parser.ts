/** Plain data, as JSON can represent it, or why the text is rejected, with the line. */
export type ParsedYaml = { value: unknown } | { problem: string };

/** Parses untrusted YAML. */
export interface YamlParser {
  /**
   * Parses one document within bounds on time and memory. Aliases, tags, and keys that are not text are rejected, as
   * they are not needed for plain data. Line numbers begin with `firstLine`.
   *
   * @throws {ServiceError} `unavailable` while too many texts are being parsed
   */
  parse(orgId: string, text: string, firstLine: number): Promise<ParsedYaml>;
}
