import { readFileSync } from 'node:fs';

import { toError } from '../errors.ts';
import type { Report } from './settings/setting.ts';

/** A file that a setting names. It is parsed where its subject is known (subgraphs/media/generators). */
export interface TextFile {
  /** Absolute. */
  readonly path: string;
  readonly text: string;
}

/** Reads the file of a setting; null when the setting is unset, or the file can't be read (reported). */
export function readTextFile(setting: string, path: string | null, report: Report): TextFile | null {
  if (path === null) return null;
  try {
    return { path, text: readFileSync(path, 'utf8').replace(/^\uFEFF/, '') };
  } catch (error) {
    report(setting, `names a file that can't be read: ${toError(error).message}`);
    return null;
  }
}
