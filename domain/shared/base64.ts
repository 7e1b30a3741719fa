/** Decodes base64 (RFC 4648, section 4), with or without line breaks. Returns `null` for any other text. */
export function decodeBase64(text: string): Buffer | null {
  const compact = text.replaceAll(/[\r\n]/g, "");
  const bytes = Buffer.from(compact, "base64");
  return bytes.toString("base64") === compact ? bytes : null;
}
