const LINES = ["Name of the customer", "Paid", "PIN"];

/** Creates a PDF file (ISO 32000-1) with a page that has the lines above, 50 points below each other, and these form fields. */
export function pdfWithForm(fields: readonly string[]): Buffer {
  const content = LINES.map((line, index) => `BT /F1 10 Tf 1 0 0 1 50 ${703 - 50 * index} Tm (${line}) Tj ET`).join(
    "\n",
  );
  const names = fields.map((_, index) => `${6 + index} 0 R`).join(" ");
  const objects = [
    `<</Type/Catalog/Pages 2 0 R/AcroForm<</Fields[${names}]/DR<</Font<</F1 4 0 R>>>>/DA(/F1 10 Tf)>>>>`,
    "<</Type/Pages/Kids[3 0 R]/Count 1>>",
    `<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Resources<</Font<</F1 4 0 R>>>>/Contents 5 0 R/Annots[${names}]>>`,
    "<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>",
    `<</Length ${content.length}>>\nstream\n${content}\nendstream`,
    ...fields,
  ];
  let file = "%PDF-1.5\n";
  const offsets: number[] = [];
  for (const [index, object] of objects.entries()) {
    offsets.push(file.length);
    file += `${index + 1} 0 obj\n${object}\nendobj\n`;
  }
  const entries = offsets.map((offset) => `${String(offset).padStart(10, "0")} 00000 n \n`).join("");
  const table = `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${entries}`;
  return Buffer.from(
    `${file}${table}trailer<</Size ${objects.length + 1}/Root 1 0 R>>\nstartxref\n${file.length}\n%%EOF`,
  );
}
