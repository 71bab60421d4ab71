import { describe, expect, it } from 'vitest';

import { readTime, toCsv } from './csv.ts';

describe('a table', () => {
  it('has a line for its columns and one for each row, quoted where a cell needs it', () => {
    const rows = [
      ['plain', 7, null],
      ['with, comma', 0.5, 'with "quotes"'],
      ['two\nlines', -1, 'a\rb'],
    ];
    expect(toCsv(['name', 'count', 'text'], rows)).toBe(
      'name,count,text\r\nplain,7,\r\n"with, comma",0.5,"with ""quotes"""\r\n"two\nlines",-1,"a\rb"\r\n',
    );
    expect(toCsv(['name'], [])).toBe('name\r\n');
  });

  it.each(['=1+1', '+1', '-1', '@x', '\tx'])('is no formula to a spreadsheet: %j', (text) => {
    expect(toCsv(['a'], [[text]])).toBe(`a\r\n'${text}\r\n`);
    expect(toCsv(['a'], [[` ${text}`]])).toBe(`a\r\n ${text}\r\n`);
  });
});

describe('a day or a time', () => {
  it.each([
    ['2026-11-01', '2026-11-01T00:00:00.000Z'],
    ['2026-11-01T08:30Z', '2026-11-01T08:30:00.000Z'],
    ['2026-11-01T08:30:15.5+02:00', '2026-11-01T06:30:15.500Z'],
  ])('is read: %s', (text, time) => {
    expect(readTime('from', text)).toBe(time);
    expect(readTime('from', undefined)).toBeUndefined();
  });

  it.each(['', 'today', '2026-11', '2026-13-01', '2026-11-01 08:00', '2026-11-01T08:00', '20261101'])(
    'is not %j',
    (text) => {
      const message = 'from must be a day or a time, such as 2026-11-01 or 2026-11-01T08:00:00Z';
      expect(() => readTime('from', text)).toThrow(
        expect.objectContaining({
          code: 'BAD_USER_INPUT',
          message,
          field: 'from',
          problems: [{ field: 'from', message }],
        }) as Error,
      );
    },
  );
});
