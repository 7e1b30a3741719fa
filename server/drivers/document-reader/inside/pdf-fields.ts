import type { PdfLine } from "./pdf-lines.ts";

/** A field of a form, as pdf.js returns it. */
interface Field {
  fieldType: string;
  fieldValue: unknown;
  /** From the lower left to the upper right corner. */
  rect: number[];
  alternativeText?: unknown;
  checkBox?: unknown;
  radioButton?: unknown;
  exportValue?: unknown;
  buttonValue?: unknown;
  password?: unknown;
  hidden?: unknown;
  noView?: unknown;
}

const MAX_VALUE_LENGTH = 5000;

/** Adds the values of form fields to the lines of a page: at the end of the line before the field, or as lines of their own. */
export function addFieldValues(lines: readonly PdfLine[], annotations: readonly object[]): PdfLine[] {
  const added = lines.map((line) => ({ ...line }));
  for (const field of annotations) {
    if (!isField(field) || field.hidden === true || field.noView === true || field.password === true) continue;
    const value = readValue(field);
    if (value !== "") place(added, field, value);
  }
  return added;
}

function isField(annotation: object): annotation is Field {
  return "fieldType" in annotation && "rect" in annotation && Array.isArray(annotation.rect);
}

function readValue({ fieldType, fieldValue, checkBox, radioButton, exportValue, buttonValue }: Field): string {
  if (fieldType === "Btn") {
    const own = checkBox === true ? exportValue : buttonValue;
    const isChecked = fieldValue === own && own !== "Off" && own !== undefined && own !== null;
    return (checkBox === true || radioButton === true) && isChecked ? "☒" : "";
  }
  if (fieldType !== "Tx" && fieldType !== "Ch") return "";
  const values = (Array.isArray(fieldValue) ? fieldValue : [fieldValue]).filter((value) => typeof value === "string");
  return values
    .join(", ")
    .replaceAll(/[\s\u00a0]+/g, " ")
    .trim()
    .slice(0, MAX_VALUE_LENGTH);
}

function place(lines: PdfLine[], { rect, alternativeText }: Field, value: string): void {
  const [left = 0, bottom = 0, right = 0, top = 0] = rect;
  const isBeside = ({ baseline, size }: PdfLine): boolean => baseline > bottom - size / 2 && baseline < top;
  const before = lines.filter((line) => isBeside(line) && line.right <= left + line.size);
  const line = before.toSorted((a, b) => b.right - a.right)[0];
  if (line !== undefined) {
    line.text += ` ${value}`;
    line.right = Math.max(line.right, right);
    return;
  }
  const label =
    typeof alternativeText === "string" && alternativeText.trim() !== "" ? `${alternativeText.trim()}: ` : "";
  const size = lines[0]?.size ?? 10;
  const own: PdfLine = { text: label + value, isRow: false, isField: true, size, left, right, baseline: bottom };
  const above = lines.findLastIndex(({ baseline }) => baseline >= top - size / 2);
  lines.splice(above + 1, 0, own);
}
