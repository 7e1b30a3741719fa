import { elementsOf, findFirst, textIn, type XmlElement } from "./xml.ts";

/** Writes an equation (ECMA-376 part 1, section 22.1) in a line, such as `(a+b)/2`. */
export function writeEquation(element: XmlElement): string {
  return elementsOf(element).map(writePart).join("");
}

function writePart(element: XmlElement): string {
  const part = (name: string): string => {
    const found = findFirst(element, name);
    return found === undefined ? "" : writeEquation(found);
  };
  switch (element.name) {
    case "t":
      return textIn(element);
    case "f":
      return `${group(part("num"))}/${group(part("den"))}`;
    case "sSup":
      return `${part("e")}^${group(part("sup"))}`;
    case "sSub":
      return `${part("e")}_${group(part("sub"))}`;
    case "sSubSup":
      return `${part("e")}_${group(part("sub"))}^${group(part("sup"))}`;
    case "rad":
      return `${part("deg")}√${group(part("e"))}`;
    case "nary":
      return `${valueOf(element, "naryPr", "chr", "∫")}${limit("_", part("sub"))}${limit("^", part("sup"))} ${part("e")}`;
    case "d": {
      const inner = elementsOf(element).filter(({ name }) => name === "e");
      const text = inner.map(writeEquation).join(valueOf(element, "dPr", "sepChr", "|"));
      return `${valueOf(element, "dPr", "begChr", "(")}${text}${valueOf(element, "dPr", "endChr", ")")}`;
    }
    case "m":
      return `[${elementsOf(element)
        .filter(({ name }) => name === "mr")
        .map((row) => elementsOf(row).map(writeEquation).join(", "))
        .join("; ")}]`;
    default:
      return element.name.endsWith("Pr") ? "" : writeEquation(element);
  }
}

function limit(sign: string, text: string): string {
  return text === "" ? "" : sign + group(text);
}

function group(text: string): string {
  return /^(?:[\p{L}\p{N}.,]*|\(.*\))$/u.test(text) ? text : `(${text})`;
}

function valueOf(element: XmlElement, properties: string, name: string, preset: string): string {
  return findFirst(element, properties, name)?.attributes["val"] ?? preset;
}
