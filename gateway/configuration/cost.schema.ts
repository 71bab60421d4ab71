import { z } from 'zod';

import { integer, must } from './remedies.ts';

/** What operations cost, by `@cost` and `@listSize`. */
export const costSchema = z.strictObject({
  max: integer(1, 1_000_000_000).describe('Most estimated cost of one operation.'),
  mode: z
    .enum(['measure', 'enforce'], must('must be measure or enforce'))
    .optional()
    .describe('Whether what costs more is named in the log, or refused (default: enforce).'),
  listSize: integer(0, 100_000)
    .optional()
    .describe('Length of a list of which nothing is said (default: 10).'),
  inAnswers: z
    .boolean(must('must be true or false'))
    .optional()
    .describe('Tells callers both costs in extensions.cost (default: false).'),
});
