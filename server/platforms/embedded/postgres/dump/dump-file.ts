/** A file of a dump. All of them in their order are a script for `psql`. */
export interface DumpFile {
  name: string;
  content: AsyncIterable<Uint8Array>;
}

/** What the role of an app is called in a dump. */
export const NEUTRAL_ROLE = `app_${"0".repeat(20)}`;

/** PostgreSQL parses a script as a whole. */
export const MAX_SCRIPT_BYTES = 16 * 1024 ** 2;

export const DUMP_FILE = /^(?:0-schema|1-rows-[0-9]{6}|2-constraints)[.]sql$/;
