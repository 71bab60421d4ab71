import { z } from 'zod';

import { integer, oneOf } from './formats.ts';
import { setting } from './setting.ts';

/** Settings of OpenAI's API over our graph (faces/openai). */

const prefix = z.string().regex(/^(?:\/[a-z0-9._~-]+)+$/i, {
  error: 'must be a path such as /v1 or /openai/v1, without a slash at its end',
});

/** name=model pairs separated by commas: names may have colons and slashes. */
const aliases = z.string().transform((value, context): ReadonlyMap<string, string> => {
  const entries = value
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '')
    .map((entry) => /^([^=\s]{1,200})=([^=\s]{1,200})$/.exec(entry));
  if (entries.some((entry) => entry === null)) {
    context.addIssue({ code: 'custom', message: 'must be name=model pairs, separated by commas' });
  }
  return new Map(entries.flatMap((entry) => (entry === null ? [] : [[entry[1] ?? '', entry[2] ?? '']])));
});

const openaiFaceSettings = {
  OPENAI_FACE: setting(
    oneOf(['on', 'off']),
    "whether OpenAI's API is served too: images, videos, speech, chats and files for every client that speaks it (docs/openai.md)",
    'on',
  ),
  OPENAI_FACE_PREFIX: setting(prefix, "where OpenAI's API begins; clients name it in their base_url", '/v1'),
  OPENAI_MODEL_ALIASES: setting(
    aliases,
    'names of models that clients of OpenAI use, and ours in their place: dall-e-3=gpt-image-2,tts-1=speech-2.8-turbo; ours are a model, generator:model, or a generator',
    '',
  ),
  OPENAI_WAIT_SECONDS: setting(
    integer(1, 3_600),
    "seconds that a call of OpenAI's API waits for images or speech, before it answers 202 and where to ask; less than what a proxy in front allows",
    '540',
  ),
  OPENAI_BATCH_CONCURRENCY: setting(
    integer(1, 1_000),
    "calls of all batches of OpenAI's API that are under way at once in each gateway; callers who wait stand behind no more of them",
    '4',
  ),
  OPENAI_BATCH_FLEX: setting(
    oneOf(['on', 'off']),
    "whether calls of OpenAI's batches go at half the price where their model has it: chats that name no tier in their vendor's tier flex, images in OpenAI's own batches, which may take a day",
    'on',
  ),
};

/** Settings of REST and of the faces: other protocols over the same operations. */
export const faceSettings = {
  SYNC_MAX_WAIT: setting(
    integer(1, 3_600),
    'seconds that a synchronous operation waits when it has no max_wait_time',
    '500',
  ),
  MCP: setting(
    oneOf(['on', 'off']),
    'whether agents may call the tools at /mcp, as everybody else may call what they do (docs/mcp.md)',
    'on',
  ),
  COMFY_API: setting(
    oneOf(['on', 'off']),
    "whether Comfy's API v2 is served at /api/v2, over the machines of COMFYUI_URLS (docs/comfy-api.md)",
    'on',
  ),
  ...openaiFaceSettings,
};
