import { readFile } from 'node:fs/promises';

import { z } from 'zod';

const manifest = z.object({ operations: z.array(z.object({ body: z.string() })) });

/** What the console sends, as `npm run operations` writes it. */
const CONSOLE = new URL('../../schema/console-documents.json', import.meta.url);

/** Reads the texts of the console's documents, where there is one, and of those in the file of TRUSTED_DOCUMENTS. Throws an Error that names the file and the remedy. */
export async function readTrustedDocuments(
  file: string | null,
  hasConsole = true,
): Promise<ReadonlySet<string>> {
  const own = hasConsole ? await readBodies(CONSOLE) : [];
  if (file === null) return new Set(own);
  try {
    return new Set([...own, ...(await readBodies(file))]);
  } catch (cause) {
    throw new Error(
      `TRUSTED_DOCUMENTS: ${file} must be a manifest of persisted queries, {"operations": [{"body": "query ..."}]}`,
      { cause },
    );
  }
}

async function readBodies(file: string | URL): Promise<readonly string[]> {
  const { operations } = manifest.parse(JSON.parse(await readFile(file, 'utf8')));
  return operations.map(({ body }) => body);
}
