import { z } from 'zod';

import type { FieldProblem } from './errors.ts';

/** The input schemas of v3's models that this stand-in has. */

const source = z.discriminatedUnion('source', [
  z.strictObject({ source: z.literal('url'), url: z.string().min(1) }),
  z.strictObject({ source: z.literal('asset'), asset_id: z.string().min(1) }),
]);
/** Where a file of a job comes from. */
export type Source = z.output<typeof source>;

const avatar = z.strictObject({
  num_outputs: z.literal(1).nullish(),
  prompt: z.string().min(1),
  aspect_ratio: z.enum(['1:1', '4:3', '3:4', '16:9', '9:16', '9:21', '21:9']),
  resolution: z.enum(['540p', '720p', '1080p']),
  duration_ms: z.int().min(1).max(600_000).nullish(),
  start_image: source,
  // Several speakers are not there.
  audio: source,
  bounding_box_target: z.array(z.union([z.number(), z.array(z.number()).length(2)])).nullish(),
});

const speech = z.strictObject({
  text: z.string().min(1).max(5_000),
  stability: z.number().min(0).max(1).nullish(),
  speed: z.number().min(0.7).max(1.2).nullish(),
  language: z.string().nullish(),
  voice_id: z.string().min(1),
});

/** An input of a model, checked. */
export type ModelInput =
  | { readonly kind: 'avatar'; readonly input: z.output<typeof avatar> }
  | { readonly kind: 'speech'; readonly input: z.output<typeof speech> };

const body = <Input extends z.ZodType>(input: Input) =>
  z.strictObject({ input, webhook: z.url({ protocol: /^https?$/ }).nullish() });

/** A request to a model: its input and webhook, or what is wrong with it, every field of it. */
export function readRequest(
  kind: ModelInput['kind'],
  json: unknown,
): { readonly wanted: ModelInput; readonly webhook: string | null } | { readonly problems: FieldProblem[] } {
  if (kind === 'avatar') {
    const parsed = body(avatar).safeParse(json);
    if (!parsed.success) return { problems: parsed.error.issues.map(toFieldProblem) };
    return { wanted: { kind, input: parsed.data.input }, webhook: parsed.data.webhook ?? null };
  }
  const parsed = body(speech).safeParse(json);
  if (!parsed.success) return { problems: parsed.error.issues.map(toFieldProblem) };
  return { wanted: { kind, input: parsed.data.input }, webhook: parsed.data.webhook ?? null };
}

function toFieldProblem(issue: z.core.$ZodIssue): FieldProblem {
  const field = issue.path.join('.') || 'input';
  const isMissing = issue.code === 'invalid_type' && issue.input === undefined;
  const reason = isMissing ? 'required' : issue.code === 'invalid_value' ? 'enum' : 'type';
  return { field, message: issue.message, reason };
}
