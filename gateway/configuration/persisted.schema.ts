import { z } from 'zod';

import { must } from './remedies.ts';

/** Operations that callers name by a hash, and which they may send at all. */
export const persistedSchema = z.strictObject({
  manifest: z
    .string(must('must be the path of a file'))
    .min(1, must('must be the path of a file'))
    .optional()
    .describe("Apollo's manifest of persisted queries, from where this file is."),
  mode: z
    .enum(['log', 'allow', 'only'], must('must be log, allow or only'))
    .optional()
    .describe('What is not in the manifest: taken and named in the log, taken, or refused (default: allow).'),
  automatic: z
    .boolean(must('must be true or false'))
    .optional()
    .describe('Keeps texts that callers send with their sha256 (APQ), in memory (default: false).'),
});
