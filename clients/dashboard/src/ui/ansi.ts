/** A part of a line in one style. */
export interface StyledText {
  text: string;
  /** Classes of its style; empty for plain text. */
  className: string;
}

/** Classes for the codes of "Select Graphic Rendition" (ECMA-48, 8.3.117). Colors that are hard to read in one theme are not distinguished. */
const COLORS: readonly string[] = [
  "text-muted",
  "text-danger",
  "text-success",
  "text-warning",
  "text-link",
  "text-link",
  "text-progress",
  "text-ink",
];

interface Style {
  color: string;
  isBold: boolean;
  isDim: boolean;
}

const PLAIN: Style = { color: "", isBold: false, isDim: false };

const ESCAPE = "\u001b";
/** After `ESC`: the parameters of a style, or any other control sequence, control string or escape sequence. */
const STYLE = /^\[([\d;:]*)m/;
const SEQUENCE = /^(?:\[[0-?]*[ -/]*[@-~]|[\]PX^_]\P{Cc}*(?:\p{Cc}|\\)?|[ -/]*[0-~])/u;

/** Splits a line by its colors, bold and dim text. Other escape sequences are removed. */
export function parseAnsi(line: string): StyledText[] {
  const [start = "", ...parts] = line.split(ESCAPE);
  const segments: StyledText[] = [{ text: start, className: "" }];
  let style = PLAIN;
  for (const part of parts) {
    const codes = STYLE.exec(part)?.[1];
    if (codes !== undefined) style = applyCodes(style, codes.split(/[;:]/).map(Number));
    segments.push({ text: part.replace(SEQUENCE, ""), className: toClassName(style) });
  }
  return segments.filter(({ text }) => text !== "");
}

/** The text of a line without escape sequences. */
export function stripAnsi(line: string): string {
  if (!line.includes(ESCAPE)) return line;
  const [start = "", ...parts] = line.split(ESCAPE);
  return start + parts.map((part) => part.replace(SEQUENCE, "")).join("");
}

function applyCodes(style: Style, codes: readonly number[]): Style {
  let next = style;
  for (let index = 0; index < codes.length; index += 1) {
    const code = codes[index] ?? 0;
    // A color of a larger palette has parameters, which are no codes of their own.
    if (code === 38 || code === 48) index += codes[index + 1] === 2 ? 4 : 2;
    else next = applyCode(next, code);
  }
  return next;
}

function applyCode(style: Style, code: number): Style {
  if (code === 0) return PLAIN;
  if (code === 1) return { ...style, isBold: true };
  if (code === 2) return { ...style, isDim: true };
  if (code === 22) return { ...style, isBold: false, isDim: false };
  if (code === 39) return { ...style, color: "" };
  const isColor = (code >= 30 && code <= 37) || (code >= 90 && code <= 97);
  return isColor ? { ...style, color: COLORS[code % 10] ?? "" } : style;
}

function toClassName({ color, isBold, isDim }: Style): string {
  const classes = [isDim && color === "" ? "text-muted" : color, isBold ? "font-semibold" : ""];
  return classes.filter((each) => each !== "").join(" ");
}
