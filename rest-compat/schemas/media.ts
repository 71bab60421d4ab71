import {
  address,
  anything,
  either,
  integer,
  list,
  moment,
  named,
  nothing,
  number,
  orNull,
  shape,
  text,
  told,
  truth,
  words,
} from './shapes.ts';
import type { JsonSchema } from './types.ts';

/** The named schemas of the media service's OpenAPI document. */

const yes: JsonSchema = { const: true };
const no: JsonSchema = { const: false };
const msg = told(text, 'What happened, for people.');
const taskId = told(text, 'Names the task; ask a status operation of the same section with it.');

/** It worked; `data` is this. */
function done(data: JsonSchema, more: Readonly<Record<string, JsonSchema>> = {}): JsonSchema {
  return shape({ status: yes, data, msg, ...more });
}

/** The answer of an operation that is done at once. */
function atOnce(data: JsonSchema, more: Readonly<Record<string, JsonSchema>> = {}): JsonSchema {
  return either(done(data, more), named('Failure'));
}

/** Everything that can be said of a task with one of these results. */
function task(...results: readonly JsonSchema[]): JsonSchema {
  return either(...results.map((result) => done(result)), named('Running'), named('Ended'), named('Failure'));
}

const media = shape({
  url: address,
  content_type: text,
  bytes: integer,
  sha256: text,
  width: orNull(integer),
  height: orNull(integer),
  duration: orNull(told(number, 'Seconds.')),
});

/** What tasks make, by what it is. */
const results = {
  MediaResult: shape({
    task_id: text,
    url: orNull(told(text, 'The first of urls.')),
    urls: list(address),
    media: list(media),
  }),
  Description: shape({ task_id: text, prompt: orNull(text), prompts: list(text) }),
  ClonedVoice: shape({ voice_id: text, demo_url: orNull(text) }),
  Analysis: shape({ task_id: text, text: orNull(text) }),
  Character: shape({ task_id: text, character_id: text }),
  AvatarSource: shape({ task_id: text, video_id: text }),
  Avatar: shape({ task_id: text, digital_id: text }),
  PersonDetection: shape({
    task_id: text,
    has_person: orNull(truth),
    reason: orNull(text),
    subjects: list(anything),
  }),
};

/** How work is submitted and asked about. */
const tasks = {
  Running: told(
    shape({
      status: words('queued', 'running'),
      data: shape({
        task_id: text,
        state: words('queued', 'running'),
        stage: text,
        progress: told(number, '0 to 100.'),
        queue_position: orNull(integer),
      }),
      msg,
    }),
    'The task still runs.',
  ),
  Ended: told(
    shape({
      status: no,
      data: shape({ task_id: text, error: shape({ code: text, message: text, retryable: truth }) }),
      msg,
    }),
    'The task failed, or was cancelled.',
  ),
  Submission: atOnce(taskId),
  MediaTask: task(named('MediaResult')),
  DescriptionTask: task(named('Description')),
  PictureTask: task(named('MediaResult'), named('Description')),
  VoiceTask: task(named('ClonedVoice')),
  AnalysisTask: task(named('Analysis')),
  CharacterTask: task(named('Character')),
  PersonTask: task(named('PersonDetection'), named('MediaResult')),
  AvatarTask: task(named('AvatarSource'), named('Avatar'), named('MediaResult')),
  AnyTask: task(...Object.keys(results).map(named)),
  Cancellation: atOnce(
    shape({ task_id: text, outcome: words('cancelled', 'canceling', 'too_late', 'unsupported') }),
  ),
};

const languageFacts = shape({
  model: text,
  provider: text,
  usage: shape({ input_tokens: integer, output_tokens: integer }),
});

/** What is answered at once. */
const answers = {
  Welcome: done(shape({ name: text, version: text, docs: address, graphql: address })),
  Health: done(
    shape({
      service: text,
      version: text,
      time: moment,
      checks: { type: 'object', additionalProperties: text },
    }),
  ),
  StoredFile: atOnce(address, {
    extra: shape({ key: text, content_type: text, bytes: integer, sha256: text }),
  }),
  StoredResource: atOnce(told(text, 'Names the resource in a submission.'), {
    extra: shape({ url: address, content_type: text, bytes: integer, sha256: text, provider: anything }),
  }),
  CloudFile: atOnce(told(text, 'Its address at the provider, which media_url takes.'), {
    extra: told(anything, 'What the provider answered.'),
  }),
  Text: atOnce(text, { extra: languageFacts }),
  AnalysisText: either(
    done(text, { extra: languageFacts }),
    named('Running'),
    named('Ended'),
    named('Failure'),
  ),
  Models: atOnce(
    list(
      shape({
        id: text,
        name: text,
        category: text,
        provider: text,
        generator: text,
        inputs: list(text),
        sizes: orNull(list(text)),
        durations: orNull(list(number)),
        max_prompt: orNull(integer),
        sandbox: truth,
      }),
    ),
  ),
  Voices: atOnce(list(shape({ voice_id: text, name: text, language: orNull(text) })), {
    extra: told(anything, 'What the provider answered.'),
  }),
  RunningNode: atOnce(
    shape({ node: text, queue_running: integer, queue_pending: integer, capacity: integer }),
  ),
  PromptCheck: atOnce(shape({ allowed: truth, reasons: list(text) })),
  PromptDefault: atOnce(shape({ task_type: text, prompt: text })),
};

const template = {
  ...shape({
    id: integer,
    task_type: text,
    prompt: orNull(text),
    cover_url: orNull(text),
    video_url: orNull(text),
    aspect_ratio: orNull(text),
    presetPrompts: told(text, 'One on each line.'),
    ...Object.fromEntries(
      [
        'description',
        'detailDescription',
        'title_zh',
        'title_en',
        'description_zh',
        'description_en',
        'engine',
      ].map((name) => [name, orNull(text)]),
    ),
  }),
  additionalProperties: true,
};

const templates = {
  VideoTemplate: told(template, 'Further fields are those that it was sent with.'),
  Template: atOnce(named('VideoTemplate')),
  PagedTemplates: shape({
    status: yes,
    data: list(named('VideoTemplate')),
    page: integer,
    page_size: integer,
    total: told(integer, 'Records over all pages.'),
    total_pages: integer,
  }),
  TaskType: atOnce(shape({ task_type: text, available: truth })),
  DeletedTemplate: atOnce(shape({ id: integer, deleted: yes })),
};

const failures = {
  Failure: told(
    shape({ status: no, data: nothing, msg }),
    'Nothing came of it: msg says what is wrong, and what to do.',
  ),
  HTTPValidationError: {
    ...shape({ detail: { ...list(named('ValidationError')), title: 'Detail' } }),
    title: 'HTTPValidationError',
  },
  ValidationError: {
    ...shape({
      loc: { ...list(either(text, integer)), title: 'Location' },
      msg: { ...text, title: 'Message' },
      type: { ...text, title: 'Error Type' },
    }),
    title: 'ValidationError',
  },
};

/** Every named schema. */
export const mediaSchemas = { ...answers, ...templates, ...tasks, ...results, ...failures };
