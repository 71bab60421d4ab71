import { readFile } from 'node:fs/promises';

import { z } from 'zod';

const manifest = z.object({ operations: z.array(z.object({ body: z.string() })) });

/** Reads the file of TRUSTED_DOCUMENTS: the texts of its operations; undefined without one. Throws an Error that names the file and the remedy. */
export async function readTrustedDocuments(file: string | null): Promise<ReadonlySet<string> | undefined> {
  if (file === null) return undefined;
  try {
    const { operations } = manifest.parse(JSON.parse(await readFile(file, 'utf8')));
    return new Set(operations.map(({ body }) => body));
  } catch (cause) {
    throw new Error(
      `TRUSTED_DOCUMENTS: ${file} must be a manifest of persisted queries, {"operations": [{"body": "query ..."}]}`,
      { cause },
    );
  }
}
