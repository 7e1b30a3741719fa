const TIMESTAMP = /^\s*<timestamp>([^<]{1,100})<\/timestamp>\s*/;
const QUERY = /<user_query>\s*([\s\S]*?)\s*<\/user_query>/;
/** Such as "Tuesday, Jul 28, 2026, 12:06 PM (UTC+2)". */
const TIME = /^\w+, (\w+ \d{1,2}, \d{4}), (\d{1,2}:\d{2} [AP]M) \(UTC(?:([+-])(\d{1,2})(?::?(\d{2}))?)?\)$/;

/** A prompt of a user, without what Cursor adds for the model: the time, and open files. */
export function readPrompt(content: string): { text: string; time: string | undefined } {
  const timestamp = TIMESTAMP.exec(content);
  const rest = timestamp === null ? content : content.slice(timestamp[0].length);
  const text = QUERY.exec(rest)?.[1] ?? rest;
  return { text: text.trim(), time: timestamp === null ? undefined : readTime(timestamp[1] ?? "") };
}

function readTime(text: string): string | undefined {
  const match = TIME.exec(text.trim());
  if (match === null) return undefined;
  const [, date, time, sign = "+", hours = "0", minutes = "00"] = match;
  const parsed = new Date(`${date} ${time} GMT${sign}${hours.padStart(2, "0")}${minutes}`);
  return Number.isNaN(parsed.getTime()) ? undefined : parsed.toISOString();
}
