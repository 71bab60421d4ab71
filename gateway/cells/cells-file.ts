import { z } from 'zod';

import { readCheckedFile, reportIssue } from '../../platform/config/checked-file.ts';
import type { TextFile } from '../../platform/config/text-file.ts';

/** All cells of an installation, as one of them sees them. */
export interface Cells {
  /** The cell that reads this. */
  readonly own: number;
  /** The cell that signs callers in and knows the service keys. */
  readonly home: number;
  /** Public addresses by cell, without a slash at their end. */
  readonly urls: ReadonlyMap<number, string>;
}

const number = z.coerce.number().int().min(0).max(255);
const address = z
  .url({ protocol: /^https?$/, error: 'must be an http or https address' })
  .transform((url) => url.replace(/\/+$/, ''));
const schema = z.strictObject({
  home: number,
  cells: z
    .record(
      z.string().regex(/^(?:0|[1-9]\d{0,2})$/, { error: 'must be the number of a cell, 0 to 255' }),
      address,
    )
    .refine((cells) => Object.keys(cells).every((key) => Number(key) <= 255), {
      error: 'has a cell above 255',
    }),
});

const NO_CELLS: ReadonlyMap<number, string> = new Map();

/** Reads CELLS_FILE. Throws NOT_CONFIGURED with every mistake: its line, its field and the remedy. */
export function readCellsFile(file: TextFile, own: number): Cells {
  return readCheckedFile({ setting: 'CELLS_FILE', ...file }, ({ value }, report) => {
    const { data, error } = schema.safeParse(value);
    for (const issue of error?.issues ?? []) reportIssue(issue, report, 'the file');
    if (data === undefined) return { own, home: own, urls: NO_CELLS };
    const urls = new Map(Object.entries(data.cells).map(([key, url]) => [Number(key), url]));
    if (!urls.has(own)) report(['cells'], `lacks cell ${own}, which this is (CELL): add its address`);
    if (!urls.has(data.home)) report(['home'], `names cell ${data.home}, which is not among the cells`);
    return { own, home: data.home, urls };
  });
}
