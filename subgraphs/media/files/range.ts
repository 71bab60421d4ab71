/** What a Range header asks for, of a file of so many bytes. */
export type RangeAnswer =
  /** No range, several, or one in a form that is not ours: the whole file (RFC 9110 14.2). */
  | 'whole'
  /** Nothing of the file is in it: 416. */
  | 'unsatisfiable'
  /** Both ends inclusive. */
  | { readonly start: number; readonly end: number };

/** Reads a Range header: `bytes=a-b`, `bytes=a-` or `bytes=-last`. */
export function readRangeHeader(header: string | undefined, bytes: number): RangeAnswer {
  const found = /^bytes=\s*(\d{0,15})-(\d{0,15})\s*$/i.exec(header ?? '');
  const [, first = '', last = ''] = found ?? [];
  if (found === null || (first === '' && last === '')) return 'whole';
  if (first === '') return satisfiable(Math.max(0, bytes - Number(last)), bytes - 1);
  const end = last === '' ? bytes - 1 : Number(last);
  if (end < Number(first) && last !== '') return 'whole';
  return satisfiable(Number(first), Math.min(end, bytes - 1));
}

function satisfiable(start: number, end: number): RangeAnswer {
  return start <= end ? { start, end } : 'unsatisfiable';
}
