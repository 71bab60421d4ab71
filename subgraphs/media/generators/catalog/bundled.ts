import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';

import { catalogPage, type WrittenEntry } from './entry.ts';

const PROVIDERS = path.join(import.meta.dirname, '../../providers');

/** The models that come with Kiln, by provider: `models.json` in the folder of each. */
export function bundledModels(): ReadonlyMap<string, readonly WrittenEntry[]> {
  const pages = globSync('*/{,*-}models.json', { cwd: PROVIDERS })
    .toSorted()
    .map((file) => catalogPage.parse(JSON.parse(readFileSync(path.join(PROVIDERS, file), 'utf8'))));
  return new Map(pages.map(({ provider, models }) => [provider, models]));
}
