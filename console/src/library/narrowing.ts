/** What lists of tasks and of files are narrowed by, as the address holds it. */
export interface Narrowing {
  readonly generator?: string;
  readonly model?: string;
  readonly owner?: string;
  /** First and last day, as YYYY-MM-DD in the reader's own time. */
  readonly from?: string;
  readonly to?: string;
}

const WORDS = ['generator', 'model', 'owner'] as const;
const DAYS = ['from', 'to'] as const;

/** The members of an address that narrow. */
export function readNarrowing(search: Record<string, unknown>): Narrowing {
  const words = WORDS.filter((name) => typeof search[name] === 'string' && search[name] !== '');
  const days = DAYS.filter((name) => parseDay(search[name]) !== null);
  return Object.fromEntries([...words, ...days].map((name) => [name, search[name]]));
}

/** A search that is narrowed by these in place of what it was narrowed by. */
export function narrowedBy<Search extends object>(search: Search, next: Narrowing): Search {
  const names: readonly string[] = [...WORDS, ...DAYS];
  const others = Object.entries(search).filter(([name]) => !names.includes(name));
  return { ...Object.fromEntries(others), ...next } as Search;
}

/** The same for the server: a day is from its midnight to the next. */
export function toFilter({ generator, model, owner, from, to }: Narrowing) {
  const first = parseDay(from);
  const last = parseDay(to);
  last?.setDate(last.getDate() + 1);
  return {
    ...(generator === undefined ? {} : { generator }),
    ...(model === undefined ? {} : { model }),
    ...(owner === undefined ? {} : { owner }),
    ...(first === null ? {} : { createdAfter: first.toISOString() }),
    ...(last === null ? {} : { createdBefore: last.toISOString() }),
  };
}

function parseDay(value: unknown): Date | null {
  if (typeof value !== 'string' || !/^\d{4}-\d\d-\d\d$/.test(value)) return null;
  const date = new Date(`${value}T00:00:00`);
  return Number.isNaN(date.getTime()) ? null : date;
}
