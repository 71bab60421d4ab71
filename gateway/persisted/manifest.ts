import { z } from 'zod';

import { AppError } from '../../platform/errors.ts';

/** An operation of a manifest. */
export interface ManifestOperation {
  readonly id: string;
  readonly body: string;
  readonly name: string | undefined;
}

const manifest = z.object({
  format: z.literal('apollo-persisted-query-manifest').optional(),
  operations: z.array(
    z.object({ id: z.string().min(1), body: z.string().min(1), name: z.string().optional() }),
  ),
});

/** Reads a manifest as Apollo's `generate-persisted-query-manifest` writes it. Throws NOT_CONFIGURED with what is wrong and the remedy. */
export function readManifest(text: string, file: string): readonly ManifestOperation[] {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw mistake(file, 'is no JSON');
  }
  const { data, error } = manifest.safeParse(value);
  if (data === undefined) {
    const [issue] = error.issues;
    throw mistake(file, `${issue?.path.join('.') ?? ''} ${issue?.message ?? ''}`);
  }
  return data.operations.map(({ id, body, name }) => ({ id, body, name }));
}

function mistake(file: string, what: string): AppError {
  return new AppError(
    'NOT_CONFIGURED',
    `persistedOperations.manifest: ${file} ${what}: write { "format": "apollo-persisted-query-manifest", "version": 1, "operations": [{ "id", "name", "type", "body" }] }`,
  );
}
