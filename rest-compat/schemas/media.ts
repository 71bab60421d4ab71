import {
  uri,
  anyValue,
  anyOf,
  integer,
  listOf,
  dateTime,
  schemaRef,
  nullType,
  number,
  nullable,
  objectOf,
  string,
  withDescription,
  boolean,
  enumOf,
} from './json-schema.ts';
import type { JsonSchema } from './openapi-types.ts';

/** The named schemas of the media service's OpenAPI document. */

const isTrue: JsonSchema = { const: true };
const isFalse: JsonSchema = { const: false };
const msg = withDescription(string, 'Human-readable message.');
const taskId = withDescription(string, 'The id of the task, for a status operation of the same section.');

/** A success with this `data`. */
function successSchema(data: JsonSchema, more: Readonly<Record<string, JsonSchema>> = {}): JsonSchema {
  return objectOf({ status: isTrue, data, msg, ...more });
}

/** The response of an operation that runs at once. */
function successOrFailure(data: JsonSchema, more: Readonly<Record<string, JsonSchema>> = {}): JsonSchema {
  return anyOf(successSchema(data, more), schemaRef('Failure'));
}

/** The response about a task with one of these results. */
function task(...results: readonly JsonSchema[]): JsonSchema {
  return anyOf(
    ...results.map((result) => successSchema(result)),
    schemaRef('Running'),
    schemaRef('Ended'),
    schemaRef('Failure'),
  );
}

const media = objectOf({
  url: uri,
  content_type: string,
  bytes: integer,
  sha256: string,
  width: nullable(integer),
  height: nullable(integer),
  duration: nullable(withDescription(number, 'Seconds.')),
});

/** Who made a result. */
const producer = {
  provider: nullable(withDescription(string, 'The upstream that made it.')),
  model: nullable(withDescription(string, 'The model that made it.')),
};
const ran = { task_id: string, ...producer };

/** Results of tasks. */
const results = {
  MediaResult: objectOf({
    ...ran,
    url: nullable(withDescription(string, 'The first of urls.')),
    urls: listOf(uri),
    media: listOf(media),
  }),
  Description: objectOf({ ...ran, prompt: nullable(string), prompts: listOf(string) }),
  ClonedVoice: objectOf({ ...producer, voice_id: string, demo_url: nullable(string) }),
  Analysis: withDescription(string, 'The text.'),
  Character: objectOf({ ...ran, character_id: string }),
  AvatarSource: objectOf({ ...ran, video_id: string }),
  Avatar: objectOf({ ...ran, digital_id: string }),
  PersonDetection: objectOf({
    ...ran,
    has_person: nullable(boolean),
    reason: nullable(string),
    subjects: listOf(anyValue),
  }),
};

/** What language operations add. */
const languageMembers = {
  model: string,
  provider: string,
  usage: objectOf({ input_tokens: integer, output_tokens: integer }),
};
const languageFacts = objectOf(languageMembers);
const analysis = anyOf(
  successSchema(schemaRef('Analysis'), { extra: objectOf({ task_id: string, ...languageMembers }) }),
  schemaRef('Running'),
  schemaRef('Ended'),
  schemaRef('Failure'),
);

/** Submissions and status. */
const tasks = {
  Running: withDescription(
    objectOf({
      status: enumOf('queued', 'running'),
      data: objectOf({
        task_id: string,
        state: enumOf('queued', 'running'),
        stage: string,
        progress: withDescription(number, '0 to 100.'),
        queue_position: nullable(integer),
      }),
      msg,
    }),
    'The task still runs.',
  ),
  Ended: withDescription(
    objectOf({
      status: isFalse,
      data: objectOf({
        task_id: string,
        error: objectOf({ code: string, message: string, retryable: boolean }),
      }),
      msg,
    }),
    'The task failed, or was cancelled.',
  ),
  Submission: successOrFailure(taskId),
  MediaTask: task(schemaRef('MediaResult')),
  DescriptionTask: task(schemaRef('Description')),
  ImageTask: task(schemaRef('MediaResult'), schemaRef('Description')),
  VoiceTask: task(schemaRef('ClonedVoice')),
  AnalysisTask: analysis,
  /** The same where the caller waits for the text. */
  AnalysisText: analysis,
  CharacterTask: task(schemaRef('Character')),
  PersonTask: task(schemaRef('PersonDetection'), schemaRef('MediaResult')),
  AvatarTask: task(schemaRef('AvatarSource'), schemaRef('Avatar'), schemaRef('MediaResult')),
  AnyTask: task(...Object.keys(results).map(schemaRef)),
  Cancellation: successOrFailure(
    objectOf({ task_id: string, outcome: enumOf('cancelled', 'canceling', 'too_late', 'unsupported') }),
  ),
};

