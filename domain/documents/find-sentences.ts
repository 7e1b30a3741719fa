/** A part of a text in UTF-16 code units: from `start` until before `end`. */
export interface TextRange {
  start: number;
  end: number;
}

/** Created when it is first needed, because its creation takes 30 ms of a start. */
let segmenter: Intl.Segmenter | null = null;

/** A point that ends no sentence. */
const ABBREVIATION =
  /(?:^|[\s("'])(?:e\.g|i\.e|cf|vs|approx|incl|excl|mr|mrs|ms|dr|prof|ltd|corp|fig|sec|dept|max|min|bzw|ca|inkl|zzgl|nr|abs|vgl|z\. ?b|d\. ?h)\.$/i;
/** In German a point makes an ordinal number of a number, as in `am 30. April`. */
const ORDINAL = /\s(?:am|vom|zum|zur|bis|den|dem|der|des|die|das|ab|seit|im|jeden|jedem) \d{1,2}\.$/i;

/** The numbers of footnotes after the end of a sentence, such as `[12]`. */
const FOOTNOTES = /(?<=[.!?]["')\]]?)(?:\[\d{1,4}\])+/g;

/** Returns the sentences of a paragraph, without the spaces around them. A line break ends no sentence. */
export function findSentences(text: string, { start, end }: TextRange): TextRange[] {
  // The segmenter would begin a sentence inside of the brackets. With points there, they end the sentence before them.
  const paragraph = text
    .slice(start, end)
    .replaceAll("\n", " ")
    .replaceAll(FOOTNOTES, (marks) => ".".repeat(marks.length));
  const sentences: TextRange[] = [];
  segmenter ??= new Intl.Segmenter("en", { granularity: "sentence" });
  let open: number | null = null;
  for (const { segment, index } of segmenter.segment(paragraph)) {
    const from: number = open ?? index;
    const until = index + segment.trimEnd().length;
    const found = segment.trimEnd();
    open = ABBREVIATION.test(found) || ORDINAL.test(found) ? from : null;
    if (open === null) pushTrimmed(sentences, text, { start: start + from, end: start + until });
  }
  if (open !== null) pushTrimmed(sentences, text, { start: start + open, end });
  return sentences;
}

function pushTrimmed(ranges: TextRange[], text: string, range: TextRange): void {
  const trimmed = trimRange(text, range);
  if (trimmed.start < trimmed.end) ranges.push(trimmed);
}

/** Returns the range without the white space at its ends. */
export function trimRange(text: string, { start, end }: TextRange): TextRange {
  const part = text.slice(start, end);
  return { start: start + part.length - part.trimStart().length, end: start + part.trimEnd().length };
}
