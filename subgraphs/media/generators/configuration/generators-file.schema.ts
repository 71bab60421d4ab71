import { z } from 'zod';

import { optionsSchema } from '../../domain/inputs/vendor-options/schema.ts';
import { stepKinds } from '../../domain/work/work.ts';
import { must, text, texts } from '../catalog/entry.ts';

/** The form of GENERATORS_FILE. Each message is the remedy. */

const KINDS = [...stepKinds, 'CHAT'] as const;

const address = z
  .string(must('must be an http:// or https:// address'))
  .refine(isAddress, must('must be an http:// or https:// address without user name, query or fragment'))
  .transform((value) => value.replace(/\/+$/, ''));
const origin = z
  .string(must('must be an origin such as https://cdn.example.org'))
  .refine(
    (value) => URL.parse(value)?.origin === value,
    must('must be an origin such as https://cdn.example.org'),
  );
const headerValues = z.record(
  z.string().regex(/^[\w!#$%&'*+.^`|~-]+$/, must('must be the name of a header')),
  z.string(must('must be a text')).regex(/^[^\r\n\0]*$/, must('must be one line')), // oxlint-disable-line no-control-regex -- refused, as in every header
  must('must be an object: header name -> value'),
);

function integer(least: number, most: number) {
  const remedy = must(`must be a whole number from ${least} to ${most}`);
  return z.int(remedy).min(least, remedy).max(most, remedy);
}

function isAddress(value: string): boolean {
  const url = URL.parse(value);
  if (url === null || !['http:', 'https:'].includes(url.protocol)) return false;
  return url.username === '' && url.password === '' && url.search === '' && url.hash === '';
}

const limits = z.strictObject({
  inputs: texts.optional(),
  needs: texts.optional(),
  sizes: texts.optional(),
  aspectRatios: texts.optional(),
  durations: z
    .array(z.number(must('must be a number of seconds')), must('must be a list of seconds'))
    .optional(),
  formats: texts.optional(),
  maxPrompt: integer(1, 10_000_000).optional(),
  maxCount: integer(1, 100).optional(),
  maxImages: integer(0, 100).optional(),
  options: optionsSchema.optional(),
  // A server of one's own may have a model longer, or shorter, than the vendor.
  retiresAt: z.iso.date(must('must be a day, such as 2026-12-31, or null')).nullable().optional(),
});

/** One binding; `providers` are the wires that there are. */
function bindingSchema(providers: readonly string[]) {
  return z.strictObject(
    {
      provider: z.enum(providers as [string, ...string[]], must(`must be one of ${providers.join(', ')}`)),
      name: z
        .string(must('must be a text'))
        .regex(/^[\w.-]{1,64}$/, must('must have 1 to 64 letters, digits, dots, dashes or underscores'))
        .optional(),
      model: text.optional(),
      kinds: z
        .array(z.enum(KINDS, must(`must be one of ${KINDS.join(', ')}`)), must('must be a list of kinds'))
        .min(1, must('must not be empty'))
        .optional(),
      baseUrl: address.optional(),
      pathPrefix: z
        .string(must('must be a text'))
        .regex(/^(\/[^/?#\s]+)*$/, must('must be a path such as /vendor, without a slash at its end'))
        .optional(),
      headers: headerValues.optional(),
      credentials: z.record(z.string(), text, must('must be an object: name -> secret')).optional(),
      concurrency: integer(1, 10_000).optional(),
      requestsPerMinute: integer(1, 1_000_000).optional(),
      maxWaiting: integer(1, 1_000_000).optional(),
      retryUnknownStart: z.boolean(must('must be true or false')).optional(),
      attemptTimeoutSeconds: integer(1, 86_400).optional(),
      callTimeoutSeconds: integer(1, 86_400).optional(),
      budgetSeconds: integer(0, 86_400).optional(),
      // What these two were called before.
      restartUnknown: z.boolean(must('must be true or false')).optional(),
      stallSeconds: integer(1, 86_400).optional(),
      endpoints: z.record(text, address, must('must be an object: service -> address')).optional(),
      resultOrigins: z.array(origin, must('must be a list of origins')).optional(),
      nodes: z
        .array(address, must('must be a list of addresses'))
        .min(1, must('must not be empty'))
        .optional(),
      limits: limits.optional(),
    },
    must('must be an object with provider, baseUrl, ...'),
  );
}

/** The whole file: generator -> its bindings in the order of fall-back. */
export function generatorsFileSchema(providers: readonly string[]) {
  const remedy =
    'must be like the generators of the API: lower-case words and digits, in parts between slashes';
  return z.record(
    z.string().regex(/^[a-z0-9_]{1,40}(\/[a-z0-9_]{1,40}){0,3}$/, must(remedy)),
    z
      .array(bindingSchema(providers), must('must be a list of bindings'))
      .max(32, must('must be at most 32 bindings')),
    must('must be an object: generator -> list of bindings'),
  );
}

/** One binding as it is written. */
export type WrittenBinding = z.infer<ReturnType<typeof bindingSchema>>;
