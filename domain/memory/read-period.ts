/** Some days in UTC: `from` is part of it, `to` is not. */
export interface Period {
  from: Date;
  to: Date;
}

const MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const MONTH = String.raw`(?<month>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\b\.?`;
const DAY = String.raw`\b(?<day>\d{1,2})(?:st|nd|rd|th)?`;
const YEAR = String.raw`(?<year>(?:19|20)\d\d)\b`;
const WEEKDAYS = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];

const DAY_MS = 86_400_000;

type Groups = Partial<Record<string, string>>;

interface Expression {
  form: RegExp;
  /** Returns `undefined` for a date that does not exist. */
  read: (groups: Groups, now: Date) => Period | undefined;
}

/** The most exact expression first. */
const EXPRESSIONS: readonly Expression[] = [
  { form: form(String.raw`\b${YEAR}-(?<month>\d\d)-(?<day>\d\d)\b`), read: readDay },
  { form: form(String.raw`${DAY}\.(?<month>\d{1,2})\.${YEAR}`), read: readDay },
  { form: form(String.raw`\b${MONTH} ${DAY}\b(?:,? ${YEAR})?`), read: readDay },
  { form: form(String.raw`${DAY} (?:of )?${MONTH}(?:,? ${YEAR})?`), read: readDay },
  { form: form(String.raw`\b${MONTH},? (?:of )?${YEAR}`), read: readMonth },
  { form: form(String.raw`\b(?:in|during|of|last) ${MONTH}`), read: readMonth },
  { form: form(String.raw`\b(?:in|during|of) ${YEAR}`), read: ({ year }) => yearOf(Number(year)) },
  { form: /\byesterday\b/i, read: (_, now) => daysFrom(now, -1, 1) },
  { form: /\b(?<count>\d{1,3}|an?|one|two|three|four|five|six) (?<unit>day|week|month)s? ago\b/i, read: readAgo },
  { form: /\blast (?<unit>week|month|year)\b/i, read: ({ unit = "" }, now) => unitBefore(unit, 1, now) },
  {
    form: /\blast (?<weekday>sun|mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?)day\b/i,
    read: ({ weekday = "" }, now) => {
      const days = (now.getUTCDay() - WEEKDAYS.indexOf(weekday.slice(0, 3).toLowerCase()) + 7) % 7 || 7;
      return daysFrom(now, -days, 1);
    },
  },
];

/**
 * Returns the past days that an English question names, such as `on April 27th`, `in May` or `last week`. Without a year, it is
 * the last such day or month. Words for the present, such as `today`, name no period: they seldom say when something was stored.
 */
export function readPeriod(question: string, now: Date): Period | undefined {
  for (const { form: expression, read } of EXPRESSIONS) {
    const match = expression.exec(question);
    const period = match === null ? undefined : read(match.groups ?? {}, now);
    if (period !== undefined) return period;
  }
  return undefined;
}

/** Whether a period has at most a week, so that all that was stored in it can be of interest. */
export function isShort({ from, to }: Period): boolean {
  return to.getTime() - from.getTime() <= 7 * DAY_MS;
}

function form(source: string): RegExp {
  return new RegExp(source, "i");
}

function readDay({ day, month, year }: Groups, now: Date): Period | undefined {
  const inYear = (of: number): Period | undefined => {
    const from = new Date(Date.UTC(of, monthOf(month), Number(day)));
    return from.getUTCMonth() === monthOf(month) ? { from, to: addDays(from, 1) } : undefined;
  };
  return year === undefined ? latestOf(inYear, now) : inYear(Number(year));
}

function readMonth({ month, year }: Groups, now: Date): Period | undefined {
  const inYear = (of: number): Period => ({
    from: new Date(Date.UTC(of, monthOf(month))),
    to: new Date(Date.UTC(of, monthOf(month) + 1)),
  });
  return year === undefined ? latestOf(inYear, now) : inYear(Number(year));
}

function monthOf(month = ""): number {
  return /\d/.test(month) ? Number(month) - 1 : MONTHS.indexOf(month.slice(0, 3).toLowerCase());
}

function latestOf(inYear: (year: number) => Period | undefined, now: Date): Period | undefined {
  const period = inYear(now.getUTCFullYear());
  return period !== undefined && period.from <= now ? period : inYear(now.getUTCFullYear() - 1);
}

function yearOf(year: number): Period {
  return { from: new Date(Date.UTC(year, 0)), to: new Date(Date.UTC(year + 1, 0)) };
}

const COUNTS = ["a", "two", "three", "four", "five", "six"];

function readAgo({ count = "", unit = "" }: Groups, now: Date): Period {
  const written = Math.max(1, COUNTS.indexOf(count.toLowerCase()) + 1);
  return unitBefore(unit, /\d/.test(count) ? Number(count) : written, now);
}

/** Returns the day, the week from Monday, the month or the year that lies so many units before the current one. */
function unitBefore(unit: string, count: number, now: Date): Period {
  const [year, month] = [now.getUTCFullYear(), now.getUTCMonth()];
  switch (unit.toLowerCase()) {
    case "day":
      return daysFrom(now, -count, 1);
    case "week":
      return daysFrom(now, -((now.getUTCDay() + 6) % 7) - 7 * count, 7);
    case "month":
      return { from: new Date(Date.UTC(year, month - count)), to: new Date(Date.UTC(year, month - count + 1)) };
    default:
      return yearOf(year - count);
  }
}

function daysFrom(now: Date, offset: number, count: number): Period {
  const from = addDays(new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate())), offset);
  return { from, to: addDays(from, count) };
}

function addDays(date: Date, days: number): Date {
  return new Date(date.getTime() + days * DAY_MS);
}
