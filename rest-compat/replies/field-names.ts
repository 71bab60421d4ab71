import { AppError, type Problem } from '../../platform/errors.ts';

/** REST names of the schema's inputs, for lists of models and for errors that name a field. Pure. */

const restNames: Readonly<Record<string, readonly string[]>> = {
  aspectRatio: ['ar'],
  audio: ['audio_file', 'audio_url'],
  background: ['options'],
  callbackUrl: ['X-Callback-Url'],
  characterId: ['character_id'],
  conversation: ['messages'],
  count: ['n'],
  coverUrl: ['cover_url'],
  digitalId: ['digital_id'],
  firstFrame: ['img_file', 'img_url'],
  generateAudio: ['generate_audio'],
  idempotencyKey: ['Idempotency-Key'],
  image: ['img_file', 'img_url'],
  images: ['img_file', 'img_url'],
  lastFrame: ['tail_img_file', 'tail_img_url'],
  maxTokens: ['max_tokens'],
  media: ['media_url'],
  negativePrompt: ['negative_prompt'],
  // Clients that send fields of these names were always told that they are ignored.
  outputFormat: ['options'],
  quality: ['options'],
  reasoningEffort: ['reasoning_effort'],
  references: ['reference_urls'],
  responseFormat: ['response_format'],
  sample: ['file_id', 'file'],
  source: ['video_file', 'video_url'],
  speedMode: ['mode'],
  taskCount: ['task_count'],
  taskType: ['task_type'],
  toolChoice: ['tool_choice'],
  video: ['video_file', 'video_url'],
  videoId: ['video_id'],
  videoUrl: ['video_url'],
  voiceId: ['voice_id'],
  workflowName: ['workflow_name'],
};

/** The REST names of an input; its own name when they are the same. */
export function findRestNames(field: string): readonly string[] {
  return Object.hasOwn(restNames, field) ? (restNames[field] ?? [field]) : [field];
}

/** Further names that single paths have for the same inputs; lists of models leave them out. */
const pathNames: Readonly<Record<string, readonly string[]>> = {
  audio: ['audio_id', 'audio_input'],
  firstFrame: ['first_img_url'],
  image: ['img_id', 'img_input'],
  images: ['img_urls'],
  lastFrame: ['last_img_url'],
};

/** A BAD_USER_INPUT error about an input with several names, under the one that the caller sent; other errors stay as they are. */
export function withSentNames(error: unknown, sent: ReadonlySet<string>): unknown {
  if (!(error instanceof AppError) || error.code !== 'BAD_USER_INPUT') return error;
  const { field, message, problems } = error;
  if (field === undefined || !message.startsWith(field)) return error;
  const [input = field] = field.split(/[.[]/);
  const own = Object.hasOwn(pathNames, input) ? (pathNames[input] ?? []) : [];
  const names = [...findRestNames(input), ...own].filter((name) => name !== input && sent.has(name));
  const [first] = names;
  if (first === undefined) return error;
  const named = `${names.join(' or ')}${message.slice(field.length)}`;
  return new AppError(error.code, named, { cause: error, field: first, problems });
}

/** A message that begins with a field of the schema, with the REST name of that field. */
export function withRestNames(message: string, field: string | undefined): string {
  const known = fieldAndMessage({ field, message });
  if (known.field === undefined || !known.message.startsWith(known.field)) return inRestWords(message);
  if (known.field.startsWith('options.')) return inVendorWords(message);
  return `${toRestName(known.field)}${inRestWords(known.message.slice(known.field.length))}`;
}

/** Names of the schema that are no words of their own, in the middle of a message. */
const schemaWords = new RegExp(
  `\\b(?:${Object.keys(restNames)
    .filter((name) => /[A-Z]/.test(name))
    .join('|')})\\b`,
  'g',
);

/** A message with REST names in place of the schema's. */
function inRestWords(message: string): string {
  return message.replace(schemaWords, (name) => findRestNames(name).join(' or '));
}

/** A message about options, whose names are the vendor's: only the input that says the same is one of ours. */
function inVendorWords(message: string): string {
  return message.replace(/(?<= says what )\w+/g, (name) => findRestNames(name).join(' or '));
}

function toRestName(field: string): string {
  const [first = field] = field.split(/[.[]/);
  // A path into a graph or its inputs stays; a member of a file (its url, its id) adds nothing.
  return Object.hasOwn(restNames, first) ? findRestNames(first).join(' or ') : field;
}

/**
 * An AppError with this route's names of fields; a GraphQL error about a variable becomes one about its field. Errors that
 * name no field stay as they are.
 */
export function withRouteNames(error: unknown, names: Readonly<Record<string, string>> | undefined): unknown {
  if (!(error instanceof AppError) || names === undefined) return error;
  const { field, message } = fieldAndMessage(error);
  if (field === undefined) return error;
  const all = { ...headerNames, ...names };
  const problems = error.problems.map((problem) => withNames(problem, all));
  const own = problems[0] === undefined ? withNames({ field, message }, all) : problems[0];
  const { retryAfter } = error;
  return new AppError(
    error.code,
    problems.length > 1 ? problems.map((one) => one.message).join('; ') : own.message,
    {
      cause: error,
      field: own.field,
      problems,
      ...(retryAfter === undefined ? {} : { retryAfter }),
    },
  );
}

/** Inputs that every route takes from a header. */
const headerNames = { idempotencyKey: 'Idempotency-Key' } as const;

const invalidMember = /^Variable "\$\w+" got invalid value .* at "\w+\.([\w.]+)"; (.*)$/s;
const invalidVariable = /^Variable "\$(\w+)" got invalid value .*; (.*)$/s;

function fieldAndMessage({
  field,
  message,
}: {
  readonly field: string | undefined;
  readonly message: string;
}): {
  readonly field: string | undefined;
  readonly message: string;
} {
  const [, variable, reason = ''] = invalidMember.exec(message) ?? invalidVariable.exec(message) ?? [];
  return variable === undefined
    ? { field, message }
    : { field: variable, message: `${variable}: ${toRestReason(reason)}` };
}

/** What GraphQL says of a number, as callers of REST read it. */
function toRestReason(reason: string): string {
  return reason.replace(
    /^Int cannot represent non 32-bit signed integer value: .*$/s,
    'must be a whole number below 2147483648',
  );
}

/** An error about a field, with another name for that: in the message too, which may begin with it. */
export function withFieldName(cause: AppError, name: string): AppError {
  const { code, field = '', message, retryAfter } = cause;
  return new AppError(code, renamed({ field, message }, name).message, {
    cause,
    field: name,
    ...(retryAfter !== undefined && { retryAfter }),
  });
}

/** Replaces the name that the field begins with, in the field and at the beginning of the message. */
function withNames({ field, message }: Problem, names: Readonly<Record<string, string>>): Problem {
  const known = Object.keys(names).find((name) => field === name || field.startsWith(`${name}.`));
  if (known === undefined) return { field, message };
  return renamed({ field, message }, `${names[known]}${field.slice(known.length)}`.replace(/^\./, ''));
}

/** A problem by another name of its field, in its message too where that begins with it. */
export function renamed({ field, message }: Problem, name: string): Problem {
  return {
    field: name,
    message: message.startsWith(field) ? `${name}${message.slice(field.length)}` : message,
  };
}
