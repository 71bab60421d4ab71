import { globSync } from 'node:fs';
import path from 'node:path';

import type { ContractRow } from './row.ts';

const root = path.resolve(import.meta.dirname, '../../../subgraphs/media/providers');
const files = globSync('*/*.contract.ts', { cwd: root }).toSorted();
const modules = await Promise.all(
  files.map((file) => import(path.join(root, file)) as Promise<{ readonly rows: readonly ContractRow[] }>),
);

/** Every API of every provider: the rows of `NAME.contract.ts` in the folder of each. */
export const rows: readonly ContractRow[] = modules.flatMap((module) => module.rows);
