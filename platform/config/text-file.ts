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

/** The text of GENERATORS_FILE, which is parsed where generators are known (subgraphs/media/generators); and of `--config` (gateway/configuration). */
export interface GeneratorsFileText {
  /** Absolute. */
  readonly path: string;
  readonly text: string;
  /** Values of the environment variables that it refers to as ${NAME}, if set. Secrets. */
  readonly variables: Readonly<Record<string, string>>;
}

/** A reference to an environment variable in the file. */
const VARIABLE = /\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g;

const MAX_BYTES = 1024 * 1024;

/** Reads the file and its variables; null when the setting is unset, or the file can't be read (reported). */
export function readGeneratorsFile(
  path: string | null,
  environment: Readonly<Record<string, string | undefined>>,
  report: Report,
  setting = 'GENERATORS_FILE',
): GeneratorsFileText | null {
  if (path === null) return null;
  let text: string;
  try {
    text = readFileSync(path, 'utf8').replace(/^\uFEFF/, '');
  } catch (error) {
    report(setting, `names a file that can't be read: ${toError(error).message}`);
    return null;
  }
  if (text.length > MAX_BYTES) {
    report(setting, `names a file of more than ${MAX_BYTES} bytes: that is not its kind`);
    return null;
  }
  const names = [...new Set([...text.matchAll(VARIABLE)].map(([, name]) => name ?? ''))];
  const variables = names.flatMap((name) => {
    const value = environment[name]?.trim();
    return value ? [[name, value] as const] : [];
  });
  return { path, text, variables: Object.fromEntries(variables) };
}
