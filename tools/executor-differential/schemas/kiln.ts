import { readFileSync } from 'node:fs';

import type { FederatedSource } from './source.ts';

const readSdl = (name: string): string =>
  readFileSync(new URL(`../../../schema/${name}.graphql`, import.meta.url), 'utf8');

/** Kiln's own two subgraphs, as they are checked in. */
export const kiln: FederatedSource = {
  name: 'kiln',
  subgraphs: { media: readSdl('media'), workflow: readSdl('workflow') },
};
