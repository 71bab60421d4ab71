import { readFileSync } from 'node:fs';
import path from 'node:path';

import { toError } from '../../platform/errors.ts';

/** Reads the certificates that the file names, from where it is; what can't be read is reported. The paths become their PEM. */
export function readTls<Names extends Readonly<Record<string, string | undefined>>>(
  names: Names,
  configFile: string,
  report: (name: string, message: string) => void,
): Names {
  const read = Object.entries(names).map(([name, file]) => {
    if (file === undefined) return [name, undefined];
    try {
      return [name, readFileSync(path.resolve(path.dirname(configFile), file), 'utf8')];
    } catch (error) {
      report(name, `names a file that can't be read: ${toError(error).message}`);
      return [name, undefined];
    }
  });
  return Object.fromEntries(read) as Names;
}
