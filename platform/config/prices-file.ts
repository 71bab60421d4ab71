import { readFileSync } from 'node:fs';

import { toError } from '../errors.ts';
import type { Report } from './settings/setting.ts';

/** The text of PRICES_FILE, which is parsed where prices are known (subgraphs/media/generators/prices). */
export interface PricesFileText {
  /** Absolute. */
  readonly path: string;
  readonly text: string;
}

/** Reads the file; null when the setting is unset, or the file can't be read (reported). */
export function readPricesFile(path: string | null, report: Report): PricesFileText | null {
  if (path === null) return null;
  try {
    return { path, text: readFileSync(path, 'utf8').replace(/^\uFEFF/, '') };
  } catch (error) {
    report('PRICES_FILE', `names a file that can't be read: ${toError(error).message}`);
    return null;
  }
}