/** Operations that run at once. */
const immediate = {
  Welcome: successSchema(objectOf({ name: string, version: string, docs: uri, graphql: uri })),
  Health: objectOf({
    status: withDescription(boolean, 'False when none of the generators of the section is available.'),
    msg,
    data: objectOf({
      service: string,
      version: string,
      time: dateTime,
      checks: { type: 'object', additionalProperties: string },
    }),
  }),
  StoredFile: successOrFailure(uri, {
    extra: objectOf({ key: string, content_type: string, bytes: integer, sha256: string }),
  }),
  StoredResource: successOrFailure(withDescription(string, 'The id of the resource, for submissions.'), {
    extra: objectOf({ url: uri, content_type: string, bytes: integer, sha256: string, provider: anyValue }),
  }),
  CloudFile: successOrFailure(withDescription(string, "The file's address at the provider, for media_url."), {
    extra: withDescription(anyValue, "The provider's response."),
  }),
  Text: successOrFailure(string, { extra: languageFacts }),
  Models: successOrFailure(
    listOf(
      objectOf({
        id: string,
        name: string,
        category: string,
        provider: string,
        generator: string,
        inputs: listOf(string),
        sizes: nullable(listOf(string)),
        durations: nullable(listOf(number)),
        max_prompt: nullable(integer),
        sandbox: boolean,
      }),
    ),
  ),
  Voices: successOrFailure(listOf(withDescription(string, 'A voice_id.')), {
    extra: objectOf({
      voices: listOf(objectOf({ voice_id: string, name: string, language: nullable(string) })),
      provider: withDescription(anyValue, "The provider's response."),
    }),
  }),
  RunningNode: successOrFailure(
    objectOf({ node: string, queue_running: integer, queue_pending: integer, capacity: integer }),
  ),
  PromptCheck: successOrFailure(objectOf({ allowed: boolean, reasons: listOf(string) })),
  PromptDefault: successOrFailure(objectOf({ task_type: string, prompt: string })),
};

const template = {
  ...objectOf({
    id: integer,
    task_type: string,
    prompt: nullable(string),
    cover_url: nullable(string),
    video_url: nullable(string),
    aspect_ratio: nullable(string),
    presetPrompts: withDescription(string, 'One on each line.'),
    ...Object.fromEntries(
      [
        'description',
        'detailDescription',
        'title_zh',
        'title_en',
        'description_zh',
        'description_en',
        'engine',
      ].map((name) => [name, nullable(string)]),
    ),
  }),
  additionalProperties: true,
};

const templates = {
  VideoTemplate: withDescription(template, 'Further fields are those that it was created with.'),
  Template: successOrFailure(schemaRef('VideoTemplate')),
  PagedTemplates: objectOf({
    status: isTrue,
    data: listOf(schemaRef('VideoTemplate')),
    page: integer,
    page_size: integer,
    total: withDescription(integer, 'Records over all pages.'),
    total_pages: integer,
  }),
  TaskType: successOrFailure(objectOf({ task_type: string, available: boolean })),
  DeletedTemplate: successOrFailure(objectOf({ id: integer, deleted: isTrue })),
};

const failures = {
  Failure: withDescription(
    objectOf({ status: isFalse, data: nullType, msg }),
    'The operation failed: msg says why, and what to do.',
  ),
  HTTPValidationError: {
    type: 'object',
    required: ['detail'],
    properties: {
      detail: { ...listOf(schemaRef('ValidationError')), title: 'Detail' },
      ignored: withDescription(
        listOf(string),
        'What was sent and is not read; absent where there is nothing.',
      ),
    },
    title: 'HTTPValidationError',
  },
  ValidationError: {
    ...objectOf({
      loc: { ...listOf(anyOf(string, integer)), title: 'Location' },
      msg: { ...string, title: 'Message' },
      type: { ...string, title: 'Error Type' },
    }),
    title: 'ValidationError',
  },
};

/** Every named schema. */
export const mediaSchemas = { ...immediate, ...templates, ...tasks, ...results, ...failures };
